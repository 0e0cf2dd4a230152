"""The spec file: what it may say, and what is told about every mistake in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from arena_server.coordinator import spec_file, spec_schema
from arena_server.coordinator.event import Event
from arena_server.coordinator.example_spec import example
from arena_server.coordinator.settings import BotEntry, ProbationTable, Settings
from arena_server.model import Probation, Spec, UserError

FULL = """
schema = 1
name = "cup"
format = "swiss"
games = 4
rounds = 2
edition = "revised"
seed = "s"
time = "10s+0.1s"
concurrency = 2
restart = "every game"
tags = ["nightly"]
db = "x.db"

[probation]
failures = 2
share = 0

[[bots]]
bot = "greedy"
owner = "Ada"
group = "blue"
tags = ["simple", "old"]

[[bots]]
bot = "mcts:c=1.5"
options = {playouts = 50}

[[bots]]
bot = "random"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    return path


def refused(path: Path) -> UserError:
    with pytest.raises(UserError) as error:
        Event.of(spec_file.read(path))
    return error.value


def test_all_that_it_may_say(tmp_path: Path) -> None:
    settings = spec_file.read(written(tmp_path, FULL))
    event = Event.of(settings)
    spec = event.spec
    assert (settings.name, settings.db, settings.tags) == ("cup", "x.db", ["nightly"])
    assert spec.probation == Probation(2, 0.0, "forfeit")
    assert (spec.format, spec.games, spec.rounds, spec.seed) == ("swiss", 4, 2, "s")
    assert (dict(spec.deals), str(spec.time_control), event.capacity) == ({"edition": "revised"}, "10s+0.1s", 2)
    assert [entrant.name for entrant in spec.entrants] == ["greedy", "mcts", "random"]
    assert {"c": 1.5, "playouts": 50}.items() <= dict(spec.entrants[1].options).items()
    assert {(bot.manifest.restart, bot.manifest.games_at_once) for bot in event.bots.values()} == {("per_game", 1)}
    assert settings.bots is not None
    assert (settings.bots[0].owner, settings.bots[0].group, settings.bots[0].tags) == ("Ada", "blue", ["simple", "old"])


def test_texts_and_tables_of_bots_may_stand_together(tmp_path: Path) -> None:
    path = written(tmp_path, 'bots = [\n  "greedy",\n  {bot = "mcts", options = {c = 2}},\n]\n')
    spec = Event.of(spec_file.read(path)).spec
    assert dict(spec.entrants[1].options)["c"] == 2.0


def test_the_command_line_overrides_it(tmp_path: Path) -> None:
    given = Settings.said({"games": 6, "format_": "match", "time": None, "bots": ["random", "greedy"], "new": True})
    both = given.over(spec_file.read(written(tmp_path, FULL.replace("rounds = 2\n", ""))))
    spec = Event.of(both).spec
    assert (spec.games, spec.format, spec.seed, len(spec.entrants)) == (6, "match", "s", 2)
    assert both.restart == "every game"


def test_a_mistake_on_the_command_line_names_no_line(tmp_path: Path) -> None:
    path = written(tmp_path, 'bots = ["greedy", "mcts"]\ngames = 4\n')
    with pytest.raises(UserError) as error:
        Event.of(Settings.said({"games": 5}).over(spec_file.read(path)))
    assert error.value.what == "number of games"


