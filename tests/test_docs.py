"""What the docs and messages name is there: commands with their options, make targets, files behind links."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
import typer

from arena_server.cli import COMMANDS, app
from arena_server.service.serving import Serving
from arena_server.service.settings import ServeSettings, read

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("example_bots/**/README.md")]
PAGES = [page for page in PAGES if "node_modules" not in page.parts]  # those of others
SOURCES = [*ROOT.glob("server/arena_server/**/*.py"), *ROOT.glob("sdk/arena_sdk/*.py")]

FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELLS = {"", "console", "sh"}
INDENTED = re.compile(r"^ {4}(.*)", re.MULTILINE)
SPAN = re.compile(r"`((?:arena |make |--)[^`]+)`")
BEFORE = re.compile(r"(?:[$#] |sudo -u \w+ |[A-Z_]+=\S+ )*(?:/\S+/bin/)?arena (?=[a-z-])")
AFTER = {"|", "&&", ">", "..."}
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def shown(page: Path) -> Iterator[str]:
    """What stands in a page's blocks for a shell, and in its spans of code."""
    text = page.read_text()
    if page.suffix == ".md":
        yield from (
            line for language, block in FENCED.findall(text) if language in SHELLS for line in block.split("\n")
        )
        text = FENCED.sub("", text)
        yield from INDENTED.findall(text)
        text = INDENTED.sub("", text)
    yield from (" ".join(span.split()) for span in SPAN.findall(text))


def given(line: str) -> list[str] | None:
    """The words that the line gives to `arena`; None where it is no such command."""
    found = BEFORE.match(line)
    if found is None:
        return None
    words = shlex.split(re.sub(r"[][]", "", line[found.end() :]), comments=True)
    return words[: next((place for place, word in enumerate(words) if word in AFTER), len(words))]


def refusal(words: list[str]) -> str | None:
    """Why the command line does not take these words, whatever their values; None where it does."""
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="arena")
    while hasattr(command, "get_command") and words and not words[0].startswith("-"):
        command = command.get_command(context, words.pop(0))
        if command is None:
            return "no such command"
        context = command.context_class(command, info_name=command.name, parent=context)
    why = None
    for more in ([], ["VALUE"]):  # docs may name an option without its value
        try:
            _, left, _ = command.make_parser(context).parse_args([*words, *more])
        except Exception as error:  # noqa: BLE001 - click's, or of the copy that newer typers bring
            why = str(getattr(error, "message", error))
        else:
            return f"nobody takes {left}" if left else None
    return why


def options(command: Any) -> set[str]:
    """All that it takes, and those below it."""
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    context = command.context_class(command, info_name="arena")
    below = [command.get_command(context, name) for name in getattr(command, "list_commands", lambda _: ())(context)]
    return own.union(*map(options, below))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_there(page: Path) -> None:
    refused = {line: refusal(words) for line in shown(page) if (words := given(line)) is not None}
    assert not {line: why for line, why in refused.items() if why}


def test_the_commands_that_messages_name_are_there() -> None:
    named = [line for source in SOURCES for line in shown(source)]
    refused = {line: refusal(words) for line in named if (words := given(line)) is not None}
    assert len(refused) > 20
    assert not {line: why for line, why in refused.items() if why}


def test_options_that_are_named_alone_are_there() -> None:
    known = options(typer.main.get_command(app)) | {"--help", "--force"}  # of deploy/backup.py
    named = {(page.name, line.split()[0]) for page in PAGES for line in shown(page) if line.startswith("--")}
    assert len(named) > 10
    assert not {(page, option) for page, option in named if option not in known}


def test_a_wrong_command_would_be_seen() -> None:
    assert refusal(["games", "lits"]) == "no such command"
    assert refusal(["games", "list", "--tuornament", "x"])
    assert refusal(["report", "a", "b"])
    assert refusal(["leaderboard", "--out"])
    assert refusal(["leaderboard", "--full", "--tag"]) is None
    assert refusal(["run-tournament", "a", "b", "--games", "20"]) is None


def test_every_command_is_told_of() -> None:
    named = {words[0] for page in PAGES for line in shown(page) if (words := given(line))}
    assert set(COMMANDS) - named <= {"version"}


def test_every_setting_of_a_server_is_told_of(tmp_path: Path) -> None:
    blocks = FENCED.findall((ROOT / "docs" / "serve.md").read_text())
    (block,) = (text for language, text in blocks if language == "toml")
    assert tomllib.loads(block).keys() == ServeSettings.model_fields.keys()
    path = tmp_path / "arena.toml"
    path.write_text(block)
    trustme.CA().issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    assert Serving.of(read(path, {"tls_cert": tmp_path / "both.pem", "tls_key": tmp_path / "both.pem"})).bots


def test_make_targets_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {line.split()[1] for page in PAGES for line in shown(page) if line.startswith("make ")}
    assert len(named) > 5
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
