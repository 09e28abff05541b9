"""The data sets of the papers, and a few more: what each is, where it comes from, on what terms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointclust.rows.arrays import is_sparse
from jointclust.types import Matrix

_BLOCK = 4096


@dataclass(frozen=True)
class Entry:
    """What is known of a data set, whether it is here or not.

    Attributes
    ----------
    name : str
        Its name for :func:`load`; the names that the papers give it do, too.
    n_samples, n_features, n_classes : int or None
        Rows, columns, classes: of the copy that this project's numbers were measured on, else as a paper states them.
        None where no paper does.
    papers : mapping of str to str
        Which papers use it, and under which name.
    source : str
        Where it comes from, and where to ask for it.
    terms : str
        On what terms, as far as known.
    url : str or None
        The file that :func:`load` downloads; None where there is none that may or can be.
    format : str or None
        How that file is read.
    sha256 : str or None
        Checksum of the contents, whatever the file: rows as float32, then labels numbered as they appear. Of the copy
        that this project's numbers were measured on; None where there is none.
    exact : bool
        Whether what is downloaded has to have that checksum; otherwise only the numbers of rows, columns and classes.
    image_shape, image_order
        As in :class:`Dataset`.
    label_column : str or None
        Of a set whose columns are of different types: it is ``name.csv``, this column holds the classes, and the others
        are loaded as a data frame. None for rows of numbers.
    note : str
        What else to know.
    """

    name: str
    n_samples: int | None
    n_features: int | None
    n_classes: int | None
    papers: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    terms: str = ""
    url: str | None = None
    format: str | None = None
    sha256: str | None = None
    exact: bool = True
    image_shape: tuple[int, int] | None = None
    image_order: str = "C"
    label_column: str | None = None
    note: str = ""

    @property
    def file_name(self) -> str | None:
        """Name of the file that is downloaded."""
        return None if self.url is None else self.url.rpartition("/")[2]


def fingerprint(X: Matrix, y: ArrayLike) -> str:
    """Checksum of rows and labels that depends neither on the file they are in nor on how the classes are coded.

    Parameters
    ----------
    X : array, CSR array or data frame of shape (n_samples, n_features)
        The rows; numbers are taken as float32.
    y : array-like of shape (n_samples,)
        The labels; numbered in the order in which they appear.

    Returns
    -------
    sha256 : str
        64 hexadecimal digits.

    Examples
    --------
    >>> fingerprint(np.eye(3), [2, 2, 5]) == fingerprint(np.eye(3, dtype=np.uint8), ["b", "b", "a"])
    True
    """
    digest = hashlib.sha256(" ".join(map(str, X.shape)).encode())
    if is_sparse(X):
        for part, kind in ((X.data, "<f4"), (X.indices, "<i4"), (X.indptr, "<i8")):
            digest.update(np.asarray(part, dtype=kind).tobytes())
    elif hasattr(X, "columns"):
        for column in (np.asarray(X[name]) for name in X.columns):
            text = column.dtype.kind not in "fiub"
            digest.update("\n".join(map(str, column)).encode() if text else column.astype("<f4").tobytes())
    else:
        for start in range(0, X.shape[0], _BLOCK):
            digest.update(np.asarray(X[start : start + _BLOCK], dtype="<f4").tobytes())
    _, first, labels = np.unique(np.asarray(y), return_index=True, return_inverse=True)
    digest.update(np.argsort(np.argsort(first))[labels].astype("<i4").tobytes())
    return digest.hexdigest()


def canonical(name: str) -> str | None:
    """The registry's name of a set that goes by this one, whatever its case and punctuation; None if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"A data set goes by its name, a text, not by {name!r}; data_home names the folder it is in.")
    return None if re.search(r"[/\\]", name) else _KNOWN_AS.get(_plain(name))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _file(kind: str, path: str, sha256: str) -> dict[str, Any]:
    """A file on GitHub to download, how it is read, and the checksum of what it holds."""
    return {"url": f"https://raw.githubusercontent.com/{path}", "format": kind, "sha256": sha256}


