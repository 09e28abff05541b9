"""What notebooks show."""

import html
from html.parser import HTMLParser

import pandas as pd

import jointclust as jc


class Seen(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_report_is_shown_whole_in_a_frame_of_its_own(tmp_path):
    X, y = jc.datasets.mixture(60, 20, 3, random_state=0)
    model = jc.LDAKMeans(3, random_state=0).fit(X)
    shown = jc.show(model, X, classes=y, height=321)
    [(tag, attributes)] = Seen(shown._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["srcdoc"] == shown.page
    assert attributes["sandbox"] == "allow-scripts allow-downloads"  # not of the notebook's origin
    assert "321px" in attributes["style"]
    assert "</html>" in shown.page
    assert "write_report" in repr(shown)


def test_a_description_shows_columns_and_takes_no_orders():
    frame = pd.DataFrame({"<script>alert(1)</script>": [1.0, 2.0, 4.0], "b": [3.0, None, 1.0]})
    source = jc.describe(frame)._repr_html_()
    seen = Seen(source)
    assert "script" not in {tag for tag, _ in seen.tags}
    assert html.escape("<script>alert(1)</script>") in source
    assert {"b", "33%"} <= {text.strip() for text in seen.text}


def test_wide_data_list_their_first_columns():
    X, _ = jc.datasets.mixture(40, 300, 2, random_state=0)
    seen = Seen(jc.describe(X)._repr_html_())
    assert sum(tag == "tr" for tag, _ in seen.tags) == 201
    assert "the first 200 columns" in seen.text
