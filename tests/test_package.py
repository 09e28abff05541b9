"""The package as a whole: what importing it costs, and which way imports point."""

import ast
import graphlib
import importlib.util
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

import pytest

import jointclust as jc
from jointclust import registry
from jointclust.estimators.base import Clusterer

SOURCE = Path(jc.__file__).parent
ROOT = SOURCE.parent.parent

# From the bottom up: a room imports only from rooms above it in this list. `__init__` is `import jointclust` itself.
ROOMS = [
    "_version",
    "registry",
    "_sklearn",
    "exceptions",
    "types",
    "files",
    "progress",
    "metrics",
    "rows",
    "numerics",
    "judge",
    "subspace",
    "estimators",
    "views",
    "methods",
    "consensus",
    "number",
    "selection",
    "default",
    "conversion",
    "persistence",
    "readers",
    "datasets",
    "showing",
    "sc",
    "__init__",
    "cli",
]
PYTHON_FILES = sorted(SOURCE.rglob("*.py"))


def module_of(path):
    """rows/__init__.py is "rows", rows/blocks.py is "rows.blocks"; the package itself is "__init__"."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path) for path in PYTHON_FILES}


def imported(source):
    """The modules of this package that a file imports, wherever in the file, for type checkers too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "jointclust":
                    yield "__init__"
                elif alias.name.startswith("jointclust."):
                    yield alias.name.removeprefix("jointclust.")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package"
            if node.module.split(".")[0] == "jointclust":
                inside = node.module.removeprefix("jointclust").removeprefix(".")
                for alias in node.names:
                    submodule = f"{inside}.{alias.name}" if inside else alias.name
                    yield submodule if submodule in MODULES else inside or "__init__"


IMPORTS = {module_of(path): set(imported(path.read_text())) - {module_of(path)} for path in PYTHON_FILES}


def check_rooms(imports):
    for module, others in imports.items():
        own = module.split(".")[0]
        for other in {name.split(".")[0] for name in others}:
            assert other == own or ROOMS.index(other) < ROOMS.index(own), f"{module} imports {other}"


def check_no_cycle(imports):
    """Importing a.b runs a/__init__.py too, but a package may import its own modules."""
    graph = {}
    for module, others in imports.items():
        parents = {other.rsplit(".", level)[0] for other in others for level in range(1, other.count(".") + 1)}
        graph[module] = others | {parent for parent in parents if not f"{module}.".startswith(f"{parent}.")}
    list(graphlib.TopologicalSorter(graph).static_order())


def test_rooms_import_from_above():
    check_rooms(IMPORTS)


def test_the_library_does_not_know_the_papers():
    assert not [path for path in PYTHON_FILES if "jointclust_papers" in path.read_text()]


def test_no_cycle():
    """Of any kind: between rooms, inside one, or through the package itself; imports inside functions count too."""
    check_no_cycle(IMPORTS)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("persistence", "def late():\n    import jointclust as jc"),
        ("rows.blocks", "from jointclust import metrics, showing"),
        ("types", "import jointclust.rows.blocks"),
        ("numerics.linalg", "if TYPE_CHECKING:\n    from jointclust.subspace.coordinates import Coordinates"),
        ("subspace.coordinates", "from jointclust.subspace import alternating"),
        ("showing.report._content", "from jointclust.showing.report import write_report"),
        ("rows.threads", "from . import blocks"),
    ],
)
def test_a_wrong_import_is_seen(module, line):
    """One more line in one file, and one of the checks fails."""
    with pytest.raises((AssertionError, graphlib.CycleError)):
        spoiled = IMPORTS | {module: IMPORTS[module] | set(imported(line))}
        check_rooms(spoiled)
        check_no_cycle(spoiled)


def test_few_modules_at_the_root():
    assert len(list(SOURCE.glob("*.py"))) <= 12


# Methods of a class over its bases of ours; those that have more than the cap may not grow.
MOST_METHODS = 40
LARGER = {
    "JointClusterer": 44,
    "JointConsensus": 44,
    "RobustClusterer": 44,
    "RobustEmbeddedClustering": 44,
    "RobustKMeans": 44,
    "MultiViewKMeans": 44,
    "CorrespondenceClustering": 45,
    "DisCluster": 45,
    "DiscriminativeEmbeddedClustering": 45,
    "LDAKMeans": 45,
    "SoftClusterer": 48,
    "UncorrelatedRidgeClustering": 50,
    "CenterClusterer": 52,
    "RobustSparseFuzzyKMeans": 53,
    "FuzzyKMeans": 54,
}
HEART = ("consensus", "number", "selection")


