import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.showing.explain import explained
from jointclust.showing.features import Feature, Features, features_in
from jointclust.showing.fitted import Fitted
from jointclust.showing.names import group_names

STOP = ["the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "with", "as", "be", "by", "at"]
TOPICS = ("invoice refund charged card", "password login locked reset", "parcel courier late address")


def flat(labels):
    return [frozenset([label]) for label in range(max(labels) + 1)]


@pytest.fixture(scope="module")
def customers():
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1, 2, 3], [120, 90, 60, 30])
    frame = pd.DataFrame(
        {
            "basket": np.choose(kind, [60, 260, 240, 90]) + rng.normal(0, 12, 300),
            "channel": np.choose(kind, ["app", "app", "shop", "web"]),
            "newsletter": np.choose(kind, ["yes", "no", "no", "yes"]),
            "visits": rng.poisson(np.choose(kind, [3, 9, 4, 25])),
        }
    )
    frame.loc[::7, "visits"] = np.nan
    return frame, kind


@pytest.fixture(scope="module")
def model(customers):
    return jc.JointConsensus(4, effort="quick", columns="all", random_state=0).fit(customers[0])


def test_a_name_is_made_of_columns_and_values_in_few_digits(customers):
    frame, kind = customers
    is_rich_in_app = (kind == 1).astype(int)
    result = group_names(features_in(frame[["basket", "channel"]], None, None, None), is_rich_in_app, flat([0, 1]))
    assert result[1] in ("basket > 200, app", "app, basket > 200")
    # "yes" says nothing without its column, in no language.
    for words in ({}, {"yes": "ja", "no": "nein"}):
        letters = features_in(frame[["newsletter"]].replace(words), None, None, None)
        result = group_names(letters, np.isin(kind, [1, 2]).astype(int), flat([0, 1]))
        assert result == [f"newsletter = {words.get(word, word)}" for word in ("yes", "no")]


def test_long_questions_are_told_apart_by_what_they_ask():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 40)
    columns = [f"How satisfied are you, all in all, with {what}?" for what in ("price", "taste", "speed")]
    frame = pd.DataFrame(np.eye(3)[labels] * 4 + rng.rand(120, 3), columns=columns)
    result = group_names(features_in(frame, None, None, None), labels, flat([2]))
    for name, what in zip(result, ("price", "taste", "speed"), strict=True):
        assert f"{what}? > " in name
        assert len(name) < 45


def test_groups_without_common_rows_have_different_names_in_every_layer(customers, model):
    frame, _ = customers
    tree = Fitted(model, frame).tree
    n_leaves = len(tree.linkage) + 1
    joined = tree.linkage[:, :2].astype(int)
    for n_clusters in range(1, n_leaves + 1):
        nodes = set(range(2 * n_leaves - n_clusters)) - set(joined[: n_leaves - n_clusters].ravel())
        names = [tree.names[node] for node in nodes]
        assert len(names) == n_clusters == len(set(names))
        assert all(names)
    assert set(Fitted(model, frame).cluster_names) <= set(tree.names)
    assert len({one.name for one in jc.explain(model, frame, n_clusters=7)}) == 7


def test_clusters_that_nothing_tells_apart_have_names_of_their_own():
    own = group_names(Features(np.zeros((6, 2)), [Feature("a"), Feature("b")], 2), np.repeat([0, 1, 2], 2), flat([2]))
    assert len(set(own)) == 3
    assert group_names(Features(np.zeros((4, 0)), [], 0), np.zeros(4, int), flat([0])) == ["all rows"]


def test_words_that_all_clusters_have_are_in_no_name():
    rng = np.random.RandomState(0)
    labels = rng.randint(3, size=300)
    common = ["my", "was", "with", "have", "not"]
    texts = [" ".join([*rng.permutation(TOPICS[k].split())[:3], *rng.permutation(common)[:2]]) for k in labels]
    explanation = explained(features_in(texts, None, None, None), labels, None)
    for one in explanation:
        own = TOPICS[one.cluster].split()
        assert set(one.name.split(", ")) <= set(own)
        assert not {feature.name for feature in one.features} & set(common)
        assert not {condition.feature.column for rule in one.rules for condition in rule.conditions} & set(common)


def test_genes_are_named_by_what_there_is_more_of():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1], 40)
    counts = rng.poisson(5.0, size=(80, 6)).astype(float)
    counts[:, 2] += rng.poisson(9.0, 80) * (labels == 1)
    features = Features(sp.csr_array(counts), [Feature(f"g{gene}") for gene in range(6)], 6, are_counts=True)
    dense = Features(counts, features.of, 6, are_counts=True)
    assert group_names(dense, labels, flat([0, 1]))[1].split(", ")[0] == "g2"


