"""Bots as people name them, and what they hear when that goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from arena_server.launching import archive
from arena_server.launching.bots import example_bots, resolve
from arena_server.launching.digest import digest
from arena_server.launching.manifest import Manifest
from arena_server.model import Entrant, UserError

MANIFEST = """\
name = "tidy"
version = "0.3"
command = ["python", "bot.py", "--quick"]

[options]
c = 1.4
playouts = 200
quick = false
book = "small"
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    return write(tmp_path / "tidy", {"bot.toml": MANIFEST, "bot.py": "print('hello')\n"})


def refused(text: object) -> str:
    with pytest.raises(UserError) as caught:
        resolve(str(text))
    assert caught.value.exit_code == 2
    return str(caught.value)


# --- the manifest


def test_a_manifest_says_everything(tidy: Path) -> None:
    more = 'start_limit = "2m"\ngames_at_once = 4\nrestart = "per_game"\nfiles = ["*.py"]\n'
    (tidy / "bot.toml").write_text(more + MANIFEST)
    assert Manifest.read(tidy) == Manifest(
        name="tidy",
        version="0.3",
        command=("python", "bot.py", "--quick"),
        start_limit_us=120_000_000,
        games_at_once=4,
        restart="per_game",
        files=("*.py",),
        options=(("book", "small"), ("c", 1.4), ("playouts", 200), ("quick", False)),
    )


def test_a_manifest_needs_little(tidy: Path) -> None:
    (tidy / "bot.toml").write_text('name = "t"\nversion = "1"\ncommand = ["./t"]\n')
    assert Manifest.read(tidy) == Manifest("t", "1", ("./t",), 30_000_000, 1, "never", (), ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('nmae = "x"', "bot.toml, line 1: unknown key: 'nmae' - did you mean name? known keys: command, files, "),
        ("[option]\nc = 1", "bot.toml, line 1: unknown key: 'option' - did you mean options?"),
        ('x.y = "x"', "line 1: unknown key: 'x'"),
        ('name = "x"\nversion = "1"', "bot.toml: a key is missing: 'command' - add a line: command = ["),
        ('name = "a b"', "bot.toml, line 1: wrong name: 'a b' - a name is 1 to 64 of"),
        ('name = ".."', "wrong name"),
        (f'name = "{"x" * 65}"', "wrong name"),
        ("name = 7", "wrong name: 7"),
        ("\nname = x", "bot.toml is not TOML: Invalid value (at line 2, column 8) - mend that line"),
        ('\nname="x"\nversion = 0.1', "line 3: wrong version: 0.1 - a version is text, in quotes"),
        ('version = "1 2"', "wrong version: '1 2'"),
        ("command = []", "line 1: wrong command: [] - a command is a list of words"),
        ('command = "python bot.py"', "wrong command: 'python bot.py' - a command is a list of words"),
        ('command = ["a\\u0000"]', "zero byte"),
        (
            "start_limit = 30",
            "wrong start_limit: 30 - a start limit is a duration with its unit, in quotes: start_limit",
        ),
        ('start_limit = "30"', "wrong start_limit: '30'"),
        ('start_limit = "10s+1s"', "wrong start_limit"),
        ('start_limit = "none"', "wrong start_limit"),
        ('start_limit = "0s"', "wrong start_limit"),
        ("games_at_once = 0", "wrong games_at_once: 0 - games_at_once is a whole number from 1 to 1000"),
        ("games_at_once = true", "wrong games_at_once: True"),
        ('restart = "always"', "wrong restart: 'always'"),
        ('files = "*.py"', "wrong files: '*.py' - files is a list of globs"),
        ("options = 3", "wrong options: 3 - options is a table"),
        ("[options]\na = 1\nb = [1]", "bot.toml, line 3: not an option: b = [1] - a default is text, a finite number"),
        ("[options]\nb = inf", "line 2: not an option: b = inf"),
        ('[options]\n"a b" = 1', "line 2: not an option: 'a b'"),
    ],
)
def test_a_wrong_manifest_is_told_with_its_line(tidy: Path, text: str, words: str) -> None:
    (tidy / "bot.toml").write_text(text)
    assert words in refused(tidy)