def own_bases(cls):
    return [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "jointclust"]


def n_methods(cls):
    """Functions and properties that the class and its bases of ours define."""
    names = {name for base in own_bases(cls) for name, value in vars(base).items() if is_method(value)}
    return len(names)


def is_method(value):
    return inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod | cached_property)


def all_classes():
    for path in PYTHON_FILES:
        name = module_of(path)
        module = jc if name == "__init__" else importlib.import_module(f"jointclust.{name}")
        yield from (cls for cls in vars(module).values() if inspect.isclass(cls) and cls.__module__ == module.__name__)


def test_classes_have_few_methods():
    """A class with two jobs hides something; so does a chain of bases."""
    large = {cls.__qualname__: n_methods(cls) for cls in all_classes() if n_methods(cls) > MOST_METHODS}
    assert not {name: number for name, number in large.items() if number > LARGER.get(name, 0)}


def test_the_consensus_has_no_chain_of_bases():
    assert len(own_bases(jc.JointConsensus)) <= 3  # itself, and two at the most


@pytest.mark.parametrize("room", HEART)
def test_each_module_has_one_job(room):
    """The docstring states it in one sentence without "and"."""
    for path in (SOURCE / room).glob("*.py"):
        sentence = ast.get_docstring(ast.parse(path.read_text())).strip()
        assert sentence.endswith("."), path
        assert "\n\n" not in sentence, path
        assert not re.search(r"\band\b|\. ", sentence), path


def annotations(path):
    """Those of parameters, returns, variables and attributes, as text."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield ast.unparse(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield ast.unparse(node.returns)


def test_few_bare_any():
    """Types say what is passed around; what is left is users' options, and operands in the protocol of an array."""
    bare, total = Counter(), 0
    for path in PYTHON_FILES:
        result = list(annotations(path))
        bare[module_of(path)] = result.count("Any")
        total += len(result)
    share = bare.total() / total
    assert share <= 0.09, f"{share:.1%} of {total} annotations are Any; most of them in {bare.most_common(8)}"


def test_nobody_touches_the_warnings_of_the_process():
    """Filters and hooks belong to all threads: `exceptions.collected` hears warnings without them."""
    allowed = {"exceptions", "cli"}  # the one place that does it, and the command line before it starts
    for path in PYTHON_FILES:
        if module_of(path) not in allowed:
            for node in ast.walk(ast.parse(path.read_text())):
                name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "name", None)
                assert name not in {"catch_warnings", "simplefilter", "filterwarnings", "showwarning"}, path


def test_tests_patch_no_private_names():
    """They may change at any time: a test that patches them then fails, or tests nothing."""
    patched = re.compile(r'setattr\(\s*(?:[^,"()]+,\s*)?"(?:[\w.]*\.)?_(?!_)\w*"')
    for path in sorted((ROOT / "tests").rglob("*.py")):
        assert not patched.search(path.read_text()), path


