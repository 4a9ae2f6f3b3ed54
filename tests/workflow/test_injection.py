"""Names and paths are data: no shell, no page and no folder elsewhere takes them for anything else."""

import re
from pathlib import Path

import pytest

from qdrank.errors import InputError
from qdrank.workflow.config_files import resolve
from tests.workflow.project import Project, copy_project

BAD_NAMES = [
    "",
    "a" * 65,
    *[
        "a b",
        "a;touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "it's",
        'say "a"',
        "..",
        "../a",
        "a/b",
        "/etc/passwd",
        "-rf",
        "a\nb",
        "a\x00b",
        "{dataset}",
        "*",
        "ü",
    ],
]
# What a shell, a glob or a template would trip over. Braces and the like are for the name of a file, not of a folder.
FOLDER = 'it\'s a "study" $(touch pwned) & `touch pwned`; #1'
FILE = "my 'own' \"data\" $(touch pwned) ; touch pwned & * [1] ü.txt"
TITLE = "<script>alert(1)</script> & \\input{secrets} $x_1$ | `b`"


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_plain_word_is_refused(name: str) -> None:
    own = {name: {"kind": "simulated", "like": "sim1"}}
    with pytest.raises(InputError):
        resolve({"datasets": [name], "own": own})


@pytest.fixture
def hostile(project: Path, tmp_path: Path) -> Project:
    return copy_project(project, tmp_path / FOLDER)


@pytest.mark.full
def test_own_files_may_be_called_anything(hostile: Project) -> None:
    rows = [
        f"{d % 3} qid:$(touch${{IFS}}pwned){q} 1:{d / 7:.3f} 2:{q}.5 #docid = d;{d}\n"
        for q in range(10)
        for d in range(6)
    ]
    (hostile.folder / FILE).write_text("".join(rows))
    quoted = FILE.replace("'", "''")
    (hostile.folder / "mine.yaml").write_text(
        f"datasets: [mine]\nown:\n  mine:\n    kind: letor\n    files: {{all: '{quoted}'}}\n    reference: 1\n"
        f"    title: '{TITLE}'\n"
    )
    targets = ("results/mine/tables/data-summary.html", "results/overview.html")
    hostile.snakemake(*targets, "--cores", "2", "--configfile", "mine.yaml")
    assert not list(hostile.folder.rglob("pwned*"))
    for page in [hostile.folder / target for target in targets]:
        assert "<script>alert" not in page.read_text()
    tex = (hostile.folder / "results/mine/tables/data-summary.tex").read_text()
    assert not re.search(r"(?<!\\textbackslash)\\input\{secrets", tex)


def test_what_a_file_says_is_refused_before_anything_runs(hostile: Project) -> None:
    (hostile.folder / "mine.yaml").write_text("datasets: !!python/object/apply:os.system ['touch pwned']\n")
    printed = hostile.snakemake("--dry-run", "--configfile", "mine.yaml", check=False)
    assert "not valid" in printed
    assert not list(hostile.folder.rglob("pwned*"))
