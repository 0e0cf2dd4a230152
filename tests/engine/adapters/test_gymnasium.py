"""Patchwork as an environment for one learner."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from requirements import require_module

from arena_engine.game import DealError, GameError, GameOverError, PositionError
from arena_engine.patchwork import IllegalMoveError, Move, State
from arena_engine.patchwork.encoding import ACTIONS
from arena_sdk import Bot, Clock

np = require_module("numpy")
gymnasium = require_module("gymnasium")
adapter = require_module("arena_engine.adapters.gymnasium")
CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"


def first(state: State) -> Move:
    return state.legal_moves()[0]


class Frugal(Bot):
    """Buys what is cheapest; asynchronously, for bots may."""

    loads = 0

    @classmethod
    def load(cls, options: object) -> None:  # noqa: ARG003 - has none
        cls.loads += 1

    def __init__(self) -> None:
        assert (self.game, self.seats) == ("patchwork", {})
        self.mine = self.seat

    async def choose(self, state: State, clock: Clock) -> str:
        assert state.seat_to_move == self.mine
        assert 0 < clock.left <= 0.1
        self.log("a line of a log that nobody reads")
        return str(min(state.legal_moves(), key=lambda move: (move.cost, move.kind == "advance")))


def make(**settings: object) -> Any:
    return gymnasium.make("Patchwork-v0", **settings).unwrapped


def play(env: Any, seed: int | None = None, **options: object) -> tuple[float, dict[str, object]]:
    """An episode of random moves: its only reward, and the last info."""
    source = random.Random(seed)
    observation, info = env.reset(seed=seed, options=options)
    while True:
        assert observation in env.observation_space
        assert env.state.to_move == (env.seat,) == (info["seat"],)
        assert np.array_equal(info["action_mask"], env.action_masks())
        action = source.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        assert truncated is False
        if terminated:
            assert observation in env.observation_space
            assert not env.action_masks().any()
            return reward, info
        assert reward == 0


@pytest.mark.parametrize("name", ["Patchwork-v0", "PatchworkRevised-v0"])
def test_gymnasium_s_own_check(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from gymnasium.utils.env_checker import check_env  # noqa: PLC0415 - may be missing

    check_env(gymnasium.make(name).unwrapped)
    capsys.readouterr()


def test_both_editions_are_registered() -> None:
    for name, edition in (("Patchwork-v0", "original"), ("PatchworkRevised-v0", "revised")):
        env = gymnasium.make(f"arena_engine.adapters.gymnasium:{name}")
        env.reset(seed=1)
        assert env.unwrapped.state.edition == edition
        assert env.observation_space.shape == (583,)
        assert env.action_space.n == ACTIONS


@pytest.mark.parametrize("reward", ["win", "margin"])
@pytest.mark.parametrize("seat", ["a", "b"])
def test_the_reward_is_the_outcome(seat: str, reward: str) -> None:
    env = make(seat=seat, reward=reward)
    for seed in range(4):
        gained, info = play(env, seed)
        outcome = env.state.outcome
        me = "ab".index(seat)
        assert info["scores"] == outcome.scores
        if reward == "win":
            assert gained == (1.0 if outcome.ranks[me] == 1 else -1.0)
        else:
            assert gained == outcome.scores[me] - outcome.scores[1 - me]


def test_seats_alternate_from_each_seed_on() -> None:
    env = make(opponent=first)
    assert [env.reset(seed=seed)[1]["seat"] for seed in (3, None, None, 3, None)] == ["a", "b", "a", "a", "b"]
    _, info = env.reset(seed=3)
    assert info["opponent_moves"] == []
    _, info = env.reset()
    assert info["opponent_moves"] == [">"]


def test_a_seed_repeats_everything() -> None:
    opponents = [None, first, Frugal, "random"]
    games = []
    for _ in range(2):
        env = make(opponent=opponents)
        games.append([(play(env, seed), env.state.text) for seed in range(4)])
    for (one, position), (other, same) in zip(*games, strict=True):
        assert one[0] == other[0]
        assert position == same


def test_each_episode_draws_an_opponent_of_the_list() -> None:
    env = make(opponent=[None, first, Frugal, "greedy"])
    drawn = [env.reset(seed=seed)[1]["opponent"] for seed in range(40)]
    assert set(drawn) == {"NoneType", "first", "Frugal", "greedy"}


def test_a_class_of_bots_plays_and_loads_once() -> None:
    env = make(opponent=Frugal, seat="b")
    for seed in range(2):
        play(env, seed)
    assert Frugal.loads == 1


def test_a_bot_of_the_command_line_plays(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORD = '>'\n")
    (tmp_path / "bot.py").write_text(
        "from arena_sdk import Bot\nfrom helper import WORD\n\n\nclass Idle(Bot):\n"
        "    def choose(self, state, clock):\n        return state.legal_moves()[0] if state.leather_due else WORD\n"
    )
    env = make(opponent=str(tmp_path), seat="b")
    _, info = env.reset(seed=1)
    assert info["opponent_moves"] == [">"]
    play(env, 1)
    reward, _ = play(make(opponent="greedy", seat="a"), 5)
    assert reward == -1


def test_an_illegal_action_loses_and_says_why() -> None:
    env = make(opponent=first, seat="a")
    env.reset(options={"circle": CIRCLE})
    before = env.state
    for action, why in (
        (1, "no leather to place"),
        (82 + 8, "it would leave the quilt"),
        (ACTIONS, "ids are 0 to 2025"),
        (0.5, "an action id is a whole number"),
    ):
        env.reset(options={"circle": CIRCLE})
        _, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert why in info["illegal"]
        assert env.state == before
        with pytest.raises(GameOverError, match="call reset"):
            env.step(0)
    margin = make(opponent=first, seat="b", reward="margin")
    margin.reset(options={"circle": CIRCLE})
    assert margin.step(5)[1] == -162


def test_an_opponent_s_illegal_move_is_told() -> None:
    env = make(opponent=lambda _: "*e5", seat="b")
    with pytest.raises(IllegalMoveError, match="seat a has no leather") as caught:
        env.reset()
    assert caught.value.__notes__ == ["the opponent chose this move"]


def test_episodes_start_where_asked() -> None:
    env = make(opponent=first, seat="b")
    _, info = env.reset(options={"position": State.new(CIRCLE).after(Move.parse("D0a1"))})
    assert info["opponent_moves"] == []
    assert env.state.bonus is None
    assert env.state.quilt("a") != 0
    assert State.from_text(env.state.text) == env.state


FINISHED = "9/9/9/9/9/9/9/9/9 58,53"


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"circle": CIRCLE[:-1]}, DealError, "each of the 33 patches once"),
        ({"position": "nonsense"}, PositionError, "eight fields"),
        ({"position": State.new(CIRCLE, "revised")}, PositionError, "of the revised edition; original is played here"),
        ({"position": f"{CIRCLE} {FINISHED} {FINISHED} b - original"}, GameOverError, "nothing can be played"),
        (
            {"position": f"{CIRCLE} 9/9/9/9/9/9/9/9/9 5,52 {FINISHED} a - original"},
            GameOverError,
            "ended before seat b could move",
        ),
    ],
)
def test_wrong_starts_are_refused(options: dict[str, object], error: type[GameError], why: str) -> None:
    env = make(opponent=first, seat="b")
    with pytest.raises(error, match=why):
        env.reset(options=options)
    with pytest.raises(GameOverError, match="no episode is on"):
        env.step(0)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"seat": "c"}, "seat is one of 'a', 'b', 'alternate'"),
        ({"reward": "money"}, "reward is one of 'win', 'margin'"),
        ({"edition": "third"}, "unknown edition"),
        ({"opponent": 7}, "an opponent is a function"),
        ({"opponent": []}, "at least one"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], why: str) -> None:
    with pytest.raises(GameError, match=why):
        adapter.PatchworkEnv(**settings)
    with pytest.raises(GameError, match="render_mode is one of"):
        adapter.PatchworkEnv(render_mode="film")


def test_unknown_bots_are_refused(tmp_path: Path) -> None:
    from arena_server.model import UserError  # noqa: PLC0415 - the engine's other tests need no server

    (tmp_path / "two.py").write_text("from arena_sdk import Bot\nclass A(Bot): ...\nclass B(Bot): ...\n")
    (tmp_path / "bot.toml").write_text('name = "x"\nversion = "1"\ncommand = ["./x"]\n')
    for text, why in (
        ("nobody", "no such bot"),
        (str(tmp_path / "two.py"), "has 2 classes of bots"),
        (str(tmp_path), "x 1 cannot be played here"),
    ):
        with pytest.raises(UserError, match=why):
            make(opponent=text).reset()
    with pytest.raises(TypeError, match="int is no bot"):
        make(opponent=int).reset()


def test_positions_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(render_mode="ansi")
    env.reset(options={"circle": CIRCLE})
    assert "for sale" in env.render()
    loud = make(render_mode="human", opponent=first, seat="a")
    loud.reset()
    loud.step(0)
    assert capsys.readouterr().out.count("for sale") == 2
    assert make().render_mode is None
