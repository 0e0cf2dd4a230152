"""Random: any legal move, each as likely as the others."""

from arena_engine.patchwork import Move, State
from arena_sdk import Bot, Clock


class RandomBot(Bot):
    """The bot to beat first, and a yardstick for the referee: it takes no time to think."""

    def choose(self, state: State, clock: Clock) -> Move:  # noqa: ARG002 - needs no time
        """A uniformly random move; ``self.random`` begins with the seat's seed, so its games can be replayed."""
        return self.random.choice(state.legal_moves())


if __name__ == "__main__":
    RandomBot.main()
