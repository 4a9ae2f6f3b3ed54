import numpy as np

from qdrank.datasets.columns import topics_table
from qdrank.store import read, write


def test_what_is_not_known_is_null_or_of_width_0(tmp_path):
    write(tmp_path / "topics.parquet", "topics", topics_table(["1", "2"], ["S1", "S2"]))
    rows = read(tmp_path / "topics.parquet", "topics").to_pylist()
    assert rows == [
        {"query_id": "1", "part": "S1", "text": None, "type": None, "query_columns": []},
        {"query_id": "2", "part": "S2", "text": None, "type": None, "query_columns": []},
    ]


def test_what_is_known_is_kept_in_its_order():
    table = topics_table(["b", "a"], ["test", "train"], text=["x", None], types=[None, "t"], columns=np.eye(2))
    assert table.column("text").to_pylist() == ["x", None]
    assert table.column("type").to_pylist() == [None, "t"]
    assert table.column("query_columns").to_pylist() == [[1.0, 0.0], [0.0, 1.0]]
