"""Whatever a study scored is served, with the scores that the study wrote."""

import numpy as np
import pytest

from qdrank.datasets.judged import load_judged
from qdrank.queries.recipe import topics_of
from qdrank.serving.ranking import load_ranker
from qdrank.store import read
from qdrank.studies import STUDIES

#: Studies that run on the tiny data; rankers of runs are stored and read in tests/rankers/test_run_weights.py.
RUN = [name for name in STUDIES if "simulated" in STUDIES[name].kinds]


@pytest.mark.parametrize("study", [*RUN, ""])
def test_served_scores_are_those_of_the_study(finished, study):
    """To the last bit; models that are trained on request agree to the tolerance of training."""
    data = finished.folder / "results" / "tiny"
    test = load_judged(data / "judged.parquet").of_role("fold1", "test")
    own, text = topics_of(read(data / "topics.parquet", "topics"), test.query_id.tolist())
    scored = {path.stem for path in (data / "fold1" / "scores").glob("*.parquet")}
    of_studies = {name: {method.name for method in STUDIES[name].methods} & scored for name in STUDIES}
    methods = of_studies[study] if study else scored - set().union(*of_studies.values())
    assert methods
    for method in sorted(methods):
        ranker = load_ranker(data / "fold1", method)
        names = {"query_id": test.query_id, "doc_id": test.doc_id}
        scores = ranker.score_many(test.X, test.offsets, query_columns=own, text=text, **names)
        written = read(data / "fold1" / "scores" / f"{method}.parquet", "scores").column("score").to_numpy()
        if ranker.ranker.needs("TRAINING"):
            np.testing.assert_allclose(scores, written, rtol=0, atol=2e-3 * np.ptp(written), err_msg=method)
        else:
            np.testing.assert_array_equal(scores, written, err_msg=method)
