"""Files that appear complete or not at all, whoever else writes them."""

from pathlib import Path

import pytest

from qdrank.store import atomic_path, write_text


def test_the_later_of_two_writers_wins_and_the_earlier_changes_nothing(tmp_path: Path) -> None:
    """A job that was taken for dead still runs, and its successor writes the same file."""
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "a.txt") as slow:
        slow.write_text("early")
        write_text(tmp_path / "a.txt", "late")
    assert (tmp_path / "a.txt").read_text() == "late"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_file_has_the_folder_and_the_suffix(tmp_path: Path) -> None:
    """Rename works within one file system only, and pictures get their format from the suffix."""
    with atomic_path(tmp_path / "new" / "a.svg") as partial:
        assert partial.parent == tmp_path / "new"
        assert partial.suffix == ".svg"
        assert partial.name.startswith(".")
        partial.write_text("x")


def test_a_name_with_pattern_characters_removes_no_file_of_another(tmp_path: Path) -> None:
    other = tmp_path / ".a1.txt.xyz.partial.txt"
    other.write_text("another writer's")
    write_text(tmp_path / "a[1].txt", "mine")
    write_text(tmp_path / "a*.txt", "mine")
    assert other.exists()


def test_text_is_utf8_with_lf_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "γ\nλ\n")
    assert (tmp_path / "a.txt").read_bytes() == "γ\nλ\n".encode()
