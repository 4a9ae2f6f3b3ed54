"""The package as it is installed: what it asks for, and what it says where an extra is missing."""

import re
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from qdrank.datasets.sources import default_table, load
from qdrank.errors import InputError
from qdrank.queries import METRICS
from qdrank.queries.metrics import Euclidean
from qdrank.registry import Registry

CORE = {"numba", "numpy", "pandas", "pyarrow", "pydantic", "pyyaml", "scikit-learn", "scipy", "threadpoolctl"}


@pytest.fixture(scope="module")
def metadata(installed: Path):
    """Metadata of the wheel."""
    (path,) = installed.glob("*.dist-info/METADATA")
    return message_from_string(path.read_text())


def test_the_wheel_holds_the_workflow_once(project: Path, installed: Path) -> None:
    """Every file of the workflow is in the wheel, and the library finds it there."""
    folders = ("config", "envs", "resources/expected", "scripts", "workflow")
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Snakefile", *folders]
    listed = subprocess.run(asked, cwd=project, capture_output=True, text=True, check=True).stdout.split()
    packaged = installed / "qdrank" / "_project"
    assert {str(path.relative_to(packaged)) for path in packaged.rglob("*") if path.is_file()} == set(listed)
    assert (installed / "qdrank/pages/assets/page.html").is_file()
    code = "from qdrank.project import CHECKOUT, PROJECT; print(CHECKOUT, PROJECT)"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(installed)}, capture_output=True, text=True
    )
    assert ran.stdout.split() == ["None", str(packaged)]


def asked_for(metadata, extra: str | None = None) -> set[str]:
    lines = [line.partition(";") for line in metadata.get_all("Requires-Dist")]
    wanted = "" if extra is None else f'extra == "{extra}"'
    return {re.split(r"[<>=\[ ]", line)[0].lower() for line, _, marker in lines if marker.strip() == wanted}


def test_the_library_alone_brings_no_workflow(metadata):
    assert asked_for(metadata) == CORE
    assert "snakemake" in asked_for(metadata, "workflow")
    assert asked_for(metadata, "trees") == {"lightgbm"}
    assert asked_for(metadata, "text") == {"pystemmer"}
    assert asked_for(metadata, "dense") == {"onnxruntime", "tokenizers"}
    assert set(metadata.get_all("Provides-Extra")) == {"workflow", "trees", "text", "irds", "dense"}


def test_no_requirement_is_an_exact_pin(metadata):
    assert not [
        line for line in metadata.get_all("Requires-Dist") if re.search(r"={2}[^\"]*(;|$)", line.partition(";")[0])
    ]


BLOCKED = (
    "snakemake",
    "lightgbm",
    "Stemmer",
    "pandas",
    "sklearn",
    "matplotlib",
    "bm25s",
    "vl_convert",
    "onnxruntime",
    "tokenizers",
)
WITHOUT = f"""
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
import numpy as np
from qdrank.errors import InputError
"""


def without_extras(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_learns_ranks_and_measures_without_any_extra(tmp_path: Path):
    code = """
from qdrank.datasets.judged import Judged
from qdrank.learners import AGGREGATORS, LEARNERS
from qdrank.rankers.local_ranker import LocalRanker
X = np.random.default_rng(0).random((40, 3)); y = (X[:, 0] > 0.5).astype(int); query = np.repeat(np.arange(4), 10)
for name in set(LEARNERS) - {"lambdamart", "boosted-regression", *AGGREGATORS}:
    assert LEARNERS[name]().fit(X, y, query).score(X, y, query) > 0.5, name
for name in AGGREGATORS:
    LEARNERS[name]().fit(X, y, query).predict(X, query)
print(Judged.from_arrays(X, y, query).n_queries)
"""
    assert without_extras(code).strip() == "4"


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("from qdrank.learners import LambdaMART", "trees"),
        ("from qdrank.text.analyser import Analyser; Analyser(stemmer='english')", "text"),
        ("from qdrank.text.encoder import Encoder; Encoder(None)", "dense"),
        ("from qdrank.learners import ATVT; X = np.random.rand(9, 2); ATVT(h='trees').fit(X, np.arange(9))", "trees"),
    ],
)
def test_a_missing_extra_is_named(code: str, extra: str):
    told = without_extras(f"try:\n    {code}\nexcept InputError as error:\n    print(error)\n")
    assert f"pip install 'qdrank[{extra}]'" in told


def test_the_lock_holds_what_the_package_asks_for(metadata, project: Path):
    lock = (project / "requirements" / "run.txt").read_text()
    for name in asked_for(metadata) | asked_for(metadata, "workflow") - {"qdrank"}:
        assert re.search(rf"^{re.escape(name)}==", lock, re.MULTILINE), name
    assert not re.search("^bm25s==", lock, re.MULTILINE), "nothing in a run uses bm25s"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("toy_module")
    monkeypatch.setitem(sys.modules, "toy_module", module)
    return module


def add(monkeypatch: pytest.MonkeyPatch, registry: Registry, name: str, target: str) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    registry.add(name, target)


def test_a_metric(monkeypatch: pytest.MonkeyPatch, toy: ModuleType) -> None:
    toy.Metric = Euclidean
    add(monkeypatch, METRICS, "toy", "toy_module:Metric")
    assert METRICS["toy"]().fit(np.eye(2)).norm == "l2"


def test_a_data_set(tmp_path: Path) -> None:
    entry = "\ntoy:\n  kind: simulated\n  title: Toy\n  publisher: us\n  licence: none\n  citation: none\n  max_label: 4\n  folds: split\n"
    (tmp_path / "datasets.yaml").write_text(default_table().read_text() + entry)
    assert load(tmp_path / "datasets.yaml")["toy"].title == "Toy"


def test_names_are_taken_once_and_met_with_the_nearest() -> None:
    registry = Registry("thing", {"alpha": "math:pi"})
    assert registry["alpha"] > 3
    with pytest.raises(InputError, match="did you mean alpha"):
        registry["alpa"]
    with pytest.raises(InputError, match="already"):
        registry.add("alpha", "math:e")