def test_known_classes_are_the_names(customers):
    frame, kind = customers
    known = np.array([["poor", "rich"][k] if k < 2 and row % 5 == 0 else None for row, k in enumerate(kind)])
    model = jc.JointConsensus(4, effort="quick", columns="all", random_state=0).fit(frame, known_labels=known)
    assert Fitted(model, frame).cluster_names[:2] == model.classes_.tolist() == ["poor", "rich"]


# -- what a name claims ---------------------------------------------------------------------------------------------


def held_by(name, frame):
    """The rows that a name of conditions is true of, read as a person reads it."""
    rows = np.ones(len(frame), dtype=bool)
    for part in re.split(r", (?=[^\d])", name):
        if match := re.fullmatch(r"(?:(\S+) < )?(\w+)(?: ([>≤]) (\S+))?", part):
            low, column, sign, limit = match.groups()
            if column in frame and (low or sign):
                values = frame[column]
                rows &= (values > number(low)) if low else True
                rows &= True if not sign else (values > number(limit)) if sign == ">" else (values <= number(limit))
                continue
        column, _, level = part.partition(" not ")
        if level:
            rows &= (frame[column] != level) & frame[column].notna()
        else:
            column, _, level = part.partition(" = ")
            rows &= (frame[column].astype(str) == level) if level else (frame["channel"] == part)
    return rows.to_numpy()


def number(text):
    return float(text.replace(",", ""))


@pytest.mark.parametrize("seed", range(6))
def test_a_name_is_true_of_most_of_its_cluster_and_of_few_others_or_says_less(seed):
    rng = np.random.RandomState(seed)
    n = 1500
    kind = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    shares = rng.dirichlet(np.full(4, 0.6), 4)
    frame = pd.DataFrame(
        {
            "price": np.exp(rng.normal(rng.uniform(9, 14, 4)[kind], 0.7)).round(),
            "visits": rng.poisson(rng.uniform(1, 12, 4)[kind]).astype(float),
            "channel": [rng.choice(["POS", "ECOM", "ATM", "WIRE"], p=shares[k]) for k in kind],
            "member": rng.rand(n) < rng.rand(4)[kind],
        }
    )
    frame.loc[rng.rand(n) < 0.1, "visits"] = np.nan
    names = group_names(features_in(frame, None, None, None), kind, flat([3]))
    assert len(set(names)) == 4
    for cluster, name in enumerate(names):
        if name.startswith("others"):
            continue
        says_less = name.startswith("mostly ")
        held, own = held_by(name.removeprefix("mostly "), frame), kind == cluster
        assert held[own].mean() >= (0.5 if says_less else 0.79), name  # of a sample of the rows
        assert held[own].mean() > held[~own].mean() + 0.15
        assert says_less or held[~own].mean() <= 0.21, name


def test_a_cluster_of_which_some_are_others_is_mostly_that():
    rng = np.random.RandomState(0)
    channel = [*rng.choice(["ECOM", "POS"], 300, p=[0.6, 0.4]), *rng.choice(["POS", "ATM"], 700, p=[0.9, 0.1])]
    names = group_names(
        features_in(pd.DataFrame({"channel": channel, "x": 1.0}), None, None, None),
        np.repeat([0, 1], [300, 700]),
        flat([1]),
    )
    assert names[0] == "mostly ECOM"


def test_what_chance_gives_is_no_name():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.standard_normal((600, 5)), columns=list("abcde"))
    names = group_names(features_in(frame, None, None, None), rng.randint(3, size=600), flat([2]))
    assert [name[:6] for name in names] == ["others"] * 3
    texts = [" ".join(rng.choice(STOP, 7)) for _ in range(400)]
    names = group_names(features_in(texts, None, None, None), rng.randint(3, size=400), flat([2]))
    assert [name[:6] for name in names] == ["others"] * 3


def test_words_that_most_clusters_have_are_in_no_name_of_weak_ones():
    """A stop word is more frequent in long texts; that makes it no topic, in any language."""
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2, 3], 150)
    stop = ["mój", "jest", "na", "do", "się", "nie", "to", "w", "że"]
    topics = ["faktura zwrot karta", "hasło konto login", "paczka kurier adres", ""]
    texts = []
    for k in labels:
        own = rng.choice(topics[k].split(), 1) if k < 3 and rng.rand() < 0.7 else []
        texts.append(" ".join([*own, *rng.choice(stop, 3 + 2 * k)]))
    names = group_names(features_in(texts, None, None, None), labels, flat([3]))
    assert all(
        set(name.removeprefix("mostly ").split(", ")) <= set(topics[k].split()) for k, name in enumerate(names[:3])
    )
    assert not set(names[3].split(", ")) & set(stop)


