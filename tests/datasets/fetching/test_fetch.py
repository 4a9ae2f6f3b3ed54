"""Getting files: from a server that behaves or not, from the mirror, from the user's hand."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import stat
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from tests.datasets.fetching import http_server as web

import qdrank.commands.datasets as listing
from qdrank.cli import main
from qdrank.datasets.fetching import download as progress
from qdrank.datasets.fetching.contents import git_blob
from qdrank.datasets.fetching.download import Expected, Patience, download
from qdrank.datasets.fetching.fetch import fetch, fetch_all
from qdrank.datasets.sources import Dataset
from qdrank.errors import InputError

BODY = bytes(range(256)) * 2000
QUICK = Patience(attempts=4, first_wait=0.01, longest_wait=0.02, timeout=2.0)
PAGE = b"<!DOCTYPE html>\n<html><head><title>Please accept our terms</title></head></html>"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def server(monkeypatch):
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)
    with web.running() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch):
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)


def get(url: str, folder: Path, *, body: bytes = BODY, sizes: tuple[int, ...] = (len(BODY),), patience=QUICK) -> Path:
    target = folder / "data.bin"
    download((url,), target, Expected((sha(body),), sizes), patience=patience, fix="do it by hand")
    return target


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_good_file_is_placed(server, tmp_path):
    path = get(server.serve("/f", web.whole(BODY)), tmp_path)
    assert path.read_bytes() == BODY
    assert left(tmp_path) == ["data.bin"]
    assert not stat.S_IMODE(path.stat().st_mode) & 0o022


@pytest.mark.parametrize(
    ("answer", "sizes", "said"),
    [
        (web.whole(BODY[::-1]), (len(BODY),), r"wrong checksum[\s\S]*do it by hand"),
        (web.whole(BODY[:1000]), (len(BODY),), "offers 1000 bytes, not 512000"),
        (web.whole(PAGE, Content_Type="text/html; charset=utf-8"), (), "web page instead of the data .Please accept"),
        (web.whole(PAGE, Content_Type="application/octet-stream"), (), "web page instead of the data .Please accept"),
        (web.unmeasured(BODY), (1000,), "gives more than 1000 bytes"),
    ],
)
def test_what_is_not_the_file_is_refused_at_once_and_not_kept(server, tmp_path, answer, sizes, said):
    with pytest.raises(InputError, match=said):
        get(server.serve("/f", answer), tmp_path, sizes=sizes)
    assert left(tmp_path) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answers",
    [
        (web.cut(BODY[::-1], 200_000, etag='"old"'), web.ranged(BODY)),  # it changed meanwhile
        (web.cut(BODY, 200_000), web.whole(BODY)),  # no ranges
        (web.failing(503), web.failing(500), web.whole(BODY)),
    ],
)
def test_a_file_is_taken_from_the_start_where_it_must_be(server, tmp_path, answers):
    assert get(server.serve("/f", *answers), tmp_path).read_bytes() == BODY
    assert len(server.asked) >= len(answers)


def test_a_file_that_stays_truncated_is_refused_and_kept_for_later(server, tmp_path):
    url = server.serve("/f", web.cut(BODY, 1000))
    with pytest.raises(InputError, match="broke off after 4000 of 512000 bytes"):
        get(url, tmp_path)
    assert left(tmp_path) == ["data.bin.part"]
    assert get(server.serve("/f", web.ranged(BODY)), tmp_path).read_bytes() == BODY
    assert server.asked[-1][1]["Range"] == "bytes=4000-"
    assert left(tmp_path) == ["data.bin"]


def test_404_is_refused_at_once(server, tmp_path):
    with pytest.raises(InputError, match="answered 404 Not Found"):
        get(server.url("/nothing"), tmp_path)
    assert left(tmp_path) == []
    assert len(server.asked) == 1


def test_a_redirect_is_followed(server, tmp_path):
    server.serve("/f", web.whole(BODY))
    assert get(server.serve("/old", web.redirect(server.url("/f"))), tmp_path).read_bytes() == BODY


def test_a_redirect_loop_ends(server, tmp_path):
    url = server.serve("/a", web.redirect(server.url("/b")))
    server.serve("/b", web.redirect(server.url("/a")))
    with pytest.raises(InputError, match="infinite loop"):
        get(url, tmp_path)
    assert left(tmp_path) == []
    assert len(server.asked) < 10


@pytest.mark.parametrize("to", ["http://192.0.2.1/f", "file:///etc/passwd", "ftp://192.0.2.1/f"])
def test_a_redirect_off_https_is_refused(server, tmp_path, to):
    with pytest.raises(InputError, match=r"not https|not allowed"):
        get(server.serve("/f", web.redirect(to)), tmp_path)


def test_a_cut_download_is_resumed(server, tmp_path):
    url = server.serve("/f", web.cut(BODY, 200_000), web.ranged(BODY))
    assert get(url, tmp_path).read_bytes() == BODY
    assert server.asked[1][1]["Range"] == "bytes=200000-"
    assert server.asked[1][1]["If-Range"] == '"v1"'


def test_a_foreign_part_is_thrown_away(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(b"what is this")
    assert get(server.serve("/f", web.ranged(BODY)), tmp_path).read_bytes() == BODY
    assert [headers.get("Range") for _, headers in server.asked] == ["bytes=12-", None]


@pytest.mark.parametrize("extra", [b"", b"more than there is"])
def test_a_part_with_nothing_left_to_get(server, tmp_path, extra):
    (tmp_path / "data.bin.part").write_bytes(BODY + extra)
    url = server.serve("/f", web.failing(416), web.whole(BODY)) if extra else server.url("/nothing")
    assert get(url, tmp_path).read_bytes() == BODY


def test_retries_end(server, tmp_path):
    with pytest.raises(InputError, match="answered 503"):
        get(server.serve("/f", web.failing(503)), tmp_path)
    assert len(server.asked) == QUICK.attempts


def test_a_stalled_server_is_left_and_asked_again(server, tmp_path):
    hasty = Patience(attempts=3, first_wait=0.01, timeout=0.3)
    url = server.serve("/f", web.slow(BODY, 2, 1.0), web.whole(BODY))
    assert get(url, tmp_path, patience=hasty).read_bytes() == BODY


def test_nobody_there(tmp_path):
    with pytest.raises(InputError, match="did not answer"):
        get("http://127.0.0.1:9/f", tmp_path)
    assert left(tmp_path) == []


def test_the_next_address_is_tried(server, tmp_path):
    urls = (server.url("/nothing"), server.serve("/page", web.whole(PAGE)), server.serve("/f", web.whole(BODY)))
    download(urls, tmp_path / "data.bin", Expected((sha(BODY),)), patience=QUICK)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_two_processes_take_turns(server, tmp_path, project):
    url = server.serve("/f", web.slow(BODY, 4, 0.05))
    code = (
        "import sys, pathlib; from qdrank.datasets.fetching.download import Expected, download;"
        "download((sys.argv[1],), pathlib.Path(sys.argv[2]), Expected((sys.argv[3],)))"
    )
    command = [sys.executable, "-c", code, url, str(tmp_path / "data.bin"), sha(BODY)]
    processes = [subprocess.Popen(command, cwd=project, env={"PYTHONPATH": "src"}) for _ in range(2)]
    assert [process.wait(30) for process in processes] == [0, 0]
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert left(tmp_path) == ["data.bin"]
    assert len(server.asked) == 1


def test_a_killed_download_is_continued(server, tmp_path, project):
    url = server.serve("/f", web.slow(BODY, 2, 1.0), web.ranged(BODY))
    code = (
        "import sys, pathlib; from qdrank.datasets.fetching.download import Expected, download;"
        "download((sys.argv[1],), pathlib.Path(sys.argv[2]), Expected(('0' * 64,)))"
    )
    command = [sys.executable, "-c", code, url, str(tmp_path / "data.bin")]
    process = subprocess.Popen(command, cwd=project, env={"PYTHONPATH": "src"})
    part = tmp_path / "data.bin.part"
    limit = time.monotonic() + 20
    while time.monotonic() < limit and not (part.exists() and part.stat().st_size):
        time.sleep(0.02)
    process.kill()
    process.wait(10)
    kept = part.stat().st_size
    assert 0 < kept < len(BODY)
    assert get(url, tmp_path).read_bytes() == BODY
    assert server.asked[-1][1]["Range"] == f"bytes={kept}-"
    assert left(tmp_path) == ["data.bin"]


def made(**changes: object) -> Dataset:
    base = {"name": "mine", "kind": "letor", "title": "t", "publisher": "p", "licence": "ask us", "citation": "c"}
    more = {"max_label": 2, "folds": "split", "instruction": "Go there and accept.", "page": "https://a.example/"}
    return Dataset.model_validate({**base, **more, **changes})


def known(content: bytes) -> list[dict[str, object]]:
    return [{"sha256": sha(content), "size": len(content)}]


TEXT = b"1 qid:1 1:0.5 #docid = a\n" * 50


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_the_mirror_comes_first_compressed_or_not(server, tmp_path, suffix, pack):
    url = server.serve("/f", web.whole(TEXT))
    dataset = made(files=[{"name": "train.txt", "mirror": "a/train.txt", "contents": known(TEXT), "urls": [url]}])
    (tmp_path / "mirror" / "a").mkdir(parents=True)
    (tmp_path / "mirror" / "a" / f"train.txt{suffix}").write_bytes(pack(TEXT))
    path = fetch(dataset, "train.txt", tmp_path / "out", mirror=tmp_path / "mirror", downloads=tmp_path / "down")
    assert path.read_bytes() == TEXT
    assert server.asked == []
    assert left(tmp_path / "out") == ["train.txt"]


@pytest.mark.parametrize(
    "content", [lzma.compress(TEXT[:-1] + b"x"), lzma.compress(TEXT)[:-20], b"junk", lzma.compress(TEXT * 9)]
)
def test_a_spoilt_mirror_is_told(tmp_path, content):
    dataset = made(files=[{"name": "train.txt", "mirror": "train.txt", "contents": known(TEXT)}])
    (tmp_path / "train.txt.xz").write_bytes(content)
    with pytest.raises(InputError, match=r"train\.txt\.xz: (not the content|cannot be read|more than)"):
        fetch(dataset, "train.txt", tmp_path / "out", mirror=tmp_path, downloads=tmp_path / "down")
    assert left(tmp_path / "out") == []


def test_a_file_is_downloaded_when_no_mirror_has_it(server, tmp_path):
    url = server.serve("/f", web.whole(TEXT))
    dataset = made(files=[{"name": "sub/train.txt", "contents": known(TEXT), "urls": [url]}])
    path = fetch(dataset, "sub/train.txt", downloads=tmp_path, patience=QUICK)
    assert path == tmp_path / "mine" / "sub" / "train.txt"
    assert fetch(dataset, "sub/train.txt", downloads=tmp_path, patience=QUICK).read_bytes() == TEXT
    assert len(server.asked) == 1


def archived(folder: Path) -> bytes:
    (folder / "a.txt").write_bytes(TEXT)
    (folder / "b.txt").write_bytes(TEXT * 2)
    with tarfile.open(folder / "set.tar.gz", "w:gz") as package:
        package.add(folder / "a.txt", "a.txt")
        package.add(folder / "b.txt", "deep/b.txt")
    return (folder / "set.tar.gz").read_bytes()


def test_an_archive_is_downloaded_once_and_opened(server, tmp_path):
    (tmp_path / "made").mkdir()
    package = archived(tmp_path / "made")
    url = server.serve("/set.tar.gz", web.whole(package, Content_Encoding="gzip"))
    dataset = made(
        archives=[{"name": "set.tar.gz", "sha256": sha(package), "size": len(package), "urls": [url]}],
        files=[
            {"name": "a.txt", "archive": "set.tar.gz", "member": "a.txt", "contents": known(TEXT)},
            {"name": "b.txt", "archive": "set.tar.gz", "member": "deep/b.txt"},
            {"name": "c.txt", "archive": "set.tar.gz", "member": "c.txt", "optional": True},
        ],
    )
    paths = fetch_all(dataset, tmp_path / "out", downloads=tmp_path / "down", patience=QUICK)
    assert [path.read_bytes() for path in paths.values()] == [TEXT, TEXT * 2]
    assert len(server.asked) == 1
    assert left(tmp_path / "out") == ["a.txt", "b.txt"]
    assert left(tmp_path / "down") == ["set.tar.gz"]


def test_an_archive_by_hand_is_checked(tmp_path):
    (tmp_path / "mine").mkdir()
    package = archived(tmp_path / "mine")
    row = {"name": "b.txt", "archive": "set.tar.gz", "member": "deep/x.txt"}
    (tmp_path / "mine" / "b.txt").unlink()
    dataset = made(archives=[{"name": "set.tar.gz", "sha256": sha(package + b"x")}], files=[row])
    with pytest.raises(InputError, match="not the archive that is known"):
        fetch(dataset, "b.txt", downloads=tmp_path)
    dataset = made(archives=[{"name": "set.tar.gz", "sha256": sha(package)}], files=[row])
    with pytest.raises(InputError, match=r"no member deep/x\.txt"):
        fetch(dataset, "b.txt", downloads=tmp_path)


def test_a_set_behind_a_licence_page_answers_with_the_instruction(tmp_path):
    dataset = made(files=[{"name": "train.txt", "contents": known(TEXT)}], licence_page="https://a.example/licence")
    with pytest.raises(InputError, match="you must fetch it yourself") as caught:
        fetch(dataset, "train.txt", downloads=tmp_path)
    for words in ("Go there and accept.", "https://a.example/licence", str(tmp_path / "mine"), "ask us"):
        assert words in str(caught.value)


def test_a_file_by_hand_is_checked(tmp_path):
    dataset = made(files=[{"name": "train.txt", "contents": known(TEXT), "also": ["Fold1/t.txt"]}], folders=["Pack"])
    path = tmp_path / "mine" / "Pack" / "Fold1" / "t.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT)
    assert fetch(dataset, "train.txt", tmp_path / "out", downloads=tmp_path).read_bytes() == TEXT
    path.write_bytes(TEXT[:-1])
    with pytest.raises(InputError, match=r"t\.txt: not the content that is known as train\.txt"):
        fetch(dataset, "train.txt", tmp_path / "out2", downloads=tmp_path)
    assert left(tmp_path / "out2") == []


def test_an_unknown_content_is_accepted_once_with_a_warning(tmp_path):
    dataset = made(files=[{"name": "train.txt"}])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.txt").write_bytes(TEXT)
    with pytest.warns(UserWarning, match=f"accepted as it is, sha256 {sha(TEXT)}"):
        fetch(dataset, "train.txt", downloads=tmp_path)
    assert left(tmp_path) == ["train.txt", "train.txt.sha256"]
    fetch(dataset, "train.txt", downloads=tmp_path)
    (tmp_path / "mine" / "train.txt").write_bytes(TEXT * 2)
    with pytest.raises(InputError, match="not the one that was first accepted"):
        fetch(dataset, "train.txt", downloads=tmp_path)


def test_git_blob_ids(tmp_path):
    path = tmp_path / "hello"
    path.write_bytes(b"hello\n")
    assert git_blob(path) == "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
    path.write_bytes(b"hello\r\n")
    assert git_blob(path, unix=True) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert git_blob(path) != "ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_a_file_known_by_its_git_blob(tmp_path, monkeypatch, ends):
    monkeypatch.setattr("qdrank.datasets.fetching.contents._CHUNK", 26)  # a CR and its LF fall into different blocks
    size = len(TEXT)
    blob = hashlib.sha1(b"blob %d\0" % size + TEXT).hexdigest()
    dataset = made(files=[{"name": "train.txt", "contents": [{"git_blob": blob}]}])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.txt").write_bytes(TEXT.replace(b"\n", ends))
    assert fetch(dataset, "train.txt", downloads=tmp_path).is_file()
    (tmp_path / "mine" / "train.txt").write_bytes(TEXT + ends)
    with pytest.raises(InputError, match="not the content"):
        fetch(dataset, "train.txt", downloads=tmp_path)


@pytest.mark.parametrize("odd", ["with space", "it's", 'say "x"', "$(touch evil)", "a;b", "-rf", "ünï"])
def test_odd_folder_names_are_just_names(server, tmp_path, odd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = server.serve("/f", web.whole(TEXT))
    dataset = made(files=[{"name": "train.txt", "contents": known(TEXT), "urls": [url]}])
    assert fetch(dataset, "train.txt", Path(odd) / "out", downloads=Path(odd) / "down", patience=QUICK).is_file()
    assert sorted(os.listdir(tmp_path)) == [odd]


def test_a_file_name_from_the_user_is_looked_up_not_followed(tmp_path):
    dataset = made(files=[{"name": "train.txt"}])
    with pytest.raises(InputError, match="unknown file of mine"):
        fetch(dataset, "../../train.txt", tmp_path)


def test_the_listing(tmp_path, capsys):
    assert main(["datasets", "--downloads", str(tmp_path)]) == 0
    table = capsys.readouterr().out
    assert "mq2008" in table
    assert "must be fetched by hand" in table
    assert main(["datasets", "mq2007", "--downloads", str(tmp_path)]) == 0
    full = capsys.readouterr().out
    assert "MQ2007.rar" in full
    assert full.splitlines()[2].split() == ["kind", "letor"]
    assert str(tmp_path / "mq2007") in full


def test_the_listing_as_json(tmp_path, capsys):
    assert main(["datasets", "cranfield", "--json", "--downloads", str(tmp_path)]) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["downloadable"] is True
    assert one["files"][0]["found"] is None
    assert main(["datasets", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(listing.load())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_line_every_ten_seconds(clock: list[float]) -> None:
    out = io.StringIO()
    shown = progress.Progress("set.zip", 4_000_000, out)
    for second in range(25):
        clock[0] = 100.0 + second
        shown.tell(second * 100_000)
    shown.close(4_000_000)
    assert out.getvalue().splitlines() == [
        "qdrank: set.zip  25 % of 4.0 MB",
        "qdrank: set.zip  50 % of 4.0 MB",
        "qdrank: set.zip 100 % of 4.0 MB",
    ]


def test_a_terminal_shows_one_line_that_changes(clock: list[float]) -> None:
    out = Terminal()
    shown = progress.Progress("a", None, out)
    for step in range(4):
        clock[0] = 100.0 + 0.15 * step
        shown.tell(step * 1_000_000)
    shown.close(3_500_000)
    assert out.getvalue() == "\rqdrank: a 0.0 MB\rqdrank: a 2.0 MB\rqdrank: a 3.5 MB\n"
