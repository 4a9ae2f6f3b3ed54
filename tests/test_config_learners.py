import pytest

from qdrank.errors import InputError
from qdrank.workflow.config import WholeSettings
from qdrank.workflow.config_files import resolve


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"methods": ["ranksmv"]}, "mine.yaml: learners.methods.0: unknown method; did you mean ranksvm?"),
        ({"grids": {"lambdamart": {"leaves": [7]}}}, "unknown method; did you mean lambdamart-tuned?"),
        ({"grids": {"ranksvm": {"lam": 0.1}}}, "learners.grids.ranksvm.lam: Input should be a valid list"),
        ({"measure": "ndgc@5/letor4"}, "did you mean ndcg@5/letor4?"),
        ({"scales": {"mq2008": "min"}}, "learners.scales.mq2008: Input should be 'auto'"),
    ],
)
def test_a_fault_names_key_and_fix(section: dict, words: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve({"learners": section}, [("mine.yaml", {"learners": section})])
    assert words in str(caught.value)


def test_null_is_all_methods() -> None:
    assert resolve({"learners": {"methods": None}}).learners.methods is None
    assert "ranksvm" in (WholeSettings().learners.methods or [])
