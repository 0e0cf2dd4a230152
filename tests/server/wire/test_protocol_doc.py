"""docs/protocol.md says what the code does: names, numbers, limits, vectors and the dialogue."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from arena.v1 import referee_pb2 as pb
from arena_engine.game import find, parse_ply
from arena_sdk import session as client
from arena_sdk.stream import OPTIONS
from arena_server.launching import environment as launched
from arena_server.launching.bots import resolve
from arena_server.launching.manifest import Manifest
from arena_server.launching.trees import MARK
from arena_server.model import MARGIN_LAUNCHED_US, MARGIN_REMOTE_US
from arena_server.referee import blackbox, clocks, driver, match, players
from arena_server.wire.lobby import HELLO_LIMIT
from arena_server.wire.options import ENTRY_OVERHEAD, MAX_MESSAGE, MAX_METADATA, SERVER_OPTIONS
from arena_server.wire.session import SEND_S

ROOT = Path(__file__).parents[3]
DOC = (ROOT / "docs" / "protocol.md").read_text()
PROTO = (ROOT / "proto" / "arena" / "v1" / "referee.proto").read_text()
FILE = pb.DESCRIPTOR
MESSAGES = [name for name in FILE.message_types_by_name if not name.endswith("Entry")]
SERVER = {option.name: option.value for option in SERVER_OPTIONS}
STARTS = 30
"""Seconds of a start limit where bot.toml says nothing."""


def section(title: str) -> str:
    """The text below a heading of any level, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", DOC, re.DOTALL | re.MULTILINE)
    assert found, f"no section {title}"
    return found[1]


