"""Whatever is said of a result, wherever, rests on the same facts: planted runs are walked to look for the contrary."""

import re
import warnings

import numpy as np
import pytest

import jointclust as jc
from jointclust import default
from jointclust.cli.results import verdict as said_of_number
from jointclust.consensus.verdict import DOUBTFUL, LEVELS
from jointclust.judge import prior
from jointclust.showing.alternatives import alternatives
from jointclust.showing.fitted import Fitted, steady_word

# Draws of few rows, and the number of clusters that is asked for.
RUNS = [(3, 3), (5, None), (5, 3), (8, None), (15, 2), (37, None), (37, 6)]


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request, tmp_path_factory):
    """A fit to a planted draw with what it says of itself before anything else is asked, and the page of it."""
    seed, number = request.param
    X, path = prior.draw(seed).X, tmp_path_factory.mktemp("page") / "r.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = default.fit_rows(jc.JointConsensus(effort="quick", random_state=0), X, number).model
        said = str(model.verdict_)
        jc.write_report(model, X, path)
    return model, said, path.read_text(), Fitted(model, X)


def splits(model):
    return {layer["n_clusters"]: layer["split"] for layer in model.layers_}


def test_the_verdict_is_one(run):
    """It is on the page as the model says it, and stays what it was when other things have been asked."""
    model, said, page, _ = run
    level = re.search(r'<b class="level">(.*?)</b>', page)[1]
    assert level.lower() == model.verdict_.level
    assert str(model.verdict_) == said
    assert model.layers_[model.n_clusters_ - 1]["predicted_agreement"] in (None, model.predicted_agreement_)


def test_what_is_sure_is_doubted_nowhere(run):
    model, _, page, _ = run
    if model.verdict_.level != LEVELS[-1]:
        return
    assert model.number_.has_structure or model.n_clusters_ == 1
    assert "hardly found" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    assert splits(model)[model.n_clusters_] != "doubtful"
    assert "number of clusters is uncertain" not in page


def test_without_structure_nothing_is_sure(run):
    model, _, _, _ = run
    if model.number_.has_structure:
        assert splits(model).get(2) != "doubtful"
        assert "rows without clusters" not in str(model.verdict_).lower()
        return
    assert set(splits(model).values()) <= {None, "doubtful"}
    assert model.n_clusters_ == 1 or model.verdict_.level == LEVELS[0]


def test_a_cluster_is_hardly_found_in_all_places_or_in_none(run):
    model, said, page, fitted = run
    found = model._judgement.found
    hardly = np.flatnonzero(found < DOUBTFUL) if model.n_clusters_ > 1 else np.array([])
    assert ("hardly found in halves" in said) == (hardly.size > 0)
    assert len(re.findall(r'class="tag hardly-found"', page)) == hardly.size
    assert ("hardly found again (less than" in page) == (hardly.size > 0)
    words = [steady_word(value, fitted.doubtful) for value in found]
    assert model.n_clusters_ == 1 or np.flatnonzero(np.array(words) == "hardly found").tolist() == hardly.tolist()


def test_candidates_are_in_the_order_of_their_scores(run):
    """On the page, on the console, and in what is to be looked at in doubt."""
    model, _, page, _ = run
    scores = model.number_.scores
    listed = [[int(one) for one in re.findall(r'data-thumbnail="(\d+)"', page)]]
    printed = said_of_number(model.number_).partition("Candidates")[2]
    listed.append([int(one) for one in re.findall(r"(\d+) \(0\.\d+\)", printed)])
    listed.append([one.number for one in alternatives(model, LEVELS[0])])
    for numbers in listed:
        known = [scores[number] for number in numbers if number in scores]
        assert known == sorted(known, reverse=True)
    assert listed[1][:1] == [max(scores, key=scores.get)]


def test_other_numbers_are_shown_where_nothing_is_sure_and_only_there(run):
    model, _, page, _ = run
    others = alternatives(model, model.verdict_.level)
    assert bool(others) == ('class="doubt"' in page)
    assert not others or model.verdict_.level == LEVELS[0]
    assert model.n_clusters_ not in [one.number for one in others]
    for one in others:
        assert one.command("RUN") in page
        assert ("--refit" in one.command("RUN")) == (not one.beside_a_fit.startswith("a cut"))


def test_a_number_that_was_given_is_not_called_found(run):
    model, _, page, _ = run
    if "How many clusters" in page:
        assert ("were asked for" in page) == (model.number_.n_clusters != model.n_clusters_)


def test_agreement_is_one_quantity_on_a_page(run):
    """That of the members has a name of its own."""
    _, _, page, _ = run
    assert not re.search(r">agreement</(a|dt|th)>", page)
