"""Bots that fail in every way: one clear line, the right ending, and every other game goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from command import arena, bot, games, script

RAW = """
    import os
    import queue
    import grpc
    from arena.v1 import referee_pb2 as pb, referee_pb2_grpc

    outbox = queue.Queue()
    say = lambda **message: outbox.put(pb.PlayRequest(**message))
    channel = grpc.insecure_channel(os.environ["ARENA_ADDRESS"])
    stub = referee_pb2_grpc.RefereeStub(channel)
    say(hello=pb.Hello(protocol_min=1, protocol_max=1, games_at_once=1, {hello}))
    token = (("authorization", "Bearer " + os.environ["ARENA_TOKEN"]),)
    for response in stub.Play(iter(outbox.get, None), metadata=token):
        kind = response.WhichOneof("message")
        if kind == "game_started":
            say(ready=pb.Ready(handle=response.game_started.handle))
        if kind == "move_request":
            ask = response.move_request
            {answer}
        if kind == "goodbye":
            break
    outbox.put(None)
"""


NEVER_READY = """
    from arena_sdk import Bot

    class Slow(Bot):
        def on_start(self):
            import time; time.sleep(3600)

    Slow.main()
"""
LOAD_FAILS = """
    from arena_sdk import Bot

    class Bad(Bot):
        @classmethod
        def load(cls, options):
            raise OSError("no model")

    Bad.main()
