"""An event: from what a user asks for to a tournament played.

Nothing here imports grpc before the keeper has started (design, decision 10).
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from arena_engine import suites
from arena_engine.game import DealError, Game, find
from arena_server import formats
from arena_server.coordinator import machine
from arena_server.coordinator.coordinator import Coordinator, Interrupted
from arena_server.coordinator.facts import command_line, facts
from arena_server.coordinator.settings import ProbationTable, Settings
from arena_server.coordinator.watching import Watcher
from arena_server.launching.bots import Bot, example_bots
from arena_server.launching.environment import EVENT_ENGINE_OFF
from arena_server.launching.processes import Keeper
from arena_server.model import About, Entrant, Probation, Spec, TimeControl, UserError
from arena_server.ratings import check_draw_probability
from arena_server.ratings.stopping import canonical
from arena_server.store import Entered, Store, Tournament, contracts, stopping
from arena_server.store.tournaments import check_name

TRANSPORTS = ("unix", "tcp")


@dataclass(frozen=True, slots=True)
class Event:
    """What is to be played, and how in this run.

    Attributes:
        settings: what was asked for.
        bots: how to start each entrant.
        capacity: games at the same time.
        transport: how bots reach the referee.
    """

    settings: Settings
    spec: Spec
    game: Game
    bots: Mapping[Entrant, Bot]
    capacity: int
    transport: str

    @classmethod
    def of(cls, settings: Settings) -> Event:
        """Checks everything that can be checked before anything is stored or started.

        Raises:
            UserError: a setting that cannot be played.
        """
        game = find("patchwork")
        bots = bots_of(settings)
        with settings.telling():
            check_name(settings.name)
            spec = spec_of(settings, game, [bot.entrant for bot in bots])
            check_draw_probability(spec.draw_probability, may_draw=game.may_draw)
            formats.plan(spec, ())
            with settings.telling("until"):
                stopping.rule_of(spec)
            capacity = _capacity(settings.concurrency)
        return cls(settings, spec, game, {bot.entrant: bot for bot in bots}, capacity, _transport())

    def enter(self, store: Store, *, new: bool = False, extend: bool = False) -> Entered:
        """Finds or makes its tournament, and writes whose the bots are.

        Args:
            store: where.
            new: whether to make one even where it is there already.
            extend: whether to let one grow that is there.

        Raises:
            UserError: as ``Store.enter`` and ``Store.extend``.
        """
        with self.settings.telling():
            entered = self._extend(store) if extend else store.enter(self.spec, name=self.settings.name, new=new)
        said = dict(zip(self.spec.entrants, (entry.about for entry in self.settings.bots or ()), strict=False))
        about = [said.get(entrant, About()) for entrant in entered.tournament.spec.entrants]
        store.describe(entered.tournament, tags=self.settings.tags, about=about)
        return entered

    def _extend(self, store: Store) -> Entered:
        found = store.to_extend(self.spec, name=self.settings.name)
        with store.lock(found.tournament) as lock:
            before = lock.tournament.spec
            grown = store.extend(lock.tournament, self.spec)
        changes = "; ".join(contracts.differences(before, replace(grown.spec, late=before.late)))
        note = f"{grown.name} is extended: {changes}" if changes else f"{grown.name} has all of this already"
        return replace(found, tournament=grown, notes=(*found.notes, note))

    def play(self, store: Store, tournament: Tournament, watcher: Watcher) -> None:
        """Plays a locked tournament to its end; its bots are gone afterwards.

        Raises:
            Interrupted: Ctrl-C or SIGTERM; its argument is the signal's number.
            ArenaError: games cannot be played or recorded.
        """
        seen = machine.look()
        event = self if self.settings.concurrency is not None else replace(self, capacity=self._fitting(seen, watcher))
        for line in seen.warnings(event.capacity, self.spec.seats, self.spec.time_control):
            watcher.notes(line)
        keeper = Keeper.start()
        prepare_grpc()
        store.begin_run(tournament, facts(self.game, command_line(), event._run_settings(seen)))  # noqa: SLF001 - ours
        run_loop(event._play(store, tournament, watcher, keeper))  # noqa: SLF001 - likewise

    def _fitting(self, seen: machine.Look, watcher: Watcher) -> int:
        """Games at once where nobody has said how many."""
        fitting = min(self.capacity, seen.capacity(self.spec.seats))
        if fitting < self.capacity:
            watcher.notes(f"{fitting} at once instead of {self.capacity}: this machine has no room for more now")
        return fitting

    def _run_settings(self, seen: machine.Look) -> dict[str, Any]:
        """What may differ between two runs of one contract."""
        restart = self.settings.restart or "never"
        chosen = {"concurrency": self.capacity, "restart": restart, "transport": self.transport}
        return {**chosen, "self_test": asdict(seen)}

    async def _play(self, store: Store, tournament: Tournament, watcher: Watcher, keeper: Keeper) -> None:
        from arena_server.executors.local import LocalExecutor  # noqa: PLC0415 - imports grpc: after the keeper

        executor = LocalExecutor(self.game, self.bots, keeper, capacity=self.capacity, transport=self.transport)
        async with executor:
            settle_memory()
            coordinator = Coordinator(store, tournament, self.game, executor, watcher)
            received: list[int] = []

            def stop(number: int) -> None:
                received.append(number)
                coordinator.stop()

            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop, number)
            try:
                await coordinator.run()
            except Interrupted:
                raise Interrupted(received[0]) from None
            finally:
                for line in coordinator.strain.lines():
                    watcher.notes(line)


def prepare_grpc() -> None:
    """Sets what grpc reads when it is imported; what the user has set stays."""
    os.environ.setdefault("GRPC_EXPERIMENTS", EVENT_ENGINE_OFF)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # we tell what is wrong: its lines come between those of a log


def settle_memory() -> None:
    """Before games begin: keeps what is there already out of collections, which would stop every clock for 0.1 s."""
    gc.collect()
    gc.freeze()


def bots_of(settings: Settings) -> list[Bot]:
    """The bots that settings name, by default the examples; raises UserError."""
    bots = example_bots() if settings.bots is None else []
    for place, entry in enumerate(settings.bots or ()):
        with settings.telling("bots", place):
            bots.append(entry.resolve())
    return [bot.fresh() for bot in bots] if settings.restart == "every game" else bots


def spec_of(settings: Settings, game: Game, entrants: list[Entrant]) -> Spec:
    """The contract that settings ask for; raises UserError."""
    variants = _variants(settings, game)
    options = variants[0] if variants else _options(game, settings.edition, "edition")
    with settings.telling("time"):
        control = _time_control(settings.time or "100ms")
        if settings.clock is not None:
            control = replace(control, cpu=settings.clock == "cpu")
    name = settings.format or "round-robin"
    form = formats.find(name)
    if settings.challengers is not None and name != "gauntlet":
        fix = "leave it out, or choose gauntlet"
        raise UserError(f"a {name} has no challengers", settings.challengers, fix, key=("challengers",))
    with settings.telling("until"):
        stop = None if settings.until is None else canonical(settings.until)
    rounds = form.usual_rounds(len(entrants)) if settings.rounds is None and form.usual_rounds else settings.rounds
    return Spec(
        entrants=tuple(entrants),
        game=game.name,
        rules=game.rules,
        seats=game.min_seats,
        deals=tuple(sorted(options.items())),
        format=name,
        games=form.usual_deals * game.min_seats if settings.games is None else settings.games,
        time_control=control,
        seed=settings.seed,
        rounds=rounds,
        challengers=1 if settings.challengers is None else settings.challengers,
        probation=_probation(settings.probation),
        stop=stop,
        variants=tuple(tuple(sorted(variant.items())) for variant in variants),
        suite=() if settings.deals is None else _suite(Path(settings.deals), game, options),
    )


def _variants(settings: Settings, game: Game) -> list[dict[str, str]]:
    """The deal options that deals have in turn; none where all have the same."""
    if settings.editions is None:
        return []
    others = [key for key in ("edition", "deals") if getattr(settings, key) is not None]
    if others:
        fix = "leave one of them out"
        raise UserError(f"editions beside {others[0]}", repr(settings.editions), fix, key=("editions",))
    if not settings.editions:
        raise UserError("no editions", "[]", "name one at least, or leave the key out", key=("editions",))
    return [_options(game, edition, "editions", place) for place, edition in enumerate(settings.editions)]


def _options(game: Game, edition: str | None, *key: str | int) -> dict[str, str]:
    """Complete deal options."""
    try:
        return game.options({} if edition is None else {"edition": edition})
    except DealError as error:
        raise UserError("no such edition", repr(edition), error.why, key=key) from None


def _suite(path: Path, game: Game, options: Mapping[str, str]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The deals of a file, as a contract holds them."""
    try:
        found = suites.read(path.read_text(encoding="utf-8"), game, options, game.min_seats)
    except OSError as error:
        raise UserError(f"cannot read the suite: {error.strerror}", path, "check the path", key=("deals",)) from None
    except UnicodeDecodeError:
        raise UserError("the suite is not UTF-8 text", path, "save it as UTF-8", key=("deals",)) from None
    except DealError as error:
        shown = f"{path}, {error.why}" + (f": {error.value}" if error.value else "")
        raise UserError("not a suite of deals", shown, "see `arena deals make`", key=("deals",)) from None
    return tuple(tuple(sorted(deal.items())) for deal in found)


