"""A data set, a learner, a metric is added by one file and one entry; tests/measures adds a measure."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from qdrank.datasets.sources import default_table, load
from qdrank.errors import InputError
from qdrank.queries import METRICS
from qdrank.queries.metrics import Euclidean
from qdrank.registry import Registry


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
