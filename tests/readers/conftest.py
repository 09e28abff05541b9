import pytest

from jointclust.readers import _sources, read


@pytest.fixture(autouse=True, params=["pyarrow", "by hand"])
def _text_reader(request, monkeypatch):
    """Text is read with and without pyarrow, to the same effect."""
    if request.param == "by hand":
        monkeypatch.setattr(_sources.Delimited, "fast", lambda *_: None)


@pytest.fixture
def table_of(tmp_path):
    """A function that reads text as if it were a file."""

    def read_as_file(text, name="x.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **options)

    return read_as_file