def _uci(where: str = "") -> dict[str, Any]:
    """Source and terms of a set of the UCI repository."""
    return {"source": f"http://archive.ics.uci.edu/ml{where}", "terms": _UCI}


_UCI = "UCI repository, CC BY 4.0"
# Files on GitHub, or folders of such: repository, commit, path.
_FEATURES = "jundongl/scikit-feature/48cffad/skfeature/data"
_FACES = "yuzhounh/Face-databases/75d3e1d/faces"
_LANDSAT = "YannisSch/Statlog_Landstat_Satellite_Project/6f31538326e860b63b09efdb43a0f76f3973ce29/data"
_UMIST = "domainxz/unsupervised-feature-selection-evaluation/ecb50ba47a12fe7de96f2de18705491abcd340ec/data/umist.mat"
_USPS = "hyzhang98/AnchorGAE-torch/5d29366c5f90b93a41d1f0e96bae746ae1bc5689/data/usps_all.mat"
_SEGMENTATION = "newtonlb/ProjetoAM/0ec4ab9d39f10362448a519804dfe3fc2e7d908f/segmentation.test"
_YEAST = "SijieGuo/classifierDependency/305b0bf8857a60d3b9bcb0770a3735a68fdc2db2/yeast.data"
_ISOLET = "ma-xu/L21FS/b9d4e8e/data/isolet5.mat"
_GENERATED = "made by this library, with seed 0"
_SKLEARN = "comes with scikit-learn"
_DERIC = "github.com/deric/clustering-benchmark"

