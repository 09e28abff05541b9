import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.showing.explain import explained
from jointclust.showing.features import Feature, Features, features_in
from jointclust.showing.fitted import Fitted
from jointclust.showing.names import group_names

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