def rows(title: str) -> list[list[str]]:
    """The cells of the tables in a section, without headings and quotes."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    cells = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in lines]
    headings = {index for index, row in enumerate(cells[1:]) if set(row[0]) == {"-"}}
    return [row for index, row in enumerate(cells) if index not in headings and set(row[0]) != {"-"}]


def table(title: str) -> dict[str, list[str]]:
    return {first: rest for first, *rest in rows(title)}


def fields(message: str) -> list[tuple[str, str]]:
    """Name and type of each, as the .proto file writes them."""
    body = re.search(rf"^message {message} {{(?:}}|\n(.*?)^}})", PROTO, re.DOTALL | re.MULTILINE)
    assert body
    return [(name, kind) for kind, name in re.findall(r"^ +([\w<>, ]+) (\w+) = \d+;$", body[1] or "", re.MULTILINE)]


@pytest.mark.parametrize("message", MESSAGES)
def test_every_field_of_every_message(message: str) -> None:
    assert [name for name, _ in fields(message)] == list(FILE.message_types_by_name[message].fields_by_name)
    assert [(name, kind) for name, kind, *_ in rows(message)] == fields(message)


@pytest.mark.parametrize("name", FILE.enum_types_by_name)
def test_every_value_of_every_enum(name: str) -> None:
    values = [(value.name, value.number) for value in FILE.enum_types_by_name[name].values]
    assert [(row[0], int(row[1])) for row in rows(name)] == values


def test_every_observation_mode_and_every_failure_is_explained() -> None:
    assert list(table("The position"))[:4] == list(pb.ObservationMode.keys())
    own = {row[1] for row in rows("Only a seat that is asked can fail")}
    others = {"UNSPECIFIED", "NORMAL", "VOID", "ABANDONED", "FORFEIT"}
    assert own == set(pb.Ending.keys()) - {f"ENDING_{name}" for name in others}


def test_every_variable_of_a_launched_bot(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "t"\nversion = "1"\ncommand = ["./t"]\n')
    given = launched.environment(resolve(str(tmp_path)), "unix:/a", "token")
    assert list(table("What a bot is given")) == [name for name in given if name.startswith("ARENA_")]
    words = set(re.findall(r"`(\w+)`", section("What a bot is given")))
    assert {*launched._PASSED_ON, MARK, "OMP_NUM_THREADS"} <= words


def test_every_variable_of_a_bot_elsewhere() -> None:
    read = set(re.findall(r'"(ARENA_\w+)"', (ROOT / "sdk" / "arena_sdk" / "process.py").read_text()))
    example = set(re.findall(r"ARENA_\w+", (ROOT / "example_bots" / "languages" / "node" / "arena.js").read_text()))
    assert read == example | {"ARENA_TELL"}  # by which `arena join` hears of a Welcome and of games
    assert example - set(table("What a bot is given")) == set(table("A bot elsewhere"))


def seconds(value: float) -> str:
    return f"{value:g} s"


def test_every_limit_of_time() -> None:
    said = {name: cells[0] for name, *cells in rows("Time")}
    pings, patience = SERVER["grpc.keepalive_time_ms"] / 1e3, SERVER["grpc.http2.ping_timeout_ms"] / 1e3
    assert Manifest("a", "1", ()).start_limit_us == STARTS * 1_000_000
    assert said == {
        "Hello limit": seconds(HELLO_LIMIT),
        "start limit": seconds(STARTS),
        "move limit": "as the game's TimeControl says",
        "margin, launched bots": f"{MARGIN_LAUNCHED_US // 1000} ms",
        "margin, bots elsewhere": f"{MARGIN_REMOTE_US // 1000} ms",
        "absence in an untimed game": seconds(match.UNTIMED_ABSENCE),
        "half-open connections": seconds(pings + patience),
        "closest pings of a bot": seconds(SERVER["grpc.http2.min_ping_interval_without_data_ms"] / 1e3),
        "a late answer": seconds(players.LATE_REPLY),
        "a message that the bot does not take": seconds(SEND_S),
        "farewell": seconds(players.FAREWELL),
    }
    own = dict(OPTIONS)
    advice = f"ping after {own['grpc.keepalive_time_ms'] // 1000} s, wait {own['grpc.keepalive_timeout_ms'] // 1000} s"
    assert advice in section("Time")
    assert f"after {pings:g} s and waits {patience:g} s" in section("Time")
    assert (clocks.WALL_TIMES, clocks.WALL_EXTRA_US) == (3, 1_000_000)  # "three times the allowance and a second"
    assert f"more than {match.MAX_STALLED:g} s" in section("Only a seat that is asked can fail")
    delays = f"from {client.FIRST_DELAY_S * 1e3:g} ms up to {client.LAST_DELAY_S:g} s"
    assert delays in section("The session")
    assert f"for {client.PATIENCE_S:g} s" in section("The session")


def test_every_limit_of_size() -> None:
    said = {name: cells[0] for name, *cells in rows("Sizes")}
    bounds = {
        "a message from the bot": MAX_MESSAGE,
        "metadata of a call": MAX_METADATA,
        "streams on one connection": SERVER["grpc.max_concurrent_streams"],
        "log lines kept for a move": driver.MAX_LOG_LINES,
        "a traceback": match.MAX_EVIDENCE,
        "a refused reply": match.MAX_REPLY,
    }
    assert {name: int(re.sub(r"\D.*", "", said[name].replace(",", ""))) for name in bounds} == bounds
    assert f"of {driver.MAX_LOG_LINE} characters" in said["log lines kept for a move"]
    assert f"each entry with {ENTRY_OVERHEAD} more" in said["metadata of a call"]
    assert dict(OPTIONS)["grpc.max_receive_message_length"] == 1 << 20
    assert "allow 1 MiB" in said["a message from the arena"]
    assert (driver.KEPT_MESSAGES, blackbox.MAX_MESSAGE) == (4, 1000)
    assert "the last four messages each way (1,000 characters" in section("What is on record")


def test_what_to_do_at_a_goodbye_is_what_the_sdk_does() -> None:
    said = {row[0]: int(row[4]) for row in rows("GoodbyeCode")}
    does = {name: client._GOODBYES.get(code, (client.DONE, ""))[0] for name, code in pb.GoodbyeCode.items()}
    assert said == does


def test_what_to_do_at_a_status_is_what_the_sdk_does() -> None:
    said = {row[0]: row[2] for row in rows("How a stream ends without Goodbye")}
    assert set(said) <= {status.name for status in grpc.StatusCode}
    assert {name for name, what in said.items() if "leave" in what} == {status.name for status in client._REFUSALS}
    assert all("dial again" in what for name, what in said.items() if "leave" not in what)


def test_the_checksum_s_vectors() -> None:
    vectors = {row[0]: row[1] for row in rows("The position") if row[1].startswith("0x")}
    assert len(vectors) == 2
    assert {text: f"0x{zlib.crc32(text.encode()):08X}" for text in vectors} == vectors


def test_no_name_is_foreign() -> None:
    known = {*pb.Ending.keys(), *pb.GoodbyeCode.keys(), *pb.ObservationMode.keys()}
    known |= {status.name for status in grpc.StatusCode} | {MARK, "OMP_NUM_THREADS", *launched._PASSED_ON}
    known |= set(table("What a bot is given")) | set(table("A bot elsewhere"))
    assert set(re.findall(r"`([A-Z][A-Z_]{3,})`", DOC)) <= known
    assert set(re.findall(r"`arena\.v1\.(\w+)/(\w+)`", DOC)) == {("Referee", "Play")}


def said() -> list[pb.PlayRequest | pb.PlayResponse | None]:
    """The dialogue; None is where the stream is lost."""
    text = section("A dialogue").partition("```text\n")[2].partition("```")[0]
    kinds: dict[str, type[pb.PlayRequest | pb.PlayResponse]] = {">": pb.PlayRequest, "<": pb.PlayResponse}
    lines = [line.partition(" ") for line in text.splitlines()]
    return [json_format.Parse(rest, kinds[way]()) if way in kinds else None for way, _, rest in lines]


def test_the_dialogue_has_the_order_of_the_doc() -> None:
    kinds = [message.WhichOneof("message") if message else "lost" for message in said()]
    begin, asked = ["hello", "welcome", "game_started", "ready"], ["move_request", "move"]
    assert kinds == [*begin, *asked, "move_request", "lost", *begin, *asked, *asked, "game_over", "goodbye"]


def test_the_dialogue_is_a_game_by_the_rules() -> None:
    state: Any = None
    moves: list[str] = []
    for message in said():
        if isinstance(message, pb.PlayResponse) and message.HasField("game_started"):
            started = message.game_started
            assert list(started.plies[: len(moves)]) == moves
            state = find(started.game).start(dict(started.deal), len(started.seats))
            for ply in started.plies:
                state = state.play(parse_ply(state, ply))
        elif isinstance(message, pb.PlayResponse) and message.HasField("move_request"):
            asked = message.move_request
            for ply in asked.plies:
                state = state.play(parse_ply(state, ply))
            assert asked.position == state.text
            assert asked.checksum == zlib.crc32(state.text.encode())
            assert list(asked.legal_moves) == [str(move) for move in state.legal_moves(asked.seat)]
        elif isinstance(message, pb.PlayRequest) and message.HasField("move"):
            assert (message.move.handle, message.move.ply) == (asked.handle, asked.ply)
            assert message.move.move in asked.legal_moves
            moves = [f"{asked.seat} {message.move.move}"]