_ENTRIES = [
    Entry(
        "umist", 575, 644, 20, {"DEC": "Umist"},
        source="Sheffield (UMIST) face database, http://images.ee.umist.ac.uk/danny/database.html",
        terms="research use is commonly stated; not checked",
        **_file("mat", _UMIST, "15d3ba3062a1041893a2247b52b2eb179365d918fa9d159720e1f331175c612a"),
        image_shape=(28, 23),
        image_order="F",
        note="10 images are exact repeats",
    ),
    Entry(
        "coil20", 1440, 1024, 20, {"DEC": "Coil", "EC": "COIL20"},
        source="Columbia COIL-20, http://www1.cs.columbia.edu/CAVE/research/softlib/coil-20.html",
        terms="non-commercial research; cite CUCS-005-96",
        **_file("mat", f"{_FEATURES}/COIL20.mat", "71bd50596598edb8914a1ecd78cdd566c596af240101d5ab1788c966f86ac148"),
        image_shape=(32, 32),
        image_order="F",
        note="another 32 x 32 version, with other pixel values, goes around under the same name",
    ),
    Entry(
        "isolet5", 1559, 617, 26, {"DEC": "Isolet"},
        **_uci("/datasets/ISOLET, part 5"),
        **_file("mat", _ISOLET, "39a6a4e6e8497e5c7993984f7eae666adecf84f0604adb21b83aa572b9f71353"),
    ),
    Entry(
        "corel", 3000, 36, 30, {"DEC": "Corel"},
        source="the features of DEC are not published; others of Corel images are at "
        "http://kdd.ics.uci.edu/databases/CorelFeatures/CorelFeatures.data.html",
        terms="not known",
        note="colour histogram (9), edge directions (18) and wavelets (9) of images of 30 topics",
    ),
    Entry(
        "pollen", 625, 625, 7, {"DEC": "Pollen"},
        source="IICBU 2008, http://ome.grc.nia.nih.gov/iicbu2008/pollen/index.html",
        terms="not known",
        image_shape=(25, 25),
    ),
    Entry(
        "orl", 400, 1024, 40, {"DEC": "Orl", "EC": "AT&T", "ODC": "ORL", "RURR-SL": "AT&T"},
        source="AT&T (ORL) face database, http://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip",
        terms="free use; credit Olivetti Research Laboratory",
        **_file("mat", f"{_FEATURES}/ORL.mat", "be7c37dd3c1b3e75243674be983f353be932a416c3c2729563b5bd5e5b5801d2"),
        image_shape=(32, 32),
        image_order="F",
    ),
    Entry(
        "yale", 165, 1024, 15, {"EC": "YALE", "ODC": "Yale"},
        source="Yale face database",
        terms="research use; not to be put into a larger published database without permission",
        **_file("mat", f"{_FEATURES}/Yale.mat", "a19a95e8e9fd210e7b866c9ec9b37469684a5a5ee4d5b39575f10d2dee149971"),
        image_shape=(32, 32),
        image_order="F",
    ),
    Entry(
        "coil100", 7200, 1024, 100, {"EC": "COIL100"},
        source="Columbia COIL-100, as pixels at github.com/muratkirtay/ESANN2018, DATA/pixel/obj1..100.mat",
        terms="non-commercial research; cite CUCS-006-96",
        sha256="6706e8a82cf911207368908c32e70b0c8237c9621cab17b69ea62d891b2e9f32",
        image_shape=(32, 32),
        note="made from colour images, so pixel values differ from those of the paper",
    ),
    Entry(
        "fei", 2800, 1024, 200, {"EC": "FEI", "RURR-SL": "FEI"},
        source="FEI face database, http://fei.edu.br/cet/facedatabase.html",
        terms="must not be passed on: apply there",
        image_shape=(32, 32),
    ),
    Entry(
        "imm", 240, 1024, 40, {"EC": "IMM", "RURR-SL": "IMM"},
        source="IMM face database (DTU), http://www2.imm.dtu.dk/aam/datasets/datasets.html",
        terms="free for research is commonly stated; not checked",
        **_file("faces", f"{_FACES}/IMM.mat", "6d5e448b5d6baa3cff5ecad2d929cc8de7c8aa536c17dbf56abf9fa5fd773201"),
        exact=False,
        image_shape=(32, 32),
        note="resized from 48 x 64, so pixel values differ from those of the papers",
    ),
    Entry(
        "ar", None, None, None, {"EC": "AR"},
        source="AR face database, of A. Martinez and R. Benavente",
        terms="must not be passed on: apply to its authors",
        image_shape=(32, 32),
        note="EC does not state its size",
    ),
    Entry(
        "gt", 750, 1024, 50, {"EC": "GT", "RURR-SL": "GT"},
        source="Georgia Tech face database, http://www.anefian.com/research/gt_db.zip",
        terms="research use is commonly stated; not checked",
        **_file("faces", f"{_FACES}/GT.mat", "5563b4bf469b2e9f4a90b1ee465b6c185c8b6ad0f953ecdcb6d372aaddc554c8"),
        exact=False,
        image_shape=(32, 32),
        note="resized from 40 x 30, so pixel values differ from those of the papers",
    ),
    Entry(
        "usps", 9298, 256, 10, {"EC": "USPS"},
        source="USPS handwritten digits, training and test part",
        terms="commonly used for research; no licence text found",
        **_file("usps", _USPS, "5a0faad9cbdb6daeb85b6d70ec2f73313b66c12f53f7621dd36256c15b02d936"),
        image_shape=(16, 16),
        note="EC does not state which part it used",
    ),
    Entry(
        "pie", 6800, 1024, 68, {"ODC": "PIE"},
        source="CMU Pose, Illumination and Expression database, of Carnegie Mellon University",
        terms="must not be passed on: apply to Carnegie Mellon University",
        image_shape=(32, 32),
    ),
    Entry(
        "srbct", 63, 2308, 4, {"ODC": "SRBCT"},
        source="Khan et al. 2001, training part; khan.RData at github.com/ramhiser/datamicroarray",
        terms="published gene expression data; the package is under the MIT licence",
        sha256="25fdcb426c45be0baf651f168c959a66dab53996db7e967b916dfab8ae769f83",
        note="the source is an R file: write x and y to a .mat file",
    ),
    Entry(
        "iris", 150, 4, 3, {"ODC": "Iris"},
        source=_SKLEARN,
        terms=_UCI,
        sha256="b4fa4a4ae6cbd6e434c6b9cb3a48ec49363b88a16a73920074f4d3dd4ca29041",
        note="ODC prints 4 classes",
    ),
    Entry(
        "yeast", 1484, 8, 10, {"ODC": "Yeast"},
        **_uci(),
        **_file("yeast", _YEAST, "aa6febaa18bc199b1339a544095ee05ed2267c86d771d559213be1afde14356d"),
        note="classes of 5 to 463 rows",
    ),
    Entry(
        "segmentation", 2100, 19, 7, {"ODC": "Image segmentation"},
        **_uci(", test part"),
        **_file("segmentation", _SEGMENTATION, "9ba2594c64fc05d4a520a91ceb36ad404f8a3320ef9ea726ea082e40ec4db509"),
        note="one column is constant, the others differ much in scale",
    ),
    Entry(
        "satellite", 2000, 36, 6, {"ODC": "Statlog landsat satellite"},
        **_uci(", test part"),
        **_file("satellite", f"{_LANDSAT}/sat.tst", "7ed324a00420df5386fadc5bde75629cdf1b6bd81cb16b877ea9ab2785fb3b6c"),
        note="ODC prints 7 classes: they are numbered 1 to 7, without 6",
    ),
    Entry(
        "satellite_train", 4435, 36, 6,
        **_uci(", training part"),
        **_file("satellite", f"{_LANDSAT}/sat.trn", "2819c583ed0ac51c5842e22c8fe79394f570655480102efe2453d10a3fc7f7a6"),
    ),
    Entry(
        "colon", 62, 2000, 2, {"RURR-SL": "COLON"},
        source="Alon et al. 1999; alon.RData at github.com/ramhiser/datamicroarray",
        terms="published gene expression data; the package is under the MIT licence",
        sha256="25ab6891ea2a45fd8925205d4adf994f49f02e30f8ef6daeb3d1c2c95a2d468a",
        note="raw intensities (RURR-SL may have used a discretised version, of "
        "http://penglab.janelia.org/proj/mRMR/index.htm#data); the source is an R file: write x and y to a .mat file",
    ),
    Entry(
        "glioma", 50, 4434, 4, {"RURR-SL": "GLIOMA"},
        source="http://featureselection.asu.edu/datasets.php",
        terms="no data licence stated",
        **_file("mat", f"{_FEATURES}/GLIOMA.mat", "3df2cecb1398195f565e34ef9c34376a7d9033bdf111fdf738df7605986913aa"),
    ),
    Entry(
        "flower17", 1360, 1024, 17, {"RURR-SL": "FLOWER17"},
        source="Oxford 17 category flower data set, http://www.robots.ox.ac.uk/vgg/data0.html",
        terms="research use is commonly stated; not checked",
        sha256="9b4c09d5f7ae400cfbb457e90db282008fb6e0dfa547c8d4ef95ea9fbc9bec22",
        image_shape=(32, 32),
        note="made from colour images, so pixel values differ from those of the paper; 17 photos are there twice",
    ),
    Entry(
        "ethz53", 265, 1024, 53, {"RURR-SL": "ETHZ53"},
        source="ETH Zurich object database, http://www.vision.ee.ethz.ch/datasets_extra/Obj_DB.tar.gz",
        terms="not known",
        image_shape=(32, 32),
    ),
    Entry(
        "newsgroups20", 16167, 8000, 20,
        source="20 newsgroups, by date, of github.com/julenminer/mlnn_P65",
        terms="public posts, commonly used for research; no licence text found",
        sha256="3d03f33a57526cf271110d9d42736f1bc08a7e634ea07e1d4c5d9fa470470e26",
        note="counts of the 8000 most frequent words, without headers, quotes, footers and stop words",
    ),
    Entry(
        "newsgroups20_minilm", 5000, 384, 20,
        source="all-MiniLM-L6-v2 sentence embeddings of 250 posts per group of newsgroups20",
        terms="public posts, commonly used for research; no licence text found",
        sha256="839dbec1a7e14601febbe9a27d1fdc1b37b923ff3355665d9e5c2b0cd907b94d",
    ),
    Entry(
        "pbmc3k", 2638, 2000, 9,
        source="10x Genomics PBMC 3k, of github.com/rnabioco/clustifyr",
        terms="CC BY 4.0",
        sha256="fea98156ff9154b1f8678a2406bb38bfbceb75e20f8e1c248868aa3cdb808e2b",
        note="the labels were found by clustering, so agreement with them is partly circular",
    ),
    Entry(
        "mnist", 70000, 784, 10,
        source="MNIST, of Y. LeCun and C. Cortes",
        terms="CC BY-SA 3.0",
        sha256="f33f1b1ba315d67f3ce573d87ea2d2a4b8629bbcef646340f9aaa3199f1e8dda",
        image_shape=(28, 28),
        note="the last 10000 rows are the usual test part",
    ),
    Entry(
        "glass", 214, 9, 6,
        **_uci("; uci/glass at github.com/gagolews/clustering-data-v1"),
        sha256="2a258741fc2cada9f2b40679e341c374ee18198fd641cae0bc2e6c2465c39e40",
        note="columns of different units",
    ),
    Entry(
        "vehicle", 846, 18, 4,
        **_uci(f"; vehicle.arff at {_DERIC}"),
        sha256="316474cd1c8ef3a004058f035db1d58c96d028d5b90b74e6926e2e731c10d5bb",
        note="columns of different units",
    ),
    Entry(
        "vowel", 990, 10, 11,
        **_uci(f"; vowel.arff at {_DERIC}"),
        sha256="d7c90cbb8d8d3cae382808390a0833bbf678a06b5abe1a940d750afb173f4087",
        note="columns of different units",
    ),
    Entry(
        "heart", 270, 13, 2,
        **_uci(f"; heart-statlog.arff at {_DERIC}"),
        sha256="8d92e4b54c1113a177ce62096f747e69254e804bf212dccf227044fd56455c14",
        note="columns of different units, seven of which are categories written as numbers",
    ),
    Entry(
        "german", 1000, 20, 2,
        **_uci(f"; german.arff at {_DERIC}"),
        sha256="aa646dd0d219d3e156cd63bb1314cf2c7b9e0008de2295ad0f69d05e9f8074e9",
        label_column="CLASS",
        note="7 columns of numbers and 13 of text; no clustering separates the classes well",
    ),
    Entry(
        "worm_neuron", 2100, 13488, 10,
        source="Cao et al. 2017; worm_neuron_cell_select_2100.h5 at github.com/ttgump/scDeepCluster",
        terms="published single-cell counts; the package is under the Apache licence 2.0",
        sha256="f28b18a6eb0f507e6356951ab1a569982b99eb7e6d52cba5e499ca77a4a8d0d2",
        note="raw counts",
    ),
    Entry("digits", 1797, 64, 10, source=_SKLEARN, terms=_UCI, image_shape=(8, 8)),
    Entry("wine", 178, 13, 3, source=_SKLEARN, terms=_UCI),
    Entry("breast_cancer", 569, 30, 2, source=_SKLEARN, terms=_UCI),
    Entry("two_gaussians", 1000, 2, 2, papers={"DEC": "toy example"}, source=_GENERATED),
    Entry("three_clusters", 600, 2, 3, papers={"RURR-SL": "3-cluster"}, source=_GENERATED),
    Entry("multi_clusters", 900, 2, 9, papers={"RURR-SL": "multicluster"}, source=_GENERATED),
    Entry("mixture", 2000, 200, 10, source=_GENERATED),
    Entry("customers", 1500, 13, 5, source=_GENERATED, note="numbers, categories, dates and gaps"),
    Entry("survey", 700, 15, 4, source=_GENERATED, note="answers from 1 to 5, with gaps"),
    Entry("tickets", 800, 4, 5, source=_GENERATED, note="messages to a help desk"),
    Entry("daily_curves", 600, 49, 3, source=_GENERATED, note="a value for each half hour"),
]  # fmt: skip
ENTRIES: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
_KNOWN_AS = {_plain(alias): entry.name for entry in _ENTRIES for alias in (*entry.papers.values(), entry.name)}
_KNOWN_AS |= {"statlogsatellite": "satellite"}
