"""The table of data sets is complete, consistent, and true to the mirror."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from qdrank.datasets.fetching.contents import check
from qdrank.datasets.fetching.fetch import fetch
from qdrank.datasets.fetching.presence import available, instruction, locate, mirror_root, status
from qdrank.datasets.sources import Dataset, load
from qdrank.datasets.textfiles import find
from qdrank.errors import InputError

NAMES = [
    "mq2007",
    "mq2008",
    "mq2007-agg",
    "mq2008-agg",
    "ohsumed",
    "ohsumed-min",
    "ohsumed-letor2",
    "td2003",
    "td2004",
    "np2003",
    "np2004",
    "hp2003",
    "hp2004",
    "mslr-web10k",
    "mslr-web30k",
    "istella-s",
    "yahoo-set1",
    "yahoo-set2",
    "nfcorpus",
    "cranfield",
    "cisi",
    "medline",
    "adi",
    "time",
    "scifact",
    "squad-dev",
    "worldtree2",
    "trec-dl-2019",
    "trec-dl-2020",
    "mslr-sample",
    "sim1",
    "sim2",
    "affine",
    "two-runs",
    "simweb",
]
MIRRORED = [
    "mq2008",
    "mq2007-agg",
    "ohsumed",
    "ohsumed-min",
    "ohsumed-letor2",
    "nfcorpus",
    "cranfield",
    "cisi",
    "medline",
    "adi",
    "time",
    "scifact",
    "squad-dev",
    "worldtree2",
    "trec-dl-2019",
    "trec-dl-2020",
    "mslr-sample",
]


@pytest.fixture(scope="module")
def datasets():
    return load()


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch):
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)


def row(**changes: object) -> dict[str, object]:
    """A data set in its smallest valid form, changed."""
    base = {"kind": "letor", "title": "t", "publisher": "p", "licence": "t", "citation": "c", "max_label": 2}
    more = {"folds": "split", "instruction": "ask", "files": [{"name": "train.txt", "part": "train"}]}
    return {**base, **more, **changes}


def written(folder: Path, table: dict[str, object]) -> Path:
    path = folder / "datasets.yaml"
    path.write_text(yaml.safe_dump(table))
    return path


def test_the_names_are_those_of_the_configuration(datasets):
    assert list(datasets) == NAMES


def test_every_address_is_https_and_pinned(datasets):
    for dataset in datasets.values():
        for archive in dataset.archives:
            assert all(url.startswith("https://") for url in archive.urls)
        for file in dataset.files:
            assert not file.urls or file.has_sha256
        assert (dataset.page or "https://").startswith("https://")


def test_letor_sets_stand_behind_their_licence_page(datasets):
    for name in NAMES[: NAMES.index("nfcorpus")]:
        assert datasets[name].licence_page
        assert not any(datasets[name].addresses(file) for file in datasets[name].files)
        assert "accept" in instruction(datasets[name])
        assert str(Path("resources/downloads") / name) in instruction(datasets[name])


def test_parts_and_folds_agree(datasets):
    for dataset in datasets.values():
        if dataset.kind in ("letor", "agg"):
            rotating = {f"S{i + 1}" for i in range(len(dataset.files))}
            assert set(dataset.by_part()) == (rotating if dataset.folds == "rotation" else {"train", "vali", "test"})


def test_a_part_is_the_test_file_of_the_fold_after_it(datasets):
    for dataset in datasets.values():
        for part, file in dataset.by_part().items():
            if dataset.folds == "rotation" and dataset.licence_page:
                assert f"Fold{int(part[1]) % 5 + 1}/test.txt" in file.also


def test_reference_features(datasets):
    known = {"mq2007": 37, "mq2008": 37, "ohsumed": 41, "ohsumed-min": 41, "ohsumed-letor2": 21, "mslr-web10k": 110}
    assert {name: datasets[name].reference_feature for name in known} == known
    assert datasets["mq2007-agg"].reference_feature is None
    assert datasets["mq2007-agg"].has_missing
    assert not datasets["mq2008"].has_missing


def test_no_two_parts_share_a_content(datasets):
    for dataset in datasets.values():
        digests = [content.sha256 or content.git_blob for file in dataset.files for content in file.contents]
        assert len(digests) == len(set(digests))


def test_an_unknown_name_is_answered_with_the_nearest(datasets):
    with pytest.raises(InputError, match="did you mean mq2008"):
        datasets["mq208"]
    with pytest.raises(InputError, match="unknown file"):
        datasets["mq2008"].file("../../etc/passwd")


@pytest.mark.parametrize("name", ["../up", "$(touch x)", "a b", "it's", 'a"b', "", "-rf", "A"])
def test_odd_names_are_refused(datasets, tmp_path, name):
    with pytest.raises(InputError, match="unknown data set"):
        datasets[name]
    with pytest.raises(InputError, match="String should match"):
        load(written(tmp_path, {name: row()}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "Extra inputs"),
        ({"kind": "web"}, "kind"),
        ({"files": [{"name": "../x"}]}, "not a path inside"),
        ({"files": [{"name": "/etc/passwd"}]}, "not a path inside"),
        ({"files": [{"name": "a", "mirror": "x/../../y"}]}, "not a path inside"),
        ({"files": [{"name": "a"}, {"name": "a"}]}, "two files are called a"),
        ({"files": []}, "has files unless"),
        ({"instruction": None}, "instruction"),
        ({"files": [{"name": "a", "urls": ["https://a.example/a"]}]}, "an address without sha256"),
        ({"files": [{"name": "a", "urls": ["http://a.example/a"]}]}, "not an https address"),
        ({"files": [{"name": "a", "urls": ["file:///etc/passwd"]}]}, "not an https address"),
        ({"archives": [{"name": "a.zip", "urls": ["https://a.example/a.zip"]}]}, "an address without sha256"),
        ({"files": [{"name": "a", "contents": [{"sha256": "12"}]}]}, "String should match"),
        ({"files": [{"name": "a", "contents": [{"size": 3}]}]}, "either by sha256 or by git_blob"),
        ({"files": [{"name": "a", "contents": [{"sha256": "0" * 64, "size": 0}]}]}, "greater than 0"),
        ({"files": [{"name": "a", "archive": "b.zip", "member": "a"}]}, "there is no archive b.zip"),
        ({"files": [{"name": "a", "member": "a"}]}, "go together"),
        ({"reference_feature": 3, "n_features": 2}, "not among the features"),
    ],
)
def test_a_faulty_row_is_refused_with_its_place(tmp_path, changes, message):
    with pytest.raises(InputError, match=message) as caught:
        load(written(tmp_path, {"mine": row(**changes)}))
    assert "mine" in str(caught.value)
    assert "datasets.yaml" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["a: {kind: letor\n", "- 1\n", "a: 1\n", "a: {}\na: {}\n", "!!python/name:os.system\n"]
)
def test_a_file_that_is_no_table_is_refused(tmp_path, text):
    path = tmp_path / "datasets.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"datasets\.yaml"):
        load(path)


def test_the_mirror_must_be_a_folder(tmp_path, monkeypatch):
    assert mirror_root() is None
    monkeypatch.setenv("QDRANK_MIRROR", str(tmp_path))
    assert mirror_root() == tmp_path
    with pytest.raises(InputError, match="not a folder"):
        mirror_root(tmp_path / "nowhere")


def test_what_is_available_is_told_with_its_reason(datasets, tmp_path):
    assert not available(datasets["mq2007"], downloads=tmp_path)
    assert "by hand" in available(datasets["mq2007"], downloads=tmp_path).reason
    assert available(datasets["cranfield"], downloads=tmp_path).downloadable
    assert available(datasets["sim1"], downloads=tmp_path).present


def test_an_unpacked_package_is_found_where_it_lies(datasets, tmp_path):
    folder = tmp_path / "mq2007" / "MQ2007"
    for fold in range(1, 6):
        (folder / f"Fold{fold}").mkdir(parents=True)
        (folder / f"Fold{fold}" / "test.txt").touch()
    places = status(datasets["mq2007"], downloads=tmp_path)
    assert places["S1.txt"].path == folder / "Fold2" / "test.txt"
    assert available(datasets["mq2007"], downloads=tmp_path).present


def test_asking_imports_nothing_heavy(project):
    code = (
        "import sys; from qdrank.datasets import sources;from qdrank.datasets.fetching import presence;"
        "[presence.available(d) for d in sources.load().values()];"
        "print(*sorted({'numpy', 'pandas', 'pyarrow', 'urllib.request', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env={"PYTHONPATH": "src"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.mirror
@pytest.mark.parametrize("name", MIRRORED)
def test_the_mirror_holds_what_the_table_says(datasets, mirror, tmp_path, name):
    dataset = datasets[name]
    for file in dataset.files:
        assert find(mirror / file.mirror)
        assert locate(dataset, file.name, mirror=mirror, downloads=tmp_path / "none").kind == "mirror"
        path = fetch(dataset, file.name, tmp_path, mirror=mirror, downloads=tmp_path / "none")
        assert path == tmp_path / file.name
        assert path.stat().st_size in [content.size for content in file.contents]


@pytest.mark.mirror
def test_either_line_ends_are_accepted(datasets, mirror, tmp_path):
    dataset: Dataset = datasets["mq2008"]
    path = fetch(dataset, "S1.txt", tmp_path, mirror=mirror)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    check(path, dataset.file("S1.txt"))
    path.write_bytes(path.read_bytes() + b"\r\n")
    with pytest.raises(InputError, match="not the content"):
        check(path, dataset.file("S1.txt"))


@pytest.mark.mirror
@pytest.mark.parametrize(("name", "features"), [("ohsumed-min", 45), ("ohsumed-letor2", 25)])
def test_the_reference_feature_is_the_bm25_of_the_whole(datasets, mirror, tmp_path, name, features):
    """LETOR gives BM25 and, as the next feature, its logarithm: for title, abstract, and last both together."""
    path = fetch(datasets[name], "S1.txt", tmp_path, mirror=mirror)
    rows = [line.split("#")[0].split()[2:] for line in path.read_text().splitlines()[:300]]
    values = [[float(pair.partition(":")[2]) for pair in pairs] for pairs in rows]
    logarithms = []
    for feature in range(1, features):
        pairs = [(row[feature - 1], row[feature]) for row in values if row[feature - 1] > 0]
        if len(pairs) > 100 and all(abs(math.log(value) - after) < 1e-3 for value, after in pairs):
            logarithms.append(feature)
    assert datasets[name].reference_feature == logarithms[-1]
