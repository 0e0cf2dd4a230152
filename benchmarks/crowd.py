"""Many bots in one process, each a session of the SDK with a token of its own, in threads; they answer in 100 ms.

Told on standard input, as JSON in a line: the arena's address, and the tokens. Every further line says in how many
seconds they answer from then on. Ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from arena_sdk import Bot, Clock

GAMES_AT_ONCE = 2
"""Of a bot: a table is two games, so half of the bots fill every game of the server."""
PATIENCE_S = 3600.0


class Answers(Bot):
    """Thinks for a while, and plays the first legal move.

    Attributes:
        pace: seconds for which every one of them thinks.
    """

    pace = 0.1

    def choose(self, state: Any, clock: Clock) -> Any:  # noqa: ARG002 - a bot's signature
        """Chooses."""
        time.sleep(self.pace)
        return state.legal_moves()[0]


def play(address: str, token: str) -> None:
    """Plays until the arena has no more games."""
    from arena_sdk.session import Session  # noqa: PLC0415 - imports grpc, which reads the environment

    Session(Answers, address, token, games_at_once=GAMES_AT_ONCE, patience=PATIENCE_S).run()


if __name__ == "__main__":
    os.environ.update(GRPC_ENABLE_FORK_SUPPORT="0", GRPC_VERBOSITY="NONE")
    told = json.loads(sys.stdin.readline())
    for token in told["tokens"]:
        threading.Thread(target=play, args=(told["address"], token), daemon=True).start()
    for line in sys.stdin:
        Answers.pace = float(line)
    os._exit(0)  # threads of bots that think may still run