def private_names(source):
    """What a file uses of scikit-learn that a new version may move: imported, or an attribute of what was imported."""
    nodes, ours = list(ast.walk(ast.parse(source))), {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                ours[local] = f"{origin}{alias.name}" if origin or alias.asname else local
                yield f"{origin}{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            yield ".".join([ours.get(first, ""), *rest])


def test_private_names_of_scikit_learn_are_in_one_file():
    """What a new version may move: each of these is there in this one, and no other file names one."""
    hidden = re.compile(r"sklearn\.(.*\.)?(_[a-z]|callback\b|experimental\b)")
    private = {
        module_of(path): {name for name in private_names(path.read_text()) if hidden.match(name)}
        for path in PYTHON_FILES
    }
    assert private.pop("_sklearn") == {
        "sklearn.base._fit_context",
        "sklearn.callback.CallbackContext",
        "sklearn.callback.CallbackSupportMixin",
        "sklearn.cluster._k_means_lloyd.lloyd_iter_chunked_dense",
        "sklearn.utils._param_validation.HasMethods",
        "sklearn.utils._param_validation.Interval",
        "sklearn.utils._param_validation.StrOptions",
        "sklearn.utils._param_validation.validate_params",
        "sklearn.utils.validation._check_sample_weight",
        "sklearn.utils.validation._get_feature_names",
    }
    assert not {module: names for module, names in private.items() if names}
    for line in (
        "from sklearn.utils import validation as v; v._num_samples",
        "import sklearn.utils; sklearn.utils.validation._x(1)",
        "import sklearn.callback",
        "import sklearn.utils._x as x",
        "from sklearn import callback",
    ):
        assert any(map(hidden.match, private_names(line))), line


def test_the_registry_is_exported():
    """`__init__` lists names for type checkers: the methods among them are those of the registry, no more, no fewer."""
    exported = [getattr(jc, name) for name in jc.__all__]
    methods = {cls for cls in exported if isinstance(cls, type) and issubclass(cls, Clusterer | jc.JointConsensus)}
    assert {entry.cls for entry in registry.METHODS} == methods


def test_import_is_light():
    """Nothing heavy comes in with jointclust that scikit-learn does not bring itself (it imports pandas if it can)."""

    def loaded(module):
        code = f"import sys, {module}; print(*sys.modules)"
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        return set(output.split())

    added = loaded("jointclust") - loaded("sklearn.cluster")
    assert not added & {
        "torch",
        "dask",
        "matplotlib",
        "pandas",
        "polars",
        "skops",
        "cupy",
        "rich",
        "click",
        "pyarrow",
        "h5py",
        "pooch",
        "requests",
        "PIL",
    }


def test_version_and_names():
    assert re.fullmatch(r"\d+\.\d+\.\d+", jc.__version__)
    for name in jc.__all__:
        assert hasattr(jc, name)


# -- names that are loaded when they are asked for ----------------------------------------------------------------


def modules_after(code):
    """The modules that are loaded once a process of its own has run some code."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("code", ["", "dir(jc)", "jc.__version__", "jc.__all__", "hasattr(jc, 'no_such_name')"])
def test_a_bare_import_loads_no_scikit_learn(code):
    assert not modules_after(f"import jointclust as jc\n{code}") & {"numpy", "scipy", "sklearn"}


def test_a_name_loads_what_it_needs():
    assert "sklearn" not in modules_after("from jointclust import ScaleWarning")
    assert {"sklearn", "jointclust.methods.fuzzy"} <= modules_after("from jointclust import FuzzyKMeans")


def test_names_for_type_checkers_are_those_of_the_table():
    """`__init__` lists names for type checkers, and again with their modules: the same names, from the same modules.

    A method of the registry is exported by its line there; for type checkers, too, once it has a line here.
    """
    nodes = ast.walk(ast.parse((SOURCE / "__init__.py").read_text()))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("jointclust")]
    listed = {alias.name: node.module for node in froms for alias in node.names}
    modules = {name: f"jointclust.{path}".rpartition(".")[0] for name, path in jc._MODULES.items()}
    homes = {name: f"jointclust.{path}" for name, path in jc._HOMES.items()}
    del listed["METHODS"]
    exported = modules | homes | {"__version__": "jointclust._version"}
    assert listed.items() <= exported.items()
    assert exported.keys() - listed.keys() <= {entry.path.partition(":")[2] for entry in registry.METHODS}
    assert sorted(exported) == jc.__all__
    assert set(jc.__all__) <= set(dir(jc))


def test_no_submodule_hides_a_name():
    """Importing `jointclust.x` sets the attribute x: where a public name is called so, it is that very module."""
    submodules = {path.stem for path in SOURCE.glob("*.py")} | {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }
    assert submodules & set(jc.__all__) == {"datasets", "metrics", "sc"}
    for name in submodules & set(jc.__all__):
        assert getattr(jc, name).__name__ == f"jointclust.{name}"
    with pytest.raises(AttributeError, match="module 'jointclust' has no attribute 'no_such_name'"):
        jc.no_such_name  # noqa: B018


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_loads_a_command_when_it_is_called(option):
    result = modules_after(f"sys.argv[1:] = ['{option}']\nfrom jointclust_command import main\nmain()")
    assert "jointclust.cli" in result
    assert not result & {"numpy", "sklearn", "rich", "jointclust.cli.commands"}