MISTAKES: dict[str, tuple[str, str]] = {
    # unknown keys at every level
    "\ngmaes = 2": ("line 2: unknown key: 'gmaes'", "did you mean games?"),
    "xyzzy = 2": ("line 1: unknown key: 'xyzzy'", "known keys: schema, name, bots"),
    '# owner\n[[bots]]\nbot = "mcts"\n[[bots]]\nbot = "greedy"\nonwer = "x"': (
        "line 6: unknown key: 'onwer'",
        "did you mean owner?",
    ),
    'bots = [\n"mcts",\n{bot = "greedy",xyzzy = 1}]': ("line 3: unknown key: 'xyzzy'", "known keys: bot, owner"),
    "[bot]\nname = 1": ("line 1: unknown key: 'bot'", "did you mean bots?"),
    # wrong types at every level
    'games = "2"': ("line 1: wrong games: '2'", "give a whole number: 10"),
    "games = true": ("line 1: wrong games: True", "give a whole number"),
    "games = 2.0": ("line 1: wrong games: 2.0", "give a whole number"),
    "time = 100": ("line 1: wrong time: 100", 'give a text: "100ms"'),
    "seed = 1979-05-27": ("line 1: wrong seed: datetime.date", "give a text"),
    '\nbots = "one.py"': ("line 2: wrong bots: 'one.py'", 'give a list: ["greedy", "mcts"]'),
    "[bots]\nbot = 1": ("line 1: wrong bots", "give a list"),
    'bots = [\n"greedy",\n3]': ("line 3: wrong bots: 3", "give a table"),
    'bots = [["greedy"]]': ("line 1: wrong bots: ['greedy']", "give a table"),
    "[[bots]]\nbot = 3": ("line 2: wrong bot: 3", "give a text"),
    "[[bots]]\nowner = 'x'": ("line 1: a key is missing: 'bot'", "add it"),
    "[[bots]]\nbot = 'mcts'\ntags = 'x'": ("line 3: wrong tags: 'x'", "give a list"),
    "[[bots]]\nbot = 'mcts'\ntags = [\n1]": ("line 4: wrong tags: 1", "give a text"),
    "[[bots]]\nbot = 'mcts'\n[bots.options]\nc = 1\nplayouts = [1]": (
        "line 5: wrong playouts: [1]",
        "give a text, a finite number, true or false",
    ),
    "[[bots]]\nbot = 'mcts'\noptions = {c = nan}": ("line 3: wrong c: nan", "finite"),
    "[[bots]]\nbot = 'mcts'\noptions = 3": ("line 3: wrong options: 3", "give a table"),
    "tags = [1]": ("line 1: wrong tags: 1", "give a text"),
    'restart = "per game"': ("line 1: wrong restart: 'per game'", 'give "never" or "every game"'),
    "probation = 3": ("line 1: wrong probation: 3", "give a table"),
    '[probation]\nfailures = "3"': ("line 2: wrong failures: '3'", "give a whole number: 3"),
    "[probation]\n\nfalures = 3": ("line 3: unknown key: 'falures'", "did you mean failures?"),
    '[probation]\nthen = "pardon"': ("line 2: wrong then: 'pardon'", 'give "forfeit" or "cancel"'),
    "probation = {failures = 3, share = nan}": ("line 1: wrong share: nan", "finite"),
    "probation.failures = 0": ("line 1, key probation.failures: not a number of failures: 0", "1 or more"),
    "[probation]\nfailures = 3\nshare = 1.5": ("line 3, key probation.share: not a share of games: 1.5", "0.1"),
    'format = "swiss"\n[probation]\nfailures = 1\nthen = "cancel"': ("line 4, key probation.then: ", "choose forfeit"),
    # versions
    "schema = 2\nxyzzy = 1": ("line 1: the spec is for a newer arena: schema 2", "this one reads schema 1"),
    "schema = 0": ("line 1: wrong schema: 0", "give 1"),
    'schema = "1"': ("line 1: wrong schema: '1'", "give 1"),
    # values that can be read, and fail
    "bots = []": ("line 1, key bots: too few bots: 0", "name at least 2 bots"),
    'bots = ["greedy"]': ("line 1, key bots: too few bots: 1", ""),
    '[[bots]]\nbot = "greedy"\n\n[[bots]]\nbot = "nobody"': ("line 4, key bots: no such bot: 'nobody'", "example bot"),
    'bots = ["greedy",\n"no/where"]': ("line 2, key bots: no such bot: 'no/where'", ""),
    'bots = ["greedy",\n"mcts",\n"greedy"]': ("line 3, key bots: the same bot twice: greedy", "name each bot once"),
    'bots = ["greedy",\n"mcts:d=2"]': ("line 2, key bots.options.d: unknown option of mcts", ""),
    "[[bots]]\nbot='mcts'\noptions.c = 'x'": ("line 3, key bots.options.c: wrong value for c", "give a finite number"),
    "[[bots]]\nbot='mcts:c=1.5'\n[bots.options]\nc = 2": (
        "line 4, key bots.options.c: two values for c of mcts",
        "say it once",
    ),
    '\ntime = "10+0.1"': ("line 2, key time: not a time control: '10+0.1'", "did you mean 10s+0.1s?"),
    'time = "none"': ("line 1, key time: a tournament needs a time control", "100ms"),
    'time = "1s/2s"': ("line 1, key time: a ply's limit is over the whole bank: '1s/2s'", ""),
    '\n\nedition = "first"': ("line 3, key edition: no such edition: 'first'", ""),
    'format = "swis"': ("line 1, key format: no such format: 'swis'", "did you mean swiss?"),
    "games = 5": ("line 1, key games: number of games: 5", "did you mean 4 or 6?"),
    "concurrency = 0": ("line 1, key concurrency: not a number of games to play at once: 0", "1 or more"),
    'editions = [\n"original",\n"first"]': ("line 3, key editions: no such edition: 'first'", ""),
    "editions = []": ("line 1, key editions: no editions: []", "name one"),
    'editions = ["original"]\nedition = "revised"': ("line 1, key editions: editions beside edition", "leave one"),
    # what contradicts
    'format = "swiss"\nchallengers = 1': ("line 2, key challengers: a swiss has no challengers: 1", "choose gauntlet"),
    "rounds = 3": ("line 1, key rounds: a round-robin has no rounds to choose: 3", "leave it out"),
    '\nname = "a/b"': ("line 2, key name: not a name for a tournament: 'a/b'", "letters"),
    'format = "swiss"\nrounds = 99': ("line 2, key rounds: number of rounds: 99", ""),
    'format = "gauntlet"\nchallengers = 99': ("line 2, key challengers: number of challengers: 99", ""),
    'format = "match"\nbots = ["greedy", "mcts", "random"]': ("line 2, key bots: a match is between 2 bots: 3", ""),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_names_file_line_and_key(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    error = refused(path)
    what, fix = MISTAKES[text]
    assert str(error).startswith(f"{path}, {what}"), error
    assert fix in error.fix
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"games = ", "the spec is not TOML"),
        (b"games = 1\ngames = 2", "(at line 2"),
        (b'name = "\xff"', "the spec is not UTF-8 text"),
        (b"x = " + b"[" * 5000, "the spec is not TOML"),
    ],
)
def test_what_is_no_spec_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_bytes(content)
    assert told in str(refused(path))


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert "No such file" in str(refused(tmp_path / "no.toml"))
    assert "Is a directory" in str(refused(tmp_path))


