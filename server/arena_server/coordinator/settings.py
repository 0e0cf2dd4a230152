"""What an organiser can ask for: the one definition of the spec file, of its JSON schema and of the options' names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, PrivateAttr, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from arena_server.coordinator.lines import Key, line_of
from arena_server.formats import FORMATS
from arena_server.launching.bots import Bot, resolve
from arena_server.model import About, UserError

SCHEMA: Final = 1
"""Version of the spec file that this arena reads and writes."""

OptionValue = bool | int | Annotated[float, Field(allow_inf_nan=False)] | str


class _Table(BaseModel):
    """A table of the spec file: types are meant as they are written, and nothing else may stand in it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class BotEntry(_Table):
    """A bot with what is said about it."""

    bot: str = Field(
        description="As people name it: a path from the spec's folder, or an example bot; options behind a colon."
    )
    owner: str | None = Field(None, description="Whose it is.", examples=["Ada"])
    group: str | None = Field(None, description="What it belongs to: a class, a team.", examples=["blue"])
    tags: list[str] | None = Field(None, description="Words to choose bots by.", examples=[["search"]])
    options: dict[str, OptionValue] = Field(
        {}, description="Its options, besides those behind the colon.", examples=[{"c": 0.5}]
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"bot": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A text alone is a bot, too."""
        return {"anyOf": [{"type": "string"}, handler(core)]}

    @property
    def about(self) -> About:
        """What is said of it beside who it is."""
        return About(self.owner, self.group, None if self.tags is None else tuple(self.tags))

    def resolve(self) -> Bot:
        """The bot that is meant; raises UserError as ``launching.bots.resolve``."""
        try:
            return resolve(self.bot, self.options)
        except UserError as error:
            is_path = os.sep in self.bot or Path(self.bot).suffix
            gone = "; if it has disappeared, `arena withdraw` takes it out of its tournament" if is_path else ""
            raise UserError(error.what, error.value, error.fix + gone, key=error.key) from None


class ProbationTable(_Table):
    """When a bot is parked: it plays no more."""

    failures: int | None = Field(
        None, description="Parked once it has failed so often; by default never for that.", examples=[3]
    )
    share: float | None = Field(
        None,
        description="And in more than this share of its games so far; by default a tenth.",
        examples=[0.1],
        allow_inf_nan=False,
    )
    then: Literal["forfeit", "cancel"] | None = Field(
        None,
        description="Its remaining games are lost (forfeit, the default) or taken off (cancel).",
        examples=["forfeit"],
    )


class Settings(_Table):
    """What a user asks for; None is what was not said, and holds by default."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema", description="Version of this file's form.")
    name: str | None = Field(
        None, description="Name of the tournament; by default one that follows from what is played.", examples=["cup"]
    )
    bots: list[BotEntry] | None = Field(
        None,
        description="Who plays, in the order of the seeds: texts, or tables [[bots]]; by default the example bots.",
        examples=[["greedy", "mcts"]],
    )
    format: str | None = Field(
        None,
        description=f"How the tournament is held: {', '.join(FORMATS)}.",
        examples=["round-robin"],
        json_schema_extra={"enum": [*FORMATS]},
    )
    games: int | None = Field(
        None,
        description="Games between two bots that meet; by default 10, or 2 where they meet in rounds.",
        examples=[10],
    )
    rounds: int | None = Field(
        None, description="Rounds of a swiss or a ladder; by default enough for one winner, or 2.", examples=[5]
    )
    challengers: int | None = Field(
        None, description="Of a gauntlet: so many bots, the first, meet all the others; by default 1.", examples=[1]
    )
    until: str | None = Field(
        None,
        description="Stop once that is known, or a sequential test is decided: 'top 3 at 95%', 'sprt elo1=20'.",
        examples=["top 3 at 95%"],
    )
    edition: str | None = Field(None, description="Edition of the board: original or revised.", examples=["original"])
    editions: list[str] | None = Field(
        None,
        description="Several editions, which deals have in turn, instead of the one.",
        examples=[["original", "revised"]],
    )
    deals: str | None = Field(
        None,
        description="A suite: a file of deals that are played in turn, instead of shuffled ones.",
        examples=["suite.txt"],
    )
    seed: str | None = Field(
        None, description="A public seed: the same deals again; by default they are secret.", examples=["friday"]
    )
    time: str | None = Field(
        None,
        description="Time control: 100ms for each ply, 10s+0.1s (bank and increment), or both: 10s+0.1s/1s.",
        examples=["100ms"],
    )
    clock: Literal["wall", "cpu"] | None = Field(
        None,
        description="What counts: time on the wall, or CPU time of the bot and its children; by default the wall.",
        examples=["cpu"],
    )
    concurrency: int | None = Field(
        None, description="Games at the same time; by default one less than there are cores.", examples=[2]
    )
    probation: ProbationTable | None = Field(
        None,
        description="When a bot that fails is parked, and what becomes of its games.",
        examples=[{"failures": 3, "share": 0.1, "then": "forfeit"}],
    )
    restart: Literal["never", "every game"] | None = Field(
        None,
        description='Bot processes are kept between games ("never"), or each game gets fresh ones ("every game").',
        examples=["every game"],
    )
    tags: list[str] | None = Field(
        None, description="Words to find the tournament by; they shape nothing.", examples=[["nightly"]]
    )
    db: str | None = Field(
        None, description="The database, a path or a URL; by default ARENA_DB, else arena.db.", examples=["arena.db"]
    )
    report: str | None = Field(None, description="A folder for the report at the end.", examples=["report"])

    TABLES: ClassVar[Mapping[str, type[BaseModel]]] = {"bots": BotEntry, "probation": ProbationTable}

    _origin: Origin | None = PrivateAttr(None)

    @classmethod
    def said(cls, options: Mapping[str, Any]) -> Self:
        """What options say that bear the names of keys, with or without a ``_`` behind; others are passed over."""
        named = {name.rstrip("_"): value for name, value in options.items() if value is not None}
        return cls(**{key: value for key, value in named.items() if key in cls.model_fields})

    def over(self, file: Self) -> Self:
        """These settings where they say something, else the file's."""
        mine = {key: getattr(self, key) for key in self.model_fields_set}
        if mine.keys() & {"edition", "deals"}:  # they say it in place of the editions
            mine.setdefault("editions", None)
        both = file.model_copy(update=mine)
        return both if file.origin is None else both.coming_from(file.origin.without(mine))

    @property
    def origin(self) -> Origin | None:
        """The file that they come from."""
        return self._origin

    def coming_from(self, origin: Origin) -> Self:
        """The same, read from a file."""
        read = self.model_copy()
        read._origin = origin  # noqa: SLF001 - of the same class
        return read

    @contextmanager
    def telling(self, *key: str | int) -> Iterator[None]:
        """Puts file, line and key before a mistake that is found in here, where its value came from a file.

        Args:
            key: what is looked at; the mistake's own key continues it.
        """
        try:
            yield
        except UserError as error:
            place = self._origin and self._origin.place((*key, *error.key))
            if not place:
                raise
            raise UserError(f"{place}: {error.what}", error.value, error.fix) from None


@dataclass(frozen=True, slots=True)
class Origin:
    """A spec file that settings came from.

    Attributes:
        overridden: keys that somebody else has decided since.
    """

    path: Path
    text: str
    overridden: frozenset[str] = frozenset()

    def without(self, keys: Mapping[str, Any]) -> Self:
        """The same where others have decided some keys."""
        return replace(self, overridden=self.overridden | keys.keys())

    def place(self, key: Key) -> str:
        """Where the nearest part of a key stands: ``spec.toml, line 3, key games``; empty where none of it does."""
        if not key or key[0] in self.overridden:
            return ""
        parts = [part for part in key if isinstance(part, str)]
        lines = (line_of(self.text, key[:end]) for end in range(len(key), 0, -1))
        line = next((line for line in lines if line is not None), None)
        return "" if line is None else f"{self.path}, line {line}, key {'.'.join(parts)}"