"""


@pytest.fixture
def good(tmp_path: Path) -> list[str]:
    return [bot(tmp_path, "good"), bot(tmp_path, "fine", "return state.legal_moves()[-1]")]


def play_with(tmp_path: Path, good: list[str], broken: str, *, failures: int = 4) -> list[dict]:  # type: ignore[type-arg]
    """A round-robin of two good bots and a broken one; checks what must hold whatever is broken."""
    done = arena("run-tournament", *good, broken, "--games", "2", "--time", "400ms", "--concurrency", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout
    records = games(tmp_path)
    assert len(records) == 6
    fair = [record for record in records if not record["blamed"]]
    bad = [record for record in records if record["blamed"]]
    assert len(bad) == failures
    assert {record["termination"] for record in fair} == {"normal"}
    for record in bad:
        loser = "ab".index(record["blame"])
        assert record["seats"][loser]["bot"] not in ("good", "fine")
        assert record["winner"] == "ab"[1 - loser]
        assert record["failed"]["reason"].rpartition("the last time: ")[2] in done.stderr
    return bad


def endings(records: list[dict]) -> set[str]:  # type: ignore[type-arg]
    return {record["termination"] for record in records}


@pytest.mark.parametrize(
    ("body", "ending", "reply"),
    [
        ("return 'hello'", "illegal_move", "hello"),
        ("return None", "illegal_move", ""),
        ("return 42", "illegal_move", "42"),
        ("return 'K0i9'", "illegal_move", "K0i9"),
    ],
)
def test_nonsense_answers(tmp_path: Path, good: list[str], body: str, ending: str, reply: str) -> None:
    bad = play_with(tmp_path, good, bot(tmp_path, "bad", body))
    assert endings(bad) == {ending}
    for record in bad:
        assert record["failed"]["reply"] == reply
        assert record["failed"]["position"]


@pytest.mark.parametrize(
    "body", ["raise ValueError('no idea')", "import sys; sys.exit('no idea')", "raise KeyboardInterrupt('no idea')"]
)
def test_a_bot_that_raises_is_told_with_its_traceback(tmp_path: Path, good: list[str], body: str) -> None:
    bad = play_with(tmp_path, good, bot(tmp_path, "bad", body))
    assert endings(bad) == {"crash"}
    assert all("no idea" in record["failed"]["reason"] for record in bad)
    shown = arena("games", "show", bad[0]["id"], cwd=tmp_path)
    assert "Traceback" in shown.stdout
    assert "bad.py" in shown.stdout


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("import os; os._exit(7)", "exit status 7"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
    ],
)
def test_a_bot_that_exits(tmp_path: Path, good: list[str], body: str, how: str) -> None:
    bad = play_with(tmp_path, good, bot(tmp_path, "bad", body))
    assert endings(bad) == {"crash"}
    assert all(record["failed"]["reason"] == how for record in bad)
    assert all(record["failed"]["seconds"] < 5 for record in bad)


@pytest.mark.parametrize("body", ["import time; time.sleep(3600)", "while True: pass"])
def test_a_bot_that_hangs_costs_its_clock(tmp_path: Path, good: list[str], body: str) -> None:
    began = time.monotonic()
    bad = play_with(tmp_path, good, bot(tmp_path, "bad", body))
    assert endings(bad) == {"timeout"}
    assert all("of 400 ms" in record["failed"]["reason"] for record in bad)
    assert time.monotonic() - began < 50


def test_a_late_answer_loses_and_the_bot_plays_on(tmp_path: Path, good: list[str]) -> None:
    body = "import time; time.sleep(0.6 if state.time(self.seat) > 9 else 0); return state.legal_moves()[0]"
    bad = play_with(tmp_path, good, bot(tmp_path, "bad", body))
    assert endings(bad) == {"timeout"}
    assert all(record["moves"] for record in bad)


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        ('say(move=pb.Move(handle="another", ply=ask.ply, move=">"))', "timeout"),
        ('say(move=pb.Move(handle=ask.handle, ply=ask.ply + 1, move=">"))', "timeout"),
        ("say()", "protocol_error"),
        ("say(hello=pb.Hello())", "protocol_error"),
        ("say(resign=pb.Resign(handle=ask.handle))", "resign"),
        ('say(move=pb.Move(handle=ask.handle, ply=ask.ply, move="x" * 60000))', "illegal_move"),
        (
            'say(move=pb.Move(handle=ask.handle, ply=ask.ply, move="x" * 90000))',
            "disconnect",
        ),  # its stream is cut, then it exits
        ("channel.close(); import time; time.sleep(3600)", "disconnect"),
    ],
    ids=["wrong game", "wrong ply", "empty", "second hello", "resigns", "long move", "too long", "closes"],
)
def test_a_client_that_breaks_the_protocol(tmp_path: Path, good: list[str], answer: str, ending: str) -> None:
    text = RAW.format(hello="", answer=answer)
    bad = play_with(tmp_path, good, script(tmp_path, "bad", text))
    assert endings(bad) <= ({ending, "crash"} if ending == "disconnect" else {ending})


def test_a_client_without_an_engine_is_told_everything(tmp_path: Path, good: list[str]) -> None:
    answer = "say(move=pb.Move(handle=ask.handle, ply=ask.ply, move=ask.legal_moves[0] if ask.position else '?'))"
    text = RAW.format(hello="observation_mode=pb.OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES", answer=answer)
    play_with(tmp_path, good, script(tmp_path, "plain", text), failures=0)


@pytest.mark.parametrize(
    ("text", "manifest", "words"),
    [
        ("", 'name = "bad"\nversion = "1"\ncommand = ["no-such-program"]\n', "no-such-program"),
        ("import sys; sys.exit('sorry')", "", "exit status 1 before it connected"),
        ("import time; time.sleep(3600)", 'start_limit = "1s"', "did not connect within its start limit of 1 s"),
        (RAW.format(hello='rules={"patchwork": "0"}', answer=""), "", "rules 0"),
        (NEVER_READY, 'start_limit = "3s"', "within its start limit"),
        (LOAD_FAILS, "", "no model"),
    ],
    ids=["no command", "exits", "never connects", "other rules", "never ready", "load fails"],
)
def test_a_bot_that_does_not_start(tmp_path: Path, good: list[str], text: str, manifest: str, words: str) -> None:
    bad = play_with(tmp_path, good, script(tmp_path, "bad", text, manifest))
    assert endings(bad) == {"start_failure", "forfeit"}  # the fourth one is not tried any more
    assert all(words in record["failed"]["reason"] for record in bad)
    boxes = [record["failed"]["box"] for record in bad if record["termination"] == "start_failure"]
    # It was asked nothing: times count from what it was told first.
    assert {box["messages"][0][:39] for box in boxes if box["messages"]} <= {"+0.000000 s to the bot: game_started { "}


def test_a_bot_that_never_starts_is_parked(tmp_path: Path, good: list[str]) -> None:
    broken = script(tmp_path, "bad", "import sys; sys.exit(1)")
    done = arena("run-tournament", *good, broken, "--games", "8", "--concurrency", "1", cwd=tmp_path)
    assert done.returncode == 0
    assert "bad 1 is parked and forfeits its remaining games" in done.stderr
    assert 3 <= done.stderr.count("loses by start failure") < 16  # some were tried before it was known
    records = games(tmp_path)
    assert sum(record["termination"] == "start_failure" for record in records) == 3
    forfeits = [record["failed"]["reason"] for record in records if record["termination"] == "forfeit"]
    assert len(forfeits) == 13
    assert all("it did not start 3 times in a row; the last time: exit status 1" in reason for reason in forfeits)


def test_two_bots_that_do_not_start_lose_both(tmp_path: Path) -> None:
    broken = [script(tmp_path, name, "import sys; sys.exit(1)") for name in ("one", "two")]
    done = arena("run-tournament", *broken, "--games", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [record["blamed"] for record in games(tmp_path)] == [["a", "b"]] * 2


def test_children_of_a_bot_go_with_it(tmp_path: Path, good: list[str]) -> None:
    """The fixture sees any that stay."""
    body = """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
        return state.legal_moves()[0]
    """
    done = arena("run-tournament", good[0], bot(tmp_path, "leaky", body), "--games", "2", "--time", "1s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


HEARS = """
    from arena_sdk import Bot

    class Hears(Bot):
        def choose(self, state, clock):
            return state.legal_moves()[0]

        def on_end(self, result):
            with open({path!r}, "a") as file:
                print(result.ending, result.won, file=file)

    Hears.main()
"""


@pytest.mark.parametrize(
    ("body", "ending"),
    [("import os; os._exit(1)", "crash"), ("while True: pass", "timeout"), ("return None", "illegal_move")],
)
def test_r9_the_survivor_hears_that_it_won(tmp_path: Path, body: str, ending: str) -> None:
    heard = tmp_path / "heard"
    survivor = script(tmp_path, "survivor", HEARS.format(path=str(heard)))
    done = arena("run-tournament", survivor, bot(tmp_path, "bad", body), "--games", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert heard.read_text().splitlines() == [f"{ending} True"] * 2


def test_a_bot_that_dies_while_its_answer_is_acted_upon(tmp_path: Path, good: list[str]) -> None:
    """Its stream breaks at any moment of the next request or of the result: no game hangs, nobody else is blamed."""
    body = """
        import os, threading
        threading.Timer(self.random.random() / 300, os._exit, (1,)).start()
        return state.legal_moves()[0]
    """
    done = arena("run-tournament", good[1], bot(tmp_path, "bad", body), "--games", "16", "--time", "5s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Task" not in done.stderr
    for record in games(tmp_path):
        assert record["termination"] == "crash"
        assert record["seats"]["ab".index(record["blame"])]["bot"] == "bad"
