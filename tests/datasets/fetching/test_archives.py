import io
import random
import stat
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from qdrank.datasets.fetching import contents
from qdrank.datasets.fetching.contents import extract
from qdrank.errors import InputError


def tar(path: Path, *members: tuple[str | tarfile.TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as package:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            package.addfile(info, io.BytesIO(content))
    return path


def special(name: str, kind: bytes, link: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


def packed(path: Path, *members: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members:
            package.writestr(name, content)
    return path


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_named_members_come_out_of_a_tar(tmp_path, mode):
    archive = tar(tmp_path / "a.tar", ("./one.txt", b"1"), ("two.txt", b"2"), ("deep/three.txt", b"3"), mode=mode)
    extract(archive, {"one.txt": tmp_path / "x" / "1", "deep/three.txt": tmp_path / "x" / "3"})
    assert everything(tmp_path / "x") == ["1", "3"]
    assert (tmp_path / "x" / "3").read_bytes() == b"3"


def test_named_members_come_out_of_a_zip(tmp_path):
    archive = packed(tmp_path / "a.zip", ("set/one.txt", b"1" * 5000), ("set/two.txt", b"2"))
    extract(archive, {"set/one.txt": tmp_path / "x" / "1"})
    assert (tmp_path / "x" / "1").read_bytes() == b"1" * 5000
    assert everything(tmp_path / "x") == ["1"]


def test_a_wrapping_folder_does_no_harm(tmp_path):
    extract(packed(tmp_path / "a.zip", ("MSLR/Fold1/test.txt", b"1")), {"Fold1/test.txt": tmp_path / "1"})
    assert (tmp_path / "1").read_bytes() == b"1"


def test_a_missing_member_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no member b\.txt"):
        extract(packed(tmp_path / "a.zip", ("a.txt", b"1")), {"b.txt": tmp_path / "b.txt"})
    assert everything(tmp_path) == ["a.zip"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_inside_may_stand_but_is_not_unpacked(tmp_path, kind):
    archive = tar(tmp_path / "a.tar.gz", ("good.txt", b"1"), special("link", kind, "good.txt"))
    extract(archive, {"good.txt": tmp_path / "x"})
    with pytest.raises(InputError, match="not a regular file"):
        extract(archive, {"link": tmp_path / "y"})
    assert everything(tmp_path) == ["a.tar.gz", "x"]


def test_a_link_in_a_zip_is_not_unpacked(tmp_path):
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as package:
        package.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match="not a regular file"):
        extract(tmp_path / "a.zip", {"link": tmp_path / "x"})


@pytest.mark.parametrize("build", [tar, packed])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path, build):
    archive = build(tmp_path / "a.archive", ("one.txt", b"good"), ("./one.txt", b"evil"))
    with pytest.raises(InputError, match="2 members"):
        extract(archive, {"one.txt": tmp_path / "x"})


@pytest.mark.parametrize("build", [tar, packed])
def test_names_never_become_paths(tmp_path, build):
    extract(build(tmp_path / "a.archive", ("../../out.txt", b"1")), {"out.txt": tmp_path / "x"})
    assert everything(tmp_path) == ["a.archive", "x"]


@pytest.mark.parametrize("build", [tar, packed])
def test_a_bomb_is_stopped_early(tmp_path, build, monkeypatch):
    monkeypatch.setattr(contents, "_FREE", 1 << 16)
    archive = build(tmp_path / "a.archive", ("bomb.txt", bytes(8 << 20)))
    with pytest.raises(InputError, match="far more than its size"):
        extract(archive, {"bomb.txt": tmp_path / "x"})
    assert everything(tmp_path) == ["a.archive"]


def test_rar_is_refused_with_the_fix(tmp_path):
    (tmp_path / "a.rar").write_bytes(b"Rar!\x1a\x07\x00" + bytes(300))
    with pytest.raises(InputError, match="unrar x"):
        extract(tmp_path / "a.rar", {"a": tmp_path / "x"})


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"<html>" + bytes(400), b"PK\x03\x04broken", b"\x1f\x8bbroken", b"BZhbroken"]
)
def test_what_is_no_archive_is_told_so(tmp_path, content):
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(InputError, match="not a zip or tar archive"):
        extract(tmp_path / "a.bin", {"a": tmp_path / "x"})
    assert everything(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("build", [tar, packed])
def test_a_cut_archive_leaves_nothing(tmp_path, build):
    archive = build(tmp_path / "a.archive", ("one.txt", bytes(range(256)) * 400))
    archive.write_bytes(archive.read_bytes()[:-200])
    with pytest.raises(InputError, match="damaged"):
        extract(archive, {"one.txt": tmp_path / "x"})
    assert everything(tmp_path) == ["a.archive"]


def mangled(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bytes changed, lost or doubled, mostly in the headers at the start."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(min(len(data), 1200) if rng.random() < 0.7 else len(data))
        match rng.randrange(5):
            case 0:
                del data[at : at + rng.randint(1, 300)]
                data = data or bytearray(b"x")
            case 1:
                data[at:at] = data[at : at + rng.randint(1, 300)]
            case _:
                data[at] = rng.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2", "zip"])
def test_mangled_archives_are_bad_input_and_nothing_else(tmp_path, mode):
    rng = random.Random(mode)
    members = [("one.txt", rng.randbytes(700)), ("d/two.txt", b"hello " * 100), ("x" * 150, b"3"), ("\u00fc", b"4")]
    path = tmp_path / "a.archive"
    content = (packed(path, *members) if mode == "zip" else tar(path, *members, mode=mode)).read_bytes()
    for _ in range(60):
        path.write_bytes(mangled(content, rng))
        with suppress(InputError):
            extract(path, {"one.txt": tmp_path / "1", "d/two.txt": tmp_path / "2"})
    assert set(everything(tmp_path)) <= {"1", "2", "a.archive"}


def test_a_zip_that_points_to_nowhere_is_damaged(tmp_path):
    archive = packed(tmp_path / "a.zip", ("one.txt", b"1"))
    content = archive.read_bytes()
    entry = content.rindex(b"PK\x01\x02")  # its last field but the name is the place of the member
    archive.write_bytes(content[: entry + 42] + b"\xff\xff\xff\x7f" + content[entry + 46 :])
    with pytest.raises(InputError, match="damaged"):
        extract(archive, {"one.txt": tmp_path / "x"})