def test_a_manifest_that_is_no_text_is_told(tidy: Path) -> None:
    (tidy / "bot.toml").write_bytes(b"name = '\xff'")
    assert "bot.toml is not UTF-8 text" in refused(tidy)


# --- what a person types


def test_a_folder_with_a_manifest_is_a_bot(tidy: Path) -> None:
    bot = resolve(str(tidy))
    defaults = (("book", "small"), ("c", 1.4), ("playouts", 200), ("quick", False))
    assert bot.entrant == Entrant("tidy", "0.3", digest(tidy), defaults)
    assert (bot.label, bot.folder) == ("tidy 0.3", tidy)
    assert bot.argv() == [sys.executable, "bot.py", "--quick"]
    assert bot.command_line() == f"cd {tidy} && {sys.executable} bot.py --quick"


def test_a_bot_may_bring_its_own_python(tidy: Path) -> None:
    write(tidy, {".venv/bin/python": ""})
    assert resolve(str(tidy)).argv()[0] == str(tidy / ".venv" / "bin" / "python")


def test_a_folder_with_a_script_and_a_script_alone_are_bots(tmp_path: Path) -> None:
    folder = write(tmp_path / "plain", {"bot.py": "", "other.py": ""})
    assert resolve(str(folder)).argv() == [sys.executable, "bot.py"]
    assert resolve(str(folder)).label == "plain 0"
    script = resolve(str(folder / "other.py"))
    assert (script.label, script.folder, script.argv()) == ("other 0", folder, [sys.executable, "other.py"])


def test_options_take_the_type_of_their_defaults(tidy: Path) -> None:
    bot = resolve(f"{tidy}:c=2,quick=true,book=a=b:c")
    assert bot.options == (("book", "a=b:c"), ("c", 2.0), ("playouts", 200), ("quick", True))
    assert [type(value) for _, value in bot.options] == [str, float, int, bool]


def test_options_of_a_script_are_taken_as_they_look(tmp_path: Path) -> None:
    write(tmp_path, {"one.py": ""})
    bot = resolve(f"{tmp_path}/one.py:a=1,b=1.5,c=true,d=x,e=nan")
    assert bot.options == (("a", 1), ("b", 1.5), ("c", True), ("d", "x"), ("e", "nan"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "playout=3",
            "unknown option of tidy 0.3: 'playout' - did you mean playouts? its options: book, c, playouts, q",
        ),
        ("playouts=1.5", "wrong value for playouts of tidy 0.3: '1.5' - give a whole number"),
        ("c=inf", "wrong value for c of tidy 0.3: 'inf' - give a finite number"),
        ("quick=1", "wrong value for quick of tidy 0.3: '1' - give true or false"),
        ("c=1,quick", "options of tidy 0.3 are name=value, with a comma between: 'quick'"),
        ("c=1,", "are name=value"),
    ],
)
def test_wrong_options_are_told(tidy: Path, options: str, words: str) -> None:
    assert words in refused(f"{tidy}:{options}")


def test_example_bots_are_known_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [bot.manifest.name for bot in example_bots()]
    assert {"random", "greedy", "planner", "mcts"} <= set(names)
    assert names == sorted(names)
    assert resolve("greedy") in example_bots()
    assert dict(resolve("mcts:c=1").options)["c"] == 1.0


def test_a_path_wins_over_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy").mkdir()
    assert "a folder without bot.toml or bot.py" in refused("greedy")
    assert "for the example bot, run the command from another folder" in refused("greedy")
    write(tmp_path / "greedy", {"bot.py": ""})
    assert resolve("greedy").folder == tmp_path / "greedy"


