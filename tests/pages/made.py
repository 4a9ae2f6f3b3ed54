"""A small run to make pages of, without a workflow."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.deciding import verdicts_table
from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.figures.methods import BETTER, LEAD, REASON
from qdrank.pages.page import index_page
from qdrank.pages.queries import explored

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><text y="20">{}</text></svg>'
METHODS = {"near": "Near <b>", "global": "Global"}


def row(claim: str, dataset: str, verdict: str, purpose: str = "finding", **changed: Any) -> dict[str, Any]:
    """One verdict."""
    texts = dict.fromkeys(
        ("kind", "measure", "expected", "holds_if", "fails_if", "family", "budget", "note", "world"), "x"
    )
    numbers = {"margin": 0.005, "n": 40, "effect": 0.0123, "low": 0.001, "high": 0.02, "level": 0.0083}
    numbers |= {"p": 0.001, "p_corrected": 1e-9, "detectable": 0.01, "differing": 30.0, "fits": 1}
    numbers |= dict.fromkeys(("boot_low", "boot_high", "fit_spread"), float("nan"))
    about = {"study": "smith2020", "paper": "Smith 2020", "claim": claim, "text": f"{claim} & more", "dataset": dataset}
    return (
        texts
        | numbers
        | about
        | {"purpose": purpose, "verdict": verdict, "unit": "NDCG", "analysis": "queries", "reason": "so"}
        | {"commit": "abcdef0", "configuration": "toy.yaml", "limit": None, "queries_of": dataset, "estimates": []}
        | changed
    )


ROWS = (
    row("near - global", "alpha", HOLDS),
    row(
        "near - global",
        "beta (3 seeds)",
        UNCLEAR,
        effect=None,
        low=None,
        high=None,
        level=None,
        p_corrected=None,
        detectable=None,
    ),
    row("far - global", "alpha", FAILS),
    row("k = m", "alpha", HOLDS, purpose="check"),
)


def made_map(n: int, methods: int = 2, seed: int = 1) -> pa.Table:
    """The artifact ``map`` of ``n`` queries, a third of them test queries."""
    rng = np.random.default_rng(seed)
    ids = [f"q{i}" for i in range(n)]
    tested = np.arange(n) % 3 == 0
    columns: dict[str, Any] = {
        "query_id": ids,
        "type": pa.array([("home", "topic")[i % 2] for i in range(n)]),
        "x": rng.normal(size=n).round(4),
        "y": rng.normal(size=n).round(4),
        "part": pa.array(np.where(tested, "test", "train")),
        "text": pa.array([f"words of query number {i}" for i in range(n)]),
        "documents": rng.integers(10, 100, n),
        "relevant": rng.integers(0, 10, n),
        "neighbours": [[f"q{(i + step) % n}" for step in (1, 2, 3, 4, 5)] for i in range(n)],
        "queries": [str(n)] * n,
        "explained": ["0.5000 0.2500"] * n,
    }
    names = [*METHODS, *(f"method-{i}" for i in range(methods))][:methods]
    values = rng.random((methods, n)).round(4)
    columns |= {f"ap of {name}": pa.array(own, mask=~tested) for name, own in zip(names, values, strict=True)}
    return pa.table(columns)


def made_run() -> dict[str, Any]:
    """What the workflow says of the run."""
    known = {"kind": "letor", "folds": ["fold1"], "note": ""}
    figure = {"id": "smith-fig1", "label": "Figure 1: all", "said": "Near is better.", "claims": ["near*"]}
    figure |= {"datasets": ["alpha", "beta"]}
    of_text = figure | {"id": "smith-fig2", "label": "Figure 2: text", "claims": ["words*"], "datasets": ["alpha"]}
    study = {
        "name": "smith2020",
        "short": "smith",
        "paper": "Smith 2020",
        "idea": "Look near.",
        "against": "global",
        "headline": "smith-fig1",
        "methods": METHODS,
    }
    study |= {
        "datasets": {"alpha": "Alpha", "beta": "Beta"},
        "figures": [figure, of_text],
        "tables": [
            {"id": "smith-table1", "label": "Table 1", "datasets": ["alpha", "beta"]},
            {"id": "smith-table2", "label": "Table 2", "datasets": ["alpha"]},
        ],
    }
    return {
        "datasets": {
            "alpha": {"title": "Alpha", **known, "published": {"queries": 1230}},
            "beta": {"title": "Beta", **known},
        },
        "left_out": {"gamma": "not here </script><b>"},
        "columns": {
            "alpha": {"name": "alpha", "title": "Alpha"},
            "beta (3 seeds)": {"name": "beta", "title": "Beta (3 seeds)"},
        },
        "methods": {"reference": "reference feature"},
        "first_stages": ["reference"],
        "studies": [study | {"claims": "smith-claims", "forms": ["svg", "pdf"]}],
    }


def made_tables() -> dict[str, Any]:
    """Tables of the small run: 14 methods on each data set, alpha made of text; beta has too few queries for intervals."""
    ends = {"MAP, low": 0.35, "MAP, high": 0.45, "NDCG@10/exp, low": 0.4, "NDCG@10/exp, high": 0.5}
    ends |= {f"{LEAD}, low": -0.05, f"{LEAD}, high": 0.05}
    values = [
        {"MAP": 0.4 - i / 100, "NDCG@10/exp": 0.45 - i / 100, "queries": 80, LEAD: i / 100, REASON: "so"}
        | {BETTER: UNCLEAR if 0 < i < 5 else HOLDS if i else None}
        for i in range(14)
    ]
    named = [{"method": f"m{i}", "label": f"Method {i} <i>", **one, **ends} for i, one in enumerate(values)]
    named[-1] |= {"method": "reference", "label": "reference feature"}
    parts = [{"part": "S5", "queries": 80, "documents": 900}, {"part": "all", "queries": 1234, "documents": 56789}]
    return {
        "methods": {"alpha": named, "beta": [row | dict.fromkeys(ends) for row in named]},
        "summaries": {"alpha": parts, "beta": parts},
        "notes": {
            "alpha": [
                {"what": "documents read", "value": "3,204 (published: 3,204)"},
                {"what": "judgments read, of known queries and documents", "value": "796"},
            ]
        },
    }


def made_page(folder: Path, bundle: str, n: int = 60, methods: int = 2) -> str:
    """The page of the small run, its figures written below ``folder``."""
    for name in ("alpha", "beta"):
        (folder / name / "figures").mkdir(parents=True, exist_ok=True)
        (folder / name / "figures" / "smith-fig1.svg").write_text(SVG.format(name))
    figures = {(name, "smith-fig1"): folder / name / "figures" / "smith-fig1.svg" for name in ("alpha", "beta")}
    figures["alpha", "smith-fig2"] = figures["alpha", "smith-fig1"]
    maps = {name: explored(made_map(n, methods, seed)) for seed, name in enumerate(("alpha", "beta"))}
    return index_page(made_run(), verdicts_table(ROWS), figures, maps, bundle, **made_tables())
