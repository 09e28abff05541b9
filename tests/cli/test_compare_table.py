from jointclust.cli.comparison import aligned, grouped, verdict_of

COMPARED = {
    "method": ["DEC", "LDAKM", "k-means", "other"],
    "agreement": [0.96, 0.955, 0.95, 0.3],
    "stability": [1.0, 0.9, float("nan"), float("nan")],
    "clusters": [3, 3, 4, 3],
    "seconds": [2.0, 1.0, 0.5, 0.1],
    "warnings": ["", "", "", ""],
}


def test_methods_that_tie_are_one_line_and_columns_are_aligned():
    table = grouped(COMPARED)
    assert table["method"] == ["DEC, LDAKM", "k-means", "other"]
    assert table["stability"] == ["0.90 to 1.00", "", ""]
    head, *lines = aligned(table)
    at = head.index("clusters") + len("clusters")
    assert [line[:at].split()[-1] for line in lines] == ["3", "4", "3"]
    assert len(aligned({"method": ["a" * 30 + ", " + "b" * 40], "x": ["1"]})) == 3


def test_a_sentence_says_what_the_table_says():
    assert verdict_of(COMPARED).startswith("3 of 4 methods find nearly the same clusters")
    assert "k-means is the fastest. other finds something else." in verdict_of(COMPARED)
    few = {name: values[:1] for name, values in COMPARED.items()}
    assert "nothing to compare" in verdict_of(few)
    assert "different clusters" in verdict_of(COMPARED | {"agreement": [0.4, 0.3, 0.2, 0.1]})