@pytest.mark.parametrize("text", ["gredy", "", "no/such/bot", "a\0b", "x" * 5000, "greedy:fast", ":c=1"])
def test_what_is_no_bot_is_told_with_those_that_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    words = refused(text)
    assert words.startswith("no such bot: ")
    assert "example bots: greedy, mcts, planner, random" in words
    assert ("did you mean greedy?" in words) == text.startswith("gre")
    assert ("bot:name=value" in words) == (":" in text)


def test_other_files_are_no_bots(tmp_path: Path) -> None:
    write(tmp_path, {"notes.txt": "", "my bot.py": "", "sub/nothing": ""})
    assert "not a bot" in refused(tmp_path / "notes.txt")
    assert "not a name for a bot: 'my bot'" in refused(tmp_path / "my bot.py")
    assert "without bot.toml or bot.py" in refused(tmp_path / "sub")


# --- the digest


def test_the_digest_is_of_what_counts_and_nothing_else(tidy: Path, tmp_path: Path) -> None:
    before = digest(tidy)
    write(tidy, {".venv/lib/x.py": "", "__pycache__/bot.pyc": "", ".git/x": "", "sub/__pycache__/x": "", "x.pyc": ""})
    os.utime(tidy / "bot.py", (1, 1))
    assert digest(tidy) == before
    assert digest(tidy.rename(tmp_path / "moved")) == before
    (tmp_path / "moved" / "bot.py").write_text("print('hullo')\n")
    assert digest(tmp_path / "moved") != before


def test_the_digest_is_the_same_on_every_machine(tmp_path: Path) -> None:
    write(tmp_path, {"bot.py": "one\n", "sub/ä.txt": "two\n", "sub.txt": ""})
    assert digest(tmp_path) == "508a7acf605a13ee3b754c82182c9161ef677bf5aa2ead73f7ff4493863367f3"
    assert digest(tmp_path / "bot.py") == "bd3f4fc9fa5f6fd284dbc85b70ca591db83006c9d7ccbcc9a1274be6f76e7010"


def test_names_and_borders_of_files_count(tmp_path: Path) -> None:
    contents = [{"a": "xy", "b": ""}, {"a": "x", "b": "y"}, {"ax": "y", "b": ""}, {"a/b": "xy"}, {"a": "xy"}]
    digests = [digest(write(tmp_path / str(number), files)) for number, files in enumerate(contents)]
    assert len(set(digests)) == len(contents)


def test_links_count_as_links_and_are_never_followed(tidy: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"file": "1"})
    (tidy / "file").symlink_to(outside / "file")
    (tidy / "folder").symlink_to(outside)
    (tidy / "dangling").symlink_to("nowhere")
    (tidy / "loop").symlink_to(".")
    before = digest(tidy)
    (outside / "file").write_text("2")
    assert digest(tidy) == before
    (tidy / "dangling").unlink()
    (tidy / "dangling").symlink_to("elsewhere")
    assert digest(tidy) != before


def test_a_fifo_is_refused_and_not_opened(tidy: Path) -> None:
    os.mkfifo(tidy / "pipe")
    assert "neither a file, a folder nor a link" in refused(tidy)


@pytest.mark.parametrize(
    ("glob", "counts"),
    [
        ("*.py", {"bot.py"}),
        ("**/*.py", {"bot.py", "lib/a.py", "lib/deep/b.py"}),
        ("lib/*.py", {"lib/a.py"}),
        ("lib", {"lib/a.py", "lib/deep/b.py", "lib/w.bin"}),
        ("./lib/**", {"lib/a.py", "lib/deep/b.py", "lib/w.bin"}),
        ("lib/?.py", {"lib/a.py"}),
    ],
)
def test_globs_say_what_counts(tidy: Path, glob: str, counts: set[str]) -> None:
    names = {"bot.py", "lib/a.py", "lib/deep/b.py", "lib/w.bin"}
    write(tidy, dict.fromkeys(names, ""))
    before = digest(tidy, [glob])
    changed = set()
    for name in names:
        (tidy / name).write_text("changed")
        if digest(tidy, [glob]) != before:
            changed.add(name)
        (tidy / name).write_text("")
    assert changed == counts
    (tidy / "bot.toml").write_text(MANIFEST + "\n")
    assert digest(tidy, [glob]) != before