def test_an_empty_spec_is_the_default_tournament(tmp_path: Path) -> None:
    assert Event.of(spec_file.read(written(tmp_path, ""))).spec == Event.of(Settings()).spec


def test_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    path = written(tmp_path, 'bots = ["mine.py:x=1", "greedy"]')
    entrants: Any = Event.of(spec_file.read(path)).spec.entrants
    assert [entrant.name for entrant in entrants] == ["mine", "greedy"]


def test_the_shipped_schema_is_fresh() -> None:
    assert spec_schema.PATH.read_text("utf-8") == spec_schema.text(), "run: make spec-schema"


def test_the_example_plays_what_no_spec_plays(tmp_path: Path) -> None:
    settings = spec_file.read(written(tmp_path, example()))
    assert Event.of(settings).spec == Event.of(Settings()).spec
    assert (settings.restart, settings.name, settings.db, settings.seed, settings.tags) == ("never",) + (None,) * 4


def test_the_example_names_its_schema() -> None:
    first = example().splitlines()[0]
    assert first == f"#:schema {spec_schema.PATH.as_uri()}"


def test_every_key_of_the_example_is_valid_with_its_example(tmp_path: Path) -> None:
    """Also those that are commented out, each on its own."""
    head, tables = example().split("# A bot may be a table")
    for line in head.splitlines():
        if re.match(r"# \w+ = ", line):
            spec_file.read(written(tmp_path, line.removeprefix("# ")))
    bots = "\n".join(line.removeprefix("# ") for line in tables.splitlines()[1:])
    settings = spec_file.read(written(tmp_path, bots))
    assert settings.bots is not None
    assert settings.bots[0].model_fields_set == set(BotEntry.model_fields)


def keys_of(table: type[Any]) -> list[str]:
    return [field.alias or name for name, field in table.model_fields.items()]


def test_the_docs_tell_of_every_key() -> None:
    text = (Path(__file__).parents[3] / "docs" / "spec.md").read_text("utf-8")
    tables = re.findall(r"\| key[^\n]*\n\|[- |]*\n((?:\|[^\n]*\n)*)", text)
    told = [re.findall(r"^\| `(\w+)`", table, re.MULTILINE) for table in tables]
    assert told == [keys_of(Settings), keys_of(BotEntry), keys_of(ProbationTable)]


def test_the_schema_knows_the_same_keys() -> None:
    schema = json.loads(spec_schema.text())
    assert set(schema["properties"]) == set(keys_of(Settings))
    assert schema["additionalProperties"] is False
    assert "null" not in spec_schema.text()


def test_editions_are_taken_in_turn_unless_the_command_line_names_one(tmp_path: Path) -> None:
    file = spec_file.read(written(tmp_path, 'editions = ["revised", "original"]'))
    spec = Event.of(file).spec
    assert [dict(options) for options in spec.variants] == [{"edition": "revised"}, {"edition": "original"}]
    assert Spec.from_contract(spec.contract()) == spec
    one = Event.of(Settings.said({"edition": "revised"}).over(file)).spec
    assert (one.variants, dict(one.deals)) == ((), {"edition": "revised"})
