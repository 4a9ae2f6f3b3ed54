"""What is promised across processors: same bytes with one BLAS kernel; same verdicts and four digits with any."""

import json
import os
import platform
import subprocess
import sys

import pytest

from qdrank.store.manifest import _processor, machine_record, manifest_text

KERNELS = {"aarch64": ("ARMV8", "NEOVERSEN1"), "x86_64": ("Haswell", "Nehalem")}.get(platform.machine(), ())

STUDY = """
import hashlib, json
import numpy as np
from qdrank.evaluation.declared import Claim, Declaration
from qdrank.evaluation.values import Values
from qdrank.evaluation.deciding import decide
from qdrank.layout import query_index
from qdrank.learners.ranksvm.local import prepare_training, train_block
from qdrank.learners.linear import ListNet
from qdrank.learners.ranksvm.preferences import prepare
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.measures.compute import measure
from qdrank.store.manifest import machine_record

rng = np.random.default_rng(7)
n, size, d = 160, 25, 40
offsets = np.arange(n + 1) * size
query = query_index(offsets)
X = rng.normal(size=(n * size, d))
side = np.where(query % 2, 1.0, -1.0)
y = np.digitize(X[:, 0] + side * X[:, 1] + 0.7 * rng.normal(size=len(X)), [0.5, 1.5])
train, test = slice(0, 40 * size), slice(40 * size, None)
single = RankSVM(lam=0.01).fit(X[train], y[train], query[train])
data = prepare(X[train], y[train], offsets[:41])
ground = prepare_training(data, lam=0.01)
neighbours = np.stack([np.flatnonzero(np.arange(40) % 2 == i % 2)[:12] for i in range(n - 40)])
local = train_block(ground, neighbours)
listnet = ListNet(l2=0.01).fit(X[train], y[train], query[train])

own = offsets[40:] - offsets[40]
ranked = {
    "single": single.predict(X[test], query[test]),
    "local": np.einsum("ij,ij->i", X[test], local.W[query_index(own)]),
    "listnet": listnet.predict(X[test], query[test]),
}
values = {m: measure(["ndcg@10/letor4"], y[test], s, own)["ndcg@10/letor4"] for m, s in ranked.items()}
claims = tuple(
    Claim(name=a, text=f"{a} beats Single", expected="above 0", kind="superiority", margin=0.005, family="f")
    for a in ("local", "listnet")
)
observations = {a: {"difference": Values(values[a] - values["single"])} for a in ("local", "listnet")}
rows = decide(Declaration(study="s", paper="p", claims=claims), {"d": observations}, dataset="d").to_pylist()
weights = np.concatenate([single.coef_, local.W.ravel(), listnet.coef_])
print(json.dumps({
    "kernel": [one["kernel"].lower() for one in machine_record()["blas"]],
    "bytes": hashlib.sha256(weights.tobytes()).hexdigest(),
    "means": {m: round(float(v.mean()), 4) for m, v in values.items()},
    "verdicts": [one["verdict"] for one in rows],
    "figures": [[one[c] and round(one[c], 4) for c in ("effect", "low", "high", "p_corrected", "detectable")] for one in rows],
    "weights": weights[:5].tolist(),
}))
"""


def study(kernel):
    environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", STUDY], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.full
@pytest.mark.skipif(not KERNELS, reason="no two kernels are known for this architecture")
def test_verdicts_and_four_digits_do_not_depend_on_the_blas_kernel_and_bytes_on_nothing_else():
    one, again, other = study(KERNELS[0]), study(KERNELS[0]), study(KERNELS[1])
    if KERNELS[1].lower() not in other["kernel"]:
        pytest.skip(f"this BLAS has no kernel {KERNELS[1]}: {other['kernel']}")
    assert set(one["kernel"]) == {KERNELS[0].lower()}
    assert one["bytes"] == again["bytes"]
    assert one["verdicts"] == other["verdicts"]
    assert len(set(one["verdicts"])) > 1, "a study of one verdict would show little"
    assert one["means"] == other["means"]
    assert one["figures"] == other["figures"]
    assert one["weights"] == pytest.approx(other["weights"], rel=1e-5)


def test_the_record_of_the_machine_is_the_same_on_every_call():
    found = machine_record()
    assert found == machine_record()
    assert json.loads(json.dumps(found)) == found
    assert found["blas"]
    assert all(one["kernel"] for one in found["blas"])
    assert {"numpy", "scipy", "numba"} <= set(found["libraries"])


def test_the_processor_has_a_name(tmp_path):
    (tmp_path / "x86").write_text(
        "processor\t: 0\nmodel name\t: A fast one\n\nprocessor\t: 1\nmodel name\t: A fast one\n"
    )
    (tmp_path / "arm").write_text("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
    assert _processor(tmp_path / "x86") == "A fast one"
    assert _processor(tmp_path / "arm") == "implementer 0x41, part 0xd0c"
    assert _processor(tmp_path / "none")


def test_the_machine_is_in_the_manifest_but_not_in_its_digest(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("x")
    here = json.loads(manifest_text(tmp_path))
    assert here["machine"] == machine_record()
    monkeypatch.setattr("qdrank.store.manifest.machine_record", lambda: {"architecture": "another"})
    there = json.loads(manifest_text(tmp_path))
    assert (there["all"], there["files"]) == (here["all"], here["files"])
