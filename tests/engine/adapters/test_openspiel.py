"""Patchwork as a game of OpenSpiel; run as a script (with tests/support in PYTHONPATH) this writes the playthrough."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from patchwork_games import played
from requirements import require_module

from arena_engine.patchwork import DealError, GameError, IllegalMoveError, PositionError, State
from arena_engine.patchwork.encoding import action_id
from arena_engine.patchwork.observation import observe

np = require_module("numpy")
pyspiel = require_module("pyspiel")
adapter = require_module("arena_engine.adapters.openspiel")

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"
GAMES = ["patchwork", "patchwork(edition=revised)", f"patchwork(circle={CIRCLE},edition=original)"]
PLAYTHROUGH = Path(__file__).with_name("playthrough.txt")


@pytest.mark.parametrize("serialize", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_openspiel_s_own_simulations(name: str, serialize: bool, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: FBT001 - a parameter of theirs
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=serialize, verbose=False)
    capfd.readouterr()


def replay() -> tuple[str, str]:
    from absl import flags  # noqa: PLC0415 - may be missing
    from open_spiel.python.algorithms import generate_playthrough  # noqa: PLC0415 - likewise

    if not flags.FLAGS.is_parsed():
        flags.FLAGS(["playthrough"])
    committed, new = generate_playthrough.replay(str(PLAYTHROUGH))
    return committed, new


def test_the_playthrough_is_the_committed_one() -> None:
    committed, new = replay()
    assert new == committed


@pytest.mark.parametrize("edition", ["original", "revised"])
def test_games_are_those_of_the_engine(edition: str) -> None:
    steps, last = played(7, edition, 1)
    state = adapter.game(edition).new_initial_state(steps[0][0].text)
    for position, move in steps:
        assert state.position == position
        assert str(state) == position.text
        assert state.legal_actions() == [action_id(position, legal) for legal in position.legal_moves()]
        player = state.current_player()
        assert (player, state.legal_actions(1 - player)) == ("ab".index(position.seat_to_move), [])
        assert state.returns() == [0, 0]
        assert state.string_to_action(str(move)) == action_id(position, move)
        assert state.observation_tensor(0) == list(observe(position, "a"))
        state.apply_action(action_id(position, move))
    assert state.is_terminal()
    assert state.returns() == ([1, -1] if last.outcome.ranks == (1, 2) else [-1, 1])


def test_chance_deals_the_circle() -> None:
    source = random.Random(5)
    state = pyspiel.load_game("patchwork").new_initial_state()
    dealt = ""
    while state.is_chance_node():
        actions, chances = zip(*state.chance_outcomes(), strict=True)
        assert sum(chances) == pytest.approx(1)
        assert len(actions) == 32 - len(dealt)
        assert not any(state.observation_tensor(1))
        action = source.choice(actions)
        dealt += state.action_to_string(action)
        assert str(state) == f"deal {dealt[:-1] or '-'}"
        state.apply_action(action)
    assert state.position == State.new(dealt + "A")


def test_states_survive_serialisation_copies_and_pickles() -> None:
    game = pyspiel.load_game("patchwork(edition=revised)")
    steps, _ = played(3, "revised", 0)
    state = game.new_initial_state(steps[10][0].text)
    state.apply_action(action_id(*steps[10]))
    _, restored = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    for same in (state.clone(), restored, pickle.loads(pickle.dumps(state))):
        assert same.position == steps[11][0]
        assert same.history() == state.history()
        same.apply_action(same.legal_actions()[0])
        assert state.position == steps[11][0]


def search(game: object, seed: int, playouts: int = 8) -> object:
    from open_spiel.python.algorithms import mcts  # noqa: PLC0415 - may be missing

    source = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, source)
    return mcts.MCTSBot(game, 1.4, playouts, evaluator, random_state=source, solve=False)


def test_openspiel_s_mcts_plays_whole_games() -> None:
    game = pyspiel.load_game(GAMES[2])
    state, bots = game.new_initial_state(), [search(game, 1, 2), pyspiel.make_uniform_random_bot(1, 2)]
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    assert sorted(state.returns()) == [-1, 1]


def test_openspiel_s_bots_choose_in_any_position() -> None:
    steps, _ = played(11, "revised", 1)
    bot = search(adapter.game("revised"), 3, 2)
    for position, _ in steps[::8]:
        assert adapter.choose(bot, position) in position.legal_moves()


def test_bad_input_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DealError, match="unknown edition"):
        adapter.PatchworkGame({"edition": "third"})
    with pytest.raises(DealError, match="each of the 33 patches once"):
        adapter.PatchworkGame({"circle": "UD"})
    game = adapter.game("original")
    with pytest.raises(PositionError, match="of the revised edition; original is played here"):
        game.new_initial_state(State.new(edition="revised").text)
    with pytest.raises(PositionError, match="eight fields"):
        game.new_initial_state("nonsense")
    state = game.new_initial_state(State.new(CIRCLE).text)
    for action, why in ((1, "no leather to place"), (2026, "ids are 0 to 2025"), (-3, "ids are 0 to 2025")):
        with pytest.raises(IllegalMoveError, match=why):
            state.apply_action(action)
    assert state.position == State.new(CIRCLE)
    with pytest.raises(pyspiel.SpielError, match="illegal action"):
        state.apply_action_with_legality_check(1)
    with pytest.raises(pyspiel.SpielError, match="take no parameters"):
        game.make_py_observer(None, {"colour": "red"})
    finished = played(7, "original", 1)[1]
    with pytest.raises(GameError, match="the game is over"):
        game.new_initial_state(finished.text).apply_action(0)
    with pytest.raises(IllegalMoveError, match="chance deals each of the other patches once"):
        game.new_initial_state().apply_action(0)  # patch A, which is last
    capfd.readouterr()


if __name__ == "__main__":
    PLAYTHROUGH.write_text(replay()[1], encoding="utf-8")