def _probation(table: ProbationTable | None) -> Probation:
    said = {} if table is None else table.model_dump(exclude_none=True)
    return Probation(**said)


def _time_control(text: str) -> TimeControl:
    control = TimeControl.parse(text)
    if control == TimeControl():
        raise UserError("a tournament needs a time control", repr(text), "give each ply some time: 100ms")
    bank, limit = control.bank_us, control.limit_us
    if bank is not None and limit is not None and limit > bank and not control.increment_us:
        raise UserError("a ply's limit is over the whole bank", repr(text), "leave the limit out, or lower it")
    return control


def _capacity(asked: int | None) -> int:
    if asked is None:
        return max(1, len(os.sched_getaffinity(0)) - 1)
    if asked < 1:
        raise UserError("not a number of games to play at once", asked, "give 1 or more", key=("concurrency",))
    return asked


def _transport() -> str:
    transport = os.environ.get("ARENA_TRANSPORT", TRANSPORTS[0])
    if transport not in TRANSPORTS:
        raise UserError("unknown ARENA_TRANSPORT", repr(transport), f"known: {', '.join(TRANSPORTS)}")
    return transport


def run_loop(main: Coroutine[None, None, None]) -> None:
    """Runs on uvloop where it is there; Ctrl-C before our handler is in place still ends cleanly."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        import uvloop  # noqa: PLC0415 - optional
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
