"""The consensus in the place of HDBSCAN in BERTopic, with the real package: `make test-bertopic`."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import jointclust as jc

bertopic = pytest.importorskip("bertopic")


@pytest.fixture(scope="module")
def documents():
    """Documents on three topics with words of their own, their embeddings, and some that are about nothing."""
    rng = np.random.RandomState(0)
    words = [f"word{number}" for number in range(60)]
    topic = np.repeat([0, 1, 2], [90, 70, 60])
    texts = [" ".join(rng.choice(words[20 * kind : 20 * kind + 20], 12)) for kind in topic]
    embeddings = 3 * np.eye(3)[topic] @ rng.standard_normal((3, 30)) + rng.standard_normal((topic.size, 30))
    texts += [" ".join(rng.choice(words, 12)) for _ in range(10)]
    return texts, np.vstack([embeddings, 12 * rng.standard_normal((10, 30))]), topic


def fitted(documents, **options):
    texts, embeddings, topic = documents
    model = bertopic.BERTopic(
        embedding_model=None,
        umap_model=bertopic.dimensionality.BaseDimensionalityReduction(),
        hdbscan_model=jc.JointConsensus(3, random_state=0, **options),
    )
    topics, probabilities = model.fit_transform(texts, embeddings)
    return model, np.array(topics), probabilities, topic


def test_topics_and_their_probabilities(documents):
    model, topics, probabilities, topic = fitted(documents)
    assert adjusted_rand_score(topic, topics[: topic.size]) > 0.95
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities.argmax(axis=1) == topics).all()  # the columns are BERTopic's topics, which it numbers anew
    assert (model.transform(documents[0], documents[1])[0] == topics).all()
    assert model.get_document_info(documents[0])["Probability"].between(0, 1).all()


def test_documents_of_no_topic(documents):
    """Documents whose label is doubtful are BERTopic's outliers."""
    model, topics, _, topic = fitted(documents, reject_below=0.5)
    assert (topics == -1).tolist() == (model.hdbscan_model.confidence_ < 0.5).tolist()
    assert (topics[topic.size :] == -1).mean() > 0.8
    assert (topics[: topic.size] == -1).mean() < 0.1
    assert len(model.get_topics()) == 4
