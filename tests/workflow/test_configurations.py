import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from qdrank.errors import InputError
from qdrank.workflow.config_files import resolve
from tests.workflow.project import Project, copy_project

FIRST = "seed: 7\nown:\n  more: {kind: simulated, like: sim1, settings: {seed: 2}}\nlearners: {grids: {ranksvm: {lam: [1]}}}\n"
SECOND = "datasets: [more, simweb]\nlearners: {grids: {ranksvm: {lam: [2]}, listnet: {}}}\ngeng: {ks: [0.5]}\n"
OTHERS = {"empty own": ["datasets: [sim1]\nown:\n"], "none": []}


@pytest.fixture(scope="module")
def fresh(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_project(project, tmp_path_factory.mktemp("configurations"))


@pytest.mark.parametrize(
    "texts",
    [[FIRST, SECOND], *(pytest.param(texts, id=name, marks=pytest.mark.full) for name, texts in OTHERS.items())],
)
def test_the_check_prints_what_a_run_resolves(fresh: Project, texts: list[str]) -> None:
    names = [f"file{i}.yaml" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (fresh.folder / name).write_text(text)
    (fresh.folder / "results/config.yaml").unlink(missing_ok=True)
    given = ["--configfile", *names] if names else []
    fresh.snakemake("results/config.yaml", "--cores", "1", *given)
    check = [sys.executable, "-m", "qdrank.cli", "config", "check", *names]
    printed = subprocess.run(check, cwd=fresh.folder, capture_output=True, text=True, check=True).stdout
    assert yaml.safe_load(printed) == yaml.safe_load((fresh.folder / "results/config.yaml").read_text())


@pytest.mark.full
def test_a_folder_belongs_to_its_configuration_from_the_first_job_on(fresh: Project) -> None:
    """Whatever the target, and whether the configuration is named again or not."""
    judged, config = "results/sim1/judged.parquet", fresh.folder / "results/config.yaml"
    config.unlink(missing_ok=True)
    (fresh.folder / "first.yaml").write_text("datasets: [sim1]\nseed: 3\n")
    (fresh.folder / "second.yaml").write_text("datasets: [sim1]\nseed: 4\n")
    fresh.snakemake(judged, "--cores", "1", "--configfile", "first.yaml")
    before = (fresh.folder / judged).read_bytes()
    assert yaml.safe_load(config.read_text())["seed"] == 3
    printed = fresh.snakemake(judged, "--cores", "1")
    assert "begun with --configfile first.yaml; this run goes on with it" in printed
    assert "Nothing to be done" in printed
    assert "another run" in fresh.snakemake(judged, "--cores", "1", "--configfile", "second.yaml", check=False)
    default = "config/config.yaml", "--config", "datasets=[sim1]"
    assert "another run" in fresh.snakemake(judged, "--cores", "1", "--configfile", *default, check=False)
    assert (fresh.folder / judged).read_bytes() == before


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('geng={"lambda": [1]}', "--config: geng.lambda: unknown key; did you mean lambdas?"),
        ("seed=2", "mine.yaml: zah: unknown key; did you mean zha?"),
    ],
)
def test_a_mistake_is_put_down_to_the_file_or_the_command_line_that_has_it(fresh, given, says):
    """Snakemake's settings have the values of files among those of the command line."""
    wrong = "zah: {}\n" if says.startswith("mine") else ""
    (fresh.folder / "mine.yaml").write_text(f"seed: 3\ngeng: {{lambdas: [1]}}\n{wrong}")
    named = "--configfile", "mine.yaml", "--config", given
    printed = fresh.snakemake("results/config.yaml", "--dry-run", *named, check=False)
    assert says in printed
    assert not any(f"{other}: " in printed for other in ("config.yaml", "mine.yaml", "--config") if other not in says)


def test_a_data_set_may_have_any_name(fresh: Project) -> None:
    """Also that of a rule, or of a fold's folder; names that differ in a sign are different."""
    (fresh.folder / "results/config.yaml").unlink(missing_ok=True)
    names = ["method", "hoi-curve", "a-b", "a_b", "a.b", "all", "fold1"]
    own = {name: {"kind": "simulated", "like": "sim1", "settings": {"seed": i}} for i, name in enumerate(names)}
    (fresh.folder / "names.yaml").write_text(yaml.safe_dump({"datasets": names, "own": own}))
    planned = fresh.snakemake("learners", "runs", "--dry-run", "--configfile", "names.yaml")
    for name in names:
        assert f"output: results/{name}/fold1/runs\n" in planned


@pytest.mark.full
def test_the_target_of_a_study_runs_that_study(fresh: Project) -> None:
    (fresh.folder / "results/config.yaml").unlink(missing_ok=True)
    (fresh.folder / "one.yaml").write_text("datasets: [sim1]\n")
    planned = fresh.snakemake("geng", "--dry-run", "--quiet", "rules", "--configfile", "one.yaml")
    rules = set(re.findall(r"^([a-z]\w*) +\d+$", planned, re.MULTILINE))
    assert {"train_local", "claim_geng", "draw_geng_fig7"} <= rules
    others = r"decide_claims|write_index|\w+_(hoi|lin|zha|beyond)(_\w+)?"
    assert not {rule for rule in rules if re.fullmatch(others, rule)}


def test_no_core_is_refused_in_words(fresh: Project) -> None:
    printed = fresh.snakemake("results/config.yaml", "--cores", "0", check=False)
    assert "--cores 0 leaves no core to run on; use --cores all" in printed
    assert "Traceback" not in printed


def test_a_method_that_is_left_out_is_not_trained(fresh: Project) -> None:
    (fresh.folder / "results/config.yaml").unlink(missing_ok=True)
    (fresh.folder / "lean.yaml").write_text("datasets: [sim1]\ngeng: {trees: null}\n")
    planned = fresh.snakemake("geng", "--dry-run", "--quiet", "rules", "--configfile", "lean.yaml")
    assert "train_local" in planned
    assert "train_lambdamart" not in planned


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
