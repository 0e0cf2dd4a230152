"""The invariants of the rules, over random games."""

from __future__ import annotations

from hypothesis import given, settings
from patchwork_games import Played, games, positions

from arena_engine.patchwork import State
from arena_engine.patchwork.drawing import cells_of
from arena_engine.patchwork.encoding import ACTIONS, action_id, action_move
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER, Move
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.patchwork.track import FINAL, INCOME_SPACES, LEATHER_SPACES

EVERY_MOVE = [ADVANCE, *LEATHER, *(m for letter in PATCHES for _, moves in BUYS[letter] for m in moves if m.cells)]


def test_the_facts_add_up() -> None:
    patches = PATCHES.values()
    orientations = [orientation for patch in patches for orientation in patch.orientations]
    assert len(LETTERS) == 33
    assert sum(len(patch.orientations[0].offsets) for patch in patches) == 166
    assert sum(patch.cost for patch in patches) == 133
    assert sum(patch.time for patch in patches) == 107
    assert sum(patch.income for patch in patches) == 38
    assert len(orientations) == 144
    assert len({frozenset(look.rows for look in patch.orientations) for patch in patches}) == 30
    assert sum(orientation.anchors.bit_count() for orientation in orientations) == 7349
    assert max(sum(look.anchors.bit_count() for look in patch.orientations) for patch in patches) == 448
    assert len(EVERY_MOVE) == 7349 + 81 + 1


@given(games())
@settings(max_examples=30)
def test_a_whole_game(game: tuple[Played, State]) -> None:
    steps, last = game
    leather = sum(move.kind == "leather" for _, move in steps)
    assert leather <= 5
    assert len(steps) - leather <= 58
    assert all(-106 <= score <= 85 for score in last.scores())
    assert sorted(last.outcome.ranks) == [1, 2]
    winner = "ab"[last.outcome.ranks.index(1)]
    assert last.score(winner) == max(last.scores())
    if last.score("a") == last.score("b"):
        assert winner == last.first_home


@given(games())
@settings(max_examples=30)
def test_each_move_does_what_the_rules_say(game: tuple[Played, State]) -> None:
    steps, last = game
    for (state, move), after in zip(steps, [*(state for state, _ in steps[1:]), last], strict=True):
        seat = state.seat_to_move
        other = "b" if seat == "a" else "a"
        crossed = range(state.time(seat) + 1, after.time(seat) + 1)
        incomes = sum(space in crossed for space in INCOME_SPACES)
        assert after.player(other) == state.player(other)
        assert after.quilt(seat) == state.quilt(seat) ^ move.cells
        assert after.income(seat) == state.income(seat) + move.income
        if move.kind == "advance":
            assert 1 <= len(crossed) <= 7
            assert after.time(seat) == min(state.time(other) + 1, FINAL)
            assert after.buttons(seat) == state.buttons(seat) + len(crossed) + incomes * state.income(seat)
        else:
            assert after.time(seat) == min(state.time(seat) + move.time, FINAL)
            assert after.buttons(seat) == state.buttons(seat) - move.cost + incomes * after.income(seat)
        if move.kind == "buy":
            skipped, _, rest = state.circle.partition(move.patch)
            assert len(skipped) < 3
            assert after.circle == rest + skipped
        first = [k for k in LEATHER_SPACES[state.edition] if k in crossed and k > state.time(other)]
        assert after.leather_due == bool(first and after.quilt(seat).bit_count() < 81)
        _check_turn(state, after)


def _check_turn(state: State, after: State) -> None:
    mover = state.seat_to_move
    other = "b" if mover == "a" else "a"
    if after.is_over:
        assert after.time("a") == after.time("b") == FINAL
        assert after.first_home == other
    elif after.leather_due or after.time(mover) <= after.time(other):
        assert after.seat_to_move == mover
    else:
        assert after.seat_to_move == other
    if state.bonus:
        assert after.bonus == state.bonus


@given(positions())
@settings(max_examples=60)
def test_what_a_position_says_agrees(state: State) -> None:
    for seat in "ab":
        cells = cells_of(state, seat)
        assert state.quilt(seat) == sum(1 << place for place, cell in enumerate(cells) if cell != ".")
        assert state.income(seat) == sum(PATCHES[letter].income for letter in set(cells) - {".", "*"})
        points = state.buttons(seat) + 7 * (state.bonus == seat) - 2 * cells.count(".")
        assert state.score(seat) == points
        full = any(
            all(cells[9 * (top + row) + left : 9 * (top + row) + left + 7].count(".") == 0 for row in range(7))
            for top in range(3)
            for left in range(3)
        )
        assert full or state.bonus != seat
        assert not full or state.bonus
    assert state.offered == state.circle[:3]
    on_quilts = (set(cells_of(state, "a")) | set(cells_of(state, "b"))) - {".", "*"}
    assert sorted(state.circle) == sorted(set(LETTERS) - on_quilts)


@given(positions())
@settings(max_examples=60)
def test_legal_moves_are_the_legal_ones_in_the_order_of_their_ids(state: State) -> None:
    legal = state.legal_moves()
    assert {move for move in EVERY_MOVE if state.is_legal(move)} == set(legal)
    assert bool(legal) != state.is_over
    assert len(legal) <= 1345
    ids = [action_id(state, move) for move in legal]
    assert ids == sorted(set(ids))
    assert all(0 <= action < ACTIONS for action in ids)
    assert [action_move(state, action) for action in ids] == legal
    assert state.legal_moves(state.to_move[0] if state.to_move else "a") == legal
    assert [seat for seat in "ab" if state.legal_moves(seat)] == list(state.to_move)


def test_ids_that_can_be_reached() -> None:
    reachable = {(look, cell) for letter in PATCHES for look, _ in BUYS[letter] for cell in range(81)}
    placeable = {(look.number, cell) for look, cell in reachable if look.anchors >> cell & 1}
    assert 1 + 81 + 3 * len(placeable) == 1642


def test_an_action_id_names_its_move() -> None:
    state = State.new("UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA")
    assert action_id(state, Move.parse(">")) == 0
    assert action_id(state, Move.parse("*i9")) == 81
    assert action_id(state, Move.parse("U0a1")) == 82
    assert action_id(state, Move.parse("e1b2")) == 82 + 2 * 648 + 81 + 10
