"""The match state machine, under a simulated clock."""

from __future__ import annotations

import random

import pytest
import tiny_game
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation import MARGIN_US, Script, Simulation, assignment

from arena_engine.game import Game
from arena_engine.patchwork import GAME
from arena_server.model import FAILURES, Ending, Result
from arena_server.referee.clocks import Now
from arena_server.referee.events import (
    Ask,
    Dismissed,
    Event,
    Exited,
    Failed,
    Lost,
    Malformed,
    NotSeated,
    Ready,
    Replied,
    Resigned,
    Returned,
    Seated,
    Ticked,
    Unseated,
)
from arena_server.referee.match import Match


def legal(simulation: Simulation, ask: Ask) -> str:
    moves = simulation.match.state.legal_moves(ask.seat)
    return str(random.Random(ask.ply).choice(moves))


def plays(delay: float = 0.01) -> Script:
    return lambda simulation, ask: [(delay, Replied(ask.seat, ask.ply, legal(simulation, ask)))]


def stalls(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
    simulation.stall(0.15)
    return plays()(simulation, ask)


def at_ply(ply: int, script: Script, otherwise: Script | None = None) -> Script:
    usual = otherwise or plays()
    return lambda simulation, ask: (script if ask.ply >= ply else usual)(simulation, ask)


def run(control: str = "100ms", game: Game = GAME, **seats: Script) -> tuple[Simulation, Result]:
    letters = "ab" if game is GAME else "abc"
    scripts = {letter: seats.get(letter, plays()) for letter in letters}
    simulation = Simulation(game, assignment(game, control, len(letters)), scripts)
    return simulation, simulation.run()


def events(*happenings: Event) -> Script:
    return lambda _simulation, _ask: [(0.01, event) for event in happenings]


def test_a_game_ends_by_the_rules() -> None:
    simulation, result = run()
    assert result.ending is Ending.NORMAL
    assert result.outcome == simulation.match.state.outcome
    assert len(result.moves) == len(simulation.match.plies)
    assert simulation.overs == [result]


def test_an_answer_before_its_request_starts_no_clock_afterwards() -> None:
    match = Match(assignment(GAME, "100ms", 2), GAME, (MARGIN_US,) * 2, "", Now(100.0))

    def answer(seat: str, at: float) -> None:
        move = match.state.legal_moves(seat)[0]
        match.on(Replied(seat, match.ply, str(move)), Now(at))

    for seat in "ab":
        match.on(Seated(seat, 130.0), Now(100.0))
    for seat in "ab":
        match.on(Ready(seat), Now(100.0))
    mover = match.asking
    answer(mover, 100.0)  # a guess
    match.asked(mover, Now(100.1))  # the request leaves
    while match.asking != mover:
        match.asked(match.asking, Now(101.0))
        answer(match.asking, 101.05)
    match.asked(mover, Now(102.0))
    answer(mover, 102.05)
    assert match.seats[mover].failure is None
    assert match._moves[-1].used_us == 50_000


def test_a_seat_whose_process_was_gone_before_is_seated_once_more() -> None:
    """However long the new process takes: its start limit is its own."""
    again: list[tuple[float, Event]] = [
        (0.1, Seated("a", 102.0)),
        (0.2, Lost("a")),
        (0.3, Unseated("a")),
        (5.0, Seated("a", 110.0)),
        (5.1, Ready("a")),
    ]
    simulation = Simulation(GAME, assignment(GAME, "100ms", 2), dict.fromkeys("ab", plays()), {"a": again})
    assert simulation.run().ending is Ending.NORMAL
    assert [begin.seat for begin in simulation.begins] == ["a", "b", "a"]


def test_a_process_that_we_take_away_voids_its_other_games() -> None:
    for ply in (0, 3):
        _, result = run(b=at_ply(ply, events(Dismissed("a"))))
        assert (result.ending, result.outcome, result.failures) == (Ending.VOID, None, ())
        assert result.reason == "the process of seat a hung in another game"


def test_requests_carry_just_the_plies_that_the_seat_has_not_seen() -> None:
    simulation, _ = run()
    for seat in "ab":
        asks = [ask for _, ask in simulation.asks if ask.seat == seat]
        told = [ply for ask in asks for ply in ask.plies]
        assert told == simulation.match.plies[: asks[-1].ply]


@pytest.mark.parametrize(
    ("trouble", "ending"),
    [
        (events(Exited("a", "exit status 1", "stderr")), Ending.CRASH),
        (events(Failed("a", "Traceback\nValueError: no\n")), Ending.CRASH),
        (events(Malformed("a", "nonsense")), Ending.PROTOCOL_ERROR),
        (events(Resigned("a")), Ending.RESIGN),
        (lambda _s, ask: [(0.01, Replied("a", ask.ply, "K9z9"))], Ending.ILLEGAL_MOVE),
        (lambda _s, ask: [(0.01, Replied("a", ask.ply, ""))], Ending.ILLEGAL_MOVE),
        (events(), Ending.TIMEOUT),
        (plays(0.16), Ending.TIMEOUT),
        (events(Lost("a")), Ending.DISCONNECT),
    ],
)
def test_a_seat_that_fails_loses_and_is_blamed(trouble: Script, ending: Ending) -> None:
    simulation, result = run(a=at_ply(4, trouble))
    assert result.ending is ending
    assert result.blamed == ("a",)
    assert result.outcome is not None
    assert result.outcome.ranks == (2, 1)
    failure = result.failures[0]
    assert failure.position == simulation.match.state.text
    assert failure.ply == len(simulation.match.plies) == len(result.moves)
    assert failure.reason


@pytest.mark.parametrize(
    ("delay", "ending"), [(0.149, Ending.NORMAL), (0.151, Ending.TIMEOUT)], ids=["inside", "outside"]
)
def test_the_margin_is_forgiven_and_no_more(delay: float, ending: Ending) -> None:
    _, result = run(a=plays(delay))
    assert result.ending is ending


def test_r4_an_overrun_within_the_margin_never_makes_the_remaining_time_negative() -> None:
    simulation, _ = run("200ms+0s", a=plays(0.03))
    assert simulation.match.seats["a"].clock.bank_us == 0
    assert simulation.match.seats["a"].clock.left_us(simulation.now()) == 0


def test_a_bank_that_is_used_up_loses() -> None:
    _, result = run("200ms+0s", a=plays(0.06))
    assert result.ending is Ending.TIMEOUT
    assert [move.seat for move in result.moves].count("a") == 4  # 60 ms each, the fourth within the margin


def test_a_bank_gets_its_increment() -> None:
    simulation, result = run("1s+0.02s", a=plays(0.02))
    assert result.ending is Ending.NORMAL
    assert simulation.match.seats["a"].clock.bank_us == 1_000_000


def test_f9_only_a_seat_that_is_asked_can_fail() -> None:
    """What befalls a waiting seat is judged when it is next asked."""

    def other_dies(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        return [(0.001, Exited("b", "exit status 1")), (0.01, Replied(ask.seat, ask.ply, legal(simulation, ask)))]

    simulation, result = run(a=other_dies)
    assert result.blamed == ("b",)
    last = [ask for _, ask in simulation.asks][-1]
    assert last.seat == "a"  # b's turn came, and it was judged without being asked


def test_f7_a_bot_that_dies_after_its_last_move_loses_nothing() -> None:
    def dies_when_done(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        reply = Replied(ask.seat, ask.ply, legal(simulation, ask))
        state = simulation.match.state
        over = state.play({ask.seat: state.parse_move(reply.move, ask.seat)}).is_over
        return [(0.01, reply), *([(0.01, Exited(ask.seat, "exit status 1"))] if over else [])]

    _, result = run(a=dies_when_done, b=dies_when_done)
    assert result.ending is Ending.NORMAL


def test_stale_repeated_and_foreign_replies_never_touch_the_game() -> None:
    def noisy(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        reply = Replied(ask.seat, ask.ply, legal(simulation, ask))
        junk = [Replied(ask.seat, ply, ">") for ply in (ask.ply - 1, ask.ply + 1, 999)]
        other = Replied("b" if ask.seat == "a" else "a", ask.ply, ">")
        return [*((0.001, event) for event in (*junk, other)), (0.01, reply), (0.01, reply), (0.02, reply)]

    quiet, expected = run()
    _, result = run(a=noisy, b=noisy)
    assert result.ending is Ending.NORMAL
    assert [move.move for move in result.moves] == [move.move for move in expected.moves]
    assert quiet.match.state.text == result.position


def test_f8_a_lost_stream_that_returns_in_time_goes_on_with_the_same_ply() -> None:
    asked: list[int] = []

    def blinks(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        asked.append(ask.ply)
        if asked.count(ask.ply) == 1 and ask.ply == 6:
            return [(0.01, Lost("a")), (0.05, Returned("a")), (0.06, Ready("a"))]
        return [(0.01, Replied(ask.seat, ask.ply, legal(simulation, ask)))]

    simulation, result = run(a=at_ply(6, blinks))
    if 6 in asked:
        assert asked.count(6) == 2
        assert any(len(begin.plies) == 6 for begin in simulation.begins)
        used = next(move.used_us for move in result.moves if move.ply == 6)
        assert used == pytest.approx(70_000, abs=1_000)  # its clock ran on
    assert result.ending is Ending.NORMAL


def test_untimed_a_lost_stream_is_awaited_for_half_a_minute() -> None:
    simulation, result = run("none", a=events(Lost("a")))
    assert result.ending is Ending.DISCONNECT
    assert simulation.at == pytest.approx(simulation.asks[-1][0] + 30.01)


def test_f12_our_own_stall_is_credited() -> None:
    def while_we_stall(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        reply = Replied(ask.seat, ask.ply, legal(simulation, ask))
        if ask.ply == 5:
            simulation.stall(0.5)
        return [(0.01, reply)]

    _, result = run(a=while_we_stall, b=while_we_stall)
    assert result.ending is Ending.NORMAL
    move = result.moves[5]
    assert move.used_us == pytest.approx(510_000, abs=10)
    assert move.credit_us == pytest.approx(500_000, abs=10)


def test_a_game_with_over_two_seconds_of_stalls_is_void() -> None:
    def while_we_stall(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        simulation.stall(0.3)
        return plays()(simulation, ask)

    _, result = run(a=while_we_stall, b=while_we_stall)
    assert result.ending is Ending.VOID
    assert result.outcome is None
    assert not result.blamed
    assert "stalled" in result.reason


@pytest.mark.parametrize("answers", ["at once", "never"])
def test_a_stall_beyond_the_credit_voids_instead_of_blaming(answers: str) -> None:
    def while_we_stall(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        simulation.stall(1.5)
        return plays()(simulation, ask) if answers == "at once" else []

    _, result = run(a=at_ply(4, while_we_stall))
    assert result.ending is (Ending.VOID if answers == "at once" else Ending.TIMEOUT)
    if answers == "at once":
        assert "stalled while seat a was to move" in result.reason


def test_a_bot_that_is_late_by_itself_loses_even_when_we_stalled() -> None:
    def while_we_stall(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        simulation.stall(1.5)
        return plays(0.2)(simulation, ask)

    _, result = run(a=at_ply(4, while_we_stall))
    assert result.ending is Ending.TIMEOUT


def test_r12_our_own_stall_moves_the_start_limit() -> None:
    match = Match(assignment(GAME, "100ms"), GAME, (MARGIN_US,) * 2, "2026-11-30T00:00:00+00:00", Now(100.0))
    for seat in "ab":
        match.on(Seated(seat, 130.0), Now(100.0))
    match.on(Ready("b"), Now(101.0))
    assert match.on(Ticked(), Now(139.0, 10.0)) == []
    assert match.alarm() == 140.0
    match.on(Ticked(), Now(140.5, 10.0))
    assert match.result is not None
    assert match.result.blamed == ("a",)


def test_a_reason_is_one_harmless_line() -> None:
    def dies(_: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        return [(0.01, Failed(ask.seat, "first\n\x1b[2J\u202eno"))]

    _, result = run(a=at_ply(4, dies))
    assert result.failures[0].reason == r"\x1b[2J\u202eno"
    assert result.failures[0].evidence == "first\n\x1b[2J\u202eno"


def test_a_flood_of_ready_is_answered_once() -> None:
    match = Match(assignment(GAME, "100ms"), GAME, (MARGIN_US,) * 2, "2026-11-30T00:00:00+00:00", Now(100.0))
    for seat in "ab":
        match.on(Seated(seat, 130.0), Now(100.0))
    asked = [effect for _ in range(3) for seat in "ab" for effect in match.on(Ready(seat), Now(101.0))]
    assert asked == [Ask(match.asking, 0, ())]
    match.on(Lost(match.asking), Now(101.01))
    match.on(Returned(match.asking), Now(101.02))
    assert [effect for _ in range(3) for effect in match.on(Ready(match.asking), Now(101.03))] == asked


@pytest.mark.parametrize(
    "start",
    [
        [(0.1, NotSeated("a", "exit status 1 before it connected", "stderr"))],
        [(0.1, Seated("a", 105.0))],
        [(0.1, Seated("a", 105.0)), (0.2, Failed("a", "ValueError: no"))],
        [(0.1, Seated("a", 105.0)), (0.2, Exited("a", "exit status 1"))],
        [(0.1, Seated("a", 105.0)), (0.2, Lost("a"))],
    ],
    ids=["not seated", "never ready", "load fails", "exits", "stream lost"],
)
@pytest.mark.parametrize("blamed", [("a",), ("a", "b")], ids=["one", "both"])
def test_a_bot_that_does_not_start(start: list[tuple[float, Event]], blamed: tuple[str, ...]) -> None:
    starts = {"a": start}
    if "b" in blamed:
        starts["b"] = [(9.0, NotSeated("b", "no such file"))]
    simulation = Simulation(GAME, assignment(GAME, "100ms"), {"a": plays(), "b": plays()}, starts)
    result = simulation.run()
    assert result.ending is Ending.START_FAILURE
    assert result.blamed == blamed  # the slower one is heard, too
    assert not simulation.asks


def test_f9_seats_that_fail_on_one_ply_are_all_blamed() -> None:
    def bad(_simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        return [(0.01, Replied(ask.seat, ask.ply, "lizard"))]

    _, result = run(game=tiny_game.GAME, a=at_ply(2, bad), c=at_ply(2, events()))
    assert result.blamed == ("a", "c")
    assert [failure.ending for failure in result.failures] == [Ending.ILLEGAL_MOVE, Ending.TIMEOUT]
    assert result.outcome is not None
    assert result.outcome.ranks == (2, 1, 2)
    assert max(move.ply for move in result.moves) == 1  # the broken ply was never played


SCRIPTS: dict[str, Script] = {
    "plays": plays(),
    "slow": plays(0.14),
    "late": plays(1.0),  # more than the limit and all credit for stalls
    "silent": events(),
    "illegal": lambda _s, ask: [(0.01, Replied(ask.seat, ask.ply, "?"))],
    "raises": lambda _s, ask: [(0.01, Failed(ask.seat, "ValueError"))],
    "dies": lambda _s, ask: [(0.01, Exited(ask.seat, "killed by SIGSEGV"))],
    "resigns": lambda _s, ask: [(0.01, Resigned(ask.seat))],
    "babbles": lambda _s, ask: [(0.01, Malformed(ask.seat, "an empty message"))],
    "vanishes": lambda _s, ask: [(0.01, Lost(ask.seat))],
    "blinks": lambda s, ask: [
        (0.0, Lost(ask.seat)),
        (0.01, Returned(ask.seat)),
        (0.02, Ready(ask.seat)),
        (0.03, Replied(ask.seat, ask.ply, legal(s, ask))),
    ],
    "stalls": stalls,
}
FAULTY = {
    "late": Ending.TIMEOUT,
    "silent": Ending.TIMEOUT,
    "illegal": Ending.ILLEGAL_MOVE,
    "raises": Ending.CRASH,
    "dies": Ending.CRASH,
    "resigns": Ending.RESIGN,
    "babbles": Ending.PROTOCOL_ERROR,
    "vanishes": Ending.DISCONNECT,
}


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.sampled_from(sorted(SCRIPTS))), max_size=4),
    st.sampled_from([GAME, tiny_game.GAME]),
)
def test_whatever_happens(plan: list[tuple[str, int, str]], game: Game) -> None:
    """Every match ends, once; blame falls only on seats that failed while asked; evidence is consistent."""
    scripted = {(seat, ply): name for seat, ply, name in plan}
    done: set[tuple[str, int]] = set()

    def script(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        name = scripted.get((ask.seat, ask.ply), "plays")
        again = (ask.seat, ask.ply) in done
        done.add((ask.seat, ask.ply))
        return SCRIPTS["plays" if again else name](simulation, ask)

    letters = "ab" if game is GAME else "abc"
    simulation = Simulation(game, assignment(game, "100ms", len(letters)), dict.fromkeys(letters, script))
    result = simulation.run()
    assert simulation.overs == [result]
    assert result.ending is Ending.NORMAL or result.ending in FAILURES
    faults = {(seat, ply): name for (seat, ply), name in scripted.items() if (seat, ply) in done and name in FAULTY}
    blamed = {(failure.seat, failure.ply): failure.ending for failure in result.failures}
    assert blamed == {key: FAULTY[name] for key, name in faults.items()}
    state = game.start(result.assignment.planned.deal, len(letters))
    for ply in simulation.match.plies:
        words = ply.split(" ")
        moves = dict(zip(words[::2], words[1::2], strict=True))
        state = state.play({seat: state.parse_move(move, seat) for seat, move in moves.items()})
    assert state.text == result.position
    assert all(move.used_us - move.credit_us <= 100_000 + MARGIN_US for move in result.moves)


def on_cpu(delay: float, *cpu_us: int) -> Script:
    """Answers after a delay, having used so much CPU time for it."""
    return lambda simulation, ask: [
        (delay, Replied(ask.seat, ask.ply, legal(simulation, ask), cpu_us=cpu_us[min(ask.ply // 2, len(cpu_us) - 1)]))
    ]


@pytest.mark.parametrize(
    ("delay", "cpu_us", "ending"),
    [
        (1.2, 100, Ending.NORMAL),
        (1.4, 100, Ending.TIMEOUT),
        (0.1, 149_000, Ending.NORMAL),
        (0.1, 151_000, Ending.TIMEOUT),
    ],
)
def test_where_cpu_time_counts(delay: float, cpu_us: int, ending: Ending) -> None:
    """The simulation's bots have used nothing when they are asked."""
    _, result = run("100ms cpu", a=on_cpu(delay, cpu_us), b=on_cpu(0.01, 10))
    assert result.ending is ending
    assert all(move.charged_us == move.cpu_us for move in result.moves)


def test_a_bank_of_cpu_time() -> None:
    simulation, result = run("1s+0.01s cpu", a=on_cpu(0.5, 20_000), b=on_cpu(0.01, 10_000))
    assert result.ending is Ending.NORMAL
    plies = [move.seat for move in result.moves].count("a")
    assert simulation.match.seats["a"].clock.bank_us == 1_000_000 - 10_000 * plies