def test_a_glob_that_matches_nothing_is_told(tidy: Path) -> None:
    (tidy / "bot.toml").write_text('files = ["*.py", "wieghts/**"]\n' + MANIFEST)
    assert "bot.toml: a glob of files matches nothing: 'wieghts/**'" in refused(tidy)


# --- zips


def zipped(path: Path, members: dict[str, bytes | str], kind: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o755) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, content)
    return path


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("top", ["", "tidy-0.3/"])
def test_a_zip_is_the_folder_that_it_holds(tidy: Path, tmp_path: Path, top: str) -> None:
    script = (tidy / "bot.py").read_text()
    path = zipped(tmp_path / "bot.zip", {f"{top}bot.toml": MANIFEST, f"{top}bot.py": script})
    first, again = resolve(f"{path}:c=1"), resolve(f"{path}:c=1")
    assert first == again
    assert first.entrant == resolve(f"{tidy}:c=1").entrant
    assert os.access(first.folder / "bot.py", os.X_OK)


@pytest.mark.usefixtures("cache")
def test_a_zip_without_a_manifest_has_its_own_name(tmp_path: Path) -> None:
    assert resolve(str(zipped(tmp_path / "mine.zip", {"bot.py": ""}))).label == "mine 0"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("../evil", 0, "a file outside the bot's folder: '../evil'"),
        ("a/../../evil", 0, "a file outside the bot's folder"),
        ("/etc/evil", 0, "a file outside the bot's folder"),
        ("a\\..\\..\\evil", 0, "a file outside the bot's folder"),
        ("C:evil", 0, "a file outside the bot's folder"),
        ("link", 0o120000, "not a plain file: 'link'"),
        ("fifo", 0o010000, "not a plain file: 'fifo'"),
    ],
)
def test_an_unsafe_zip_is_refused_and_leaves_nothing(
    tmp_path: Path, cache: Path, name: str, kind: int, words: str
) -> None:
    assert words in refused(zipped(tmp_path / "evil.zip", {name: "/etc/passwd"}, kind))
    assert [*cache.rglob("*evil*"), *cache.rglob("part-*")] == []


def test_a_zip_bomb_is_stopped(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1 << 20)
    assert "is too large unpacked" in refused(zipped(tmp_path / "bomb.zip", {"a": b"\0" * (2 << 20)}))
    assert "too large" in refused(zipped(tmp_path / "two.zip", {"a": b"\0" * 900_000, "b": b"\0" * 900_000}))
    monkeypatch.setattr(archive, "MAX_FILES", 3)
    assert "holds too many files: 4" in refused(zipped(tmp_path / "many.zip", dict.fromkeys("abcd", "")))
    assert list((cache / "patchwork-arena" / "bots").iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_a_damaged_zip_is_told(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "bot.zip", {"bot.py": "print('hello')\n" * 100}).read_bytes()
    for number, content in enumerate([b"", b"no zip", whole[:-30], whole.replace(whole[40:60], b"x" * 20)]):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(content)
        assert "is not a zip that can be read" in refused(path)


@pytest.mark.usefixtures("cache")
def test_a_name_twice_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("bot.py", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("bot.py", "2")
    assert "the same file twice: 'bot.py'" in refused(path)


def test_a_command_may_begin_with_this_arena(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "t"\nversion = "1"\ncommand = ["arena", "bridge", "--", "./bot"]\n')
    (tmp_path / "typer.py").write_text("raise SystemExit('the wrong one')")
    first, *rest = resolve(str(tmp_path)).argv()
    assert rest[-3:] == ["bridge", "--", "./bot"]
    argv = [first, *rest[:-3], "version"]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.startswith("arena ")