def test_things_in_baskets_are_named_like_words():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 100)
    items = [f"{thing}_{place}" for thing in ("beer", "soap", "fish") for place in range(4)]
    X = rng.rand(300, 12) < np.where(np.repeat(np.eye(3), 4, axis=1)[labels] > 0, 0.6, 0.05)
    for frame in (pd.DataFrame(X, columns=items), pd.DataFrame(X.astype(int), columns=items)):
        names = group_names(features_in(frame, None, None, None), labels, flat([2]))
        for name, thing in zip(names, ("beer", "soap", "fish"), strict=True):
            parts = name.removeprefix("mostly ").split(", ")
            assert len(parts) >= 3
            assert all(part.startswith(thing) for part in parts)


def test_coordinates_of_an_embedding_name_nothing():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 60)
    X = 2 * rng.standard_normal((3, 40))[labels] + rng.standard_normal((180, 40))
    topics = ["pizza pasta cheese", "football goal league", "election vote party"]
    texts = [" ".join([*rng.choice(topics[k].split(), 2, replace=False), "the"]) for k in labels]
    tables = [X, pd.DataFrame(X, columns=[f"emb_{place}" for place in range(40)]), pd.DataFrame({"vector": list(X)})]
    for table in tables:
        features = features_in(table, None, None, None)
        assert not features.can_name
        explanation = explained(features, labels, None)
        assert [one.name for one in explanation] == ["cluster 0", "cluster 1", "cluster 2"]
        assert any("names_from" in note for note in explanation.notes)
    beside = pd.DataFrame(X, columns=[f"emb_{place}" for place in range(40)]).assign(size=labels + rng.rand(180))
    assert all("size" in one.name for one in explained(features_in(beside, None, None, None), labels, None))
    model = jc.LDAKMeans(3, random_state=0).fit(X)
    for given, rows in ((texts, X), ("text", pd.DataFrame(X).assign(text=texts).rename(columns=str))):
        fitted = Fitted(model, rows, named_by=given)
        names = [
            one.name for one in explained(features_in(X, None, None, None), model.labels_, None, None, fitted.naming)
        ]
        assert sorted(sorted(name.split(", ")) for name in names) == sorted(sorted(topic.split()) for topic in topics)
    assert [one.name for one in jc.explain(model, X, names_from=texts)] == names


def test_genes_and_curves_keep_their_names():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1], 50)
    expression = np.abs(rng.standard_normal((100, 60))) + 3 * (labels[:, None] * (np.arange(60) < 5))
    genes = pd.DataFrame(expression, columns=[f"GENE{place}" for place in range(60)])
    assert features_in(genes, None, None, None).can_name
    answers = pd.DataFrame(rng.randint(-3, 4, size=(100, 40)), columns=[f"Q{place}" for place in range(40)])
    assert features_in(answers, None, None, None).can_name


def test_texts_that_name_nothing_are_told(blobs):
    X, _ = blobs
    model = jc.LDAKMeans(4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="names_from has 2 texts and X has"):
        jc.explain(model, X, names_from=["a", "b"])
    with pytest.raises(ValueError, match="names_from='title': X has no names of columns"):
        jc.explain(model, X, names_from="title")
    with pytest.raises(ValueError, match="names_from gives no names"):
        jc.explain(model, X, names_from=[""] * len(X))


def test_long_numbers_have_separators_and_years_have_none():
    def name(values):
        return group_names(Features(values[:, None], [Feature("x")], 1), np.repeat([0, 1], 50), flat([1]))[1]

    values = np.r_[np.linspace(0, 1, 50), np.linspace(3, 4, 50)]
    assert name(np.r_[np.linspace(0, 1.24, 50), np.linspace(1.36, 4, 50)] * 1e6) == "x > 1,300,000"
    assert name(2000 + np.round(values)) == "x > 2001"
    assert name(-values[::-1] * 1e6) == "x > -2,000,000"
    assert name(values * 1e20) == "x > 2e+20"


def test_dates_are_parted_at_the_end_of_a_year_or_month():
    days = np.r_[np.linspace(17_000, 17_400, 50), np.linspace(17_480, 18_000, 50)]
    feature = Features(days[:, None], [Feature("since", "date")], 1)
    assert group_names(feature, np.repeat([0, 1], 50), flat([1])) == ["since ≤ 2017-09-30", "since > 2017-09-30"]
