"""Where a report goes, and what it must leave alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command import arena as run
from here import Arena

from arena_server.model import UserError
from arena_server.report.folder import filled


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def foreign(name: str) -> None:
    Path("mine").mkdir()
    Path("mine", name).write_text("<p>theirs")


def test_other_files_of_a_folder_are_left_alone(arena: Arena) -> None:
    arena("report", "--out", "mine")
    Path("mine/notes.txt").write_text("kept")
    assert arena("report", "--out", "mine").code == 0
    assert Path("mine/notes.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (lambda: Path("mine").write_text("a file"), "the report needs a folder, this is a file: mine"),
        (partial(foreign, "standings.csv"), "something that is no report: mine"),
        (partial(foreign, "report.html"), "something that is no report: mine"),
        (lambda: Path("mine").symlink_to("nowhere"), "the report needs a folder, this is a file: mine"),
    ],
)
def test_what_is_not_ours_is_refused_and_kept(
    arena: Arena, prepare: Callable[[], object], told: str, tmp_path: Path
) -> None:
    prepare()
    before = everything(tmp_path)
    done = arena("report", "--out", "mine")
    assert done.code == 2
    assert told in done.err
    assert "choose another folder" in done.err
    assert everything(tmp_path) == before


def test_the_report_of_another_tournament_is_refused(arena: Arena) -> None:
    arena("report", "tiny", "--out", "mine")
    before = Path("mine/report.html").read_bytes()
    done = arena("report", "nightly", "--out", "mine")
    assert done.code == 2
    assert "the folder holds the report of tiny: mine" in done.err
    assert Path("mine/report.html").read_bytes() == before


def test_a_place_below_a_file_is_told(arena: Arena) -> None:
    Path("file").write_text("x")
    done = arena("report", "--out", "file/report")
    assert done.code == 2
    assert "cannot write the report (Not a directory" in done.err


def test_a_folder_that_may_not_be_written_is_told(arena: Arena) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    Path("locked").mkdir(mode=0o500)
    done = arena("report", "--out", "locked/report")
    assert done.code == 2
    assert "cannot write the report (Permission denied" in done.err


def test_a_report_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    with filled(tmp_path / "mine", "cup") as folder:
        (folder / "report.html").write_text(
            '<meta name="generator" content="patchwork-arena 1">\n<meta name="arena-tournament" content="cup">'
        )
        (folder / "games.csv").write_text("old")
    before = everything(tmp_path)
    with pytest.raises(RuntimeError):  # noqa: PT012, SIM117 - what a writer does
        with filled(tmp_path / "mine", "cup") as folder:
            (folder / "games.csv").write_text("new")
            raise RuntimeError
    assert everything(tmp_path) == before
    assert (tmp_path / "mine" / "games.csv").read_text() == "old"


def test_a_folder_in_the_way_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write"), filled(tmp_path / "mine", "cup") as folder:  # noqa: PT012
        (folder / "games.csv").write_text("new")
        (tmp_path / "mine" / "games.csv").mkdir(parents=True)
    assert (tmp_path / "mine" / "games.csv").is_dir()


def test_a_tournament_writes_its_report_at_the_end(tmp_path: Path) -> None:
    command = ("run-tournament", "random", "greedy", "--games", "2", "--time", "2s", "--report", "out")
    done = run(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "report: out/report.html, and beside it games.csv, records.jsonl, standings.csv" in done.stdout
    assert (tmp_path / "out/records.jsonl").read_text("utf-8").count("\n") == 2
    quiet = run(*command, "--json", cwd=tmp_path)
    assert "report: out/report.html" in quiet.stderr
    assert json.loads(quiet.stdout)["games"]["rated"] == 2


def test_a_tournament_is_not_begun_where_its_report_has_no_place(arena: Arena) -> None:
    Path("out").write_text("x")
    Path("spec.toml").write_text('bots = ["random", "greedy"]\nreport = "out"\n')
    before = arena("tournaments", "--json").json
    for given, place in (
        (["spec.toml"], "spec.toml, line 2, key report: "),
        (["random", "greedy", "--report", "out"], ""),
    ):
        done = arena("run-tournament", *given)
        assert done.code == 2
        assert done.err == f"arena: {place}the report needs a folder, this is a file: out - choose another folder\n"
    assert arena("tournaments", "--json").json == before
