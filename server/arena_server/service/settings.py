"""What an organiser can say to `arena serve`: by option, else by environment, else by file, else by default."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from arena_server.coordinator.settings import BotEntry
from arena_server.launching.manifest import suggest
from arena_server.model import UserError
from arena_server.service import certificate
from arena_server.store import anchors

PREFIX = "ARENA_SERVE_"
MAX_PORT = 65_535


class ServeSettings(BaseSettings):
    """Of one server. Of every key there is a variable ``ARENA_SERVE_KEY``; lists are written there as JSON."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    db: str = Field(
        default_factory=lambda: os.environ.get("ARENA_DB") or "arena.db", description="The database, a path or a URL."
    )
    season: str = Field("season", description="Name of the season that is played.")
    listen: list[str] = Field(["127.0.0.1:5400"], description="Where bots and readers dial in: HOST:PORT.")
    tls_cert: Path | None = Field(None, description="Certificate chain, PEM; without it the wire is plain.")
    tls_key: Path | None = Field(None, description="Its private key, PEM.")
    insecure: bool = Field(default=False, description="Whether the wire may be plain beyond this machine.")
    socket: Path | None = Field(None, description="A Unix socket for this user alone.")
    metrics: int | None = Field(None, description="Port of Prometheus metrics on 127.0.0.1.", ge=0, le=MAX_PORT)
    bots: list[BotEntry] = Field([], description="The house bots, which the server launches itself.")
    anchor: list[str] = Field([], description="Bots whose Elo is fixed, BOT=ELO, so that seasons compare.")
    edition: str | None = Field(None, description="Edition of the board.")
    time: str = Field("1s", description="Time control; for bots far away better not less than a second a ply.")
    concurrency: int = Field(2, description="Games at the same time.", ge=1)
    grace: float = Field(
        20.0, description="Seconds that running games have to finish when the server stops.", ge=0, allow_inf_nan=False
    )
    admission: bool = Field(
        default=True, description="Whether a bot from elsewhere is tested before it plays rated games."
    )
    retry_after: float = Field(
        2.0, description="Seconds after which bots look for a server that stopped.", ge=0, allow_inf_nan=False
    )
    closing_wait: float = Field(
        24.0, description="Hours that games of a closing wait for a bot that is away.", ge=0, allow_inf_nan=False
    )
    dev: bool = Field(default=False, description="Whether clients may ask what services there are (reflection).")

    def check(self) -> None:
        """What no type says.

        Raises:
            UserError: a plain wire beyond this machine, a certificate that cannot be used, no address, or no anchor.
        """
        anchors.read(self.anchor)
        if (self.tls_cert is None) != (self.tls_key is None):
            raise UserError("half of a certificate", "", "give both tls_cert and tls_key")
        if self.tls_cert is not None and self.tls_key is not None:
            certificate.check(self.tls_cert, self.tls_key)
        if not self.listen and self.socket is None:
            raise UserError("nobody could reach this server", "listen = []", "give an address, or a socket")
        for address in self.listen:
            found = re.fullmatch(r"(.+):([0-9]{1,5})", address)
            if found is None or int(found[2]) > MAX_PORT:
                raise UserError("not an address", repr(address), f"write HOST:PORT, with a port from 0 to {MAX_PORT}")
            if self.tls_cert is None and not self.insecure and not is_loopback(found[1]):
                fix = "give tls_cert and tls_key, or --insecure: whoever listens could read tokens and play for others"
                raise UserError("a plain wire beyond this machine", address, fix)


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read(path: Path | None, given: dict[str, Any]) -> ServeSettings:
    """The settings.

    Args:
        path: of a TOML file.
        given: what the command line says.

    Raises:
        UserError: the file cannot be read, an unknown key, or a value of the wrong type.
    """
    _check_environment()
    if path is not None:
        _check_file(path)

    class _Settings(ServeSettings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            file = () if path is None else (TomlConfigSettingsSource(settings_cls, toml_file=path),)
            return (init_settings, env_settings, *file)

    try:
        settings = _Settings(**given)
    except ValidationError as error:
        raise _told(error) from None
    except SettingsError as error:
        fix = "lists are written as JSON"
        raise UserError("a setting in the environment cannot be read", str(error), fix) from None
    settings.check()
    return settings


def _told(error: ValidationError) -> UserError:
    """The first mistake, in words."""
    mistake = error.errors(include_url=False)[0]
    key = ".".join(map(str, mistake["loc"]))
    if mistake["type"] == "extra_forbidden":
        table = BotEntry if len(mistake["loc"]) > 1 else ServeSettings
        return UserError("unknown setting", repr(key), suggest(str(mistake["loc"][-1]), table.model_fields, "settings"))
    return UserError(f"wrong setting {key}", repr(mistake["input"]), mistake["msg"])


def _check_environment() -> None:
    """Refuses variables that look like ours and are not, which pydantic passes over."""
    for name in os.environ:
        key = name.casefold().removeprefix(PREFIX.casefold())
        if name.upper().startswith(PREFIX) and key not in ServeSettings.model_fields:
            fix = suggest(key, ServeSettings.model_fields, f"behind {PREFIX}")
            raise UserError("unknown setting in the environment", name, fix)


def _check_file(path: Path) -> None:
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"cannot read the settings: {error.strerror}", path, "check the path; house bots come with --bot"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError("the settings are not TOML", f"{path}: {error}", "mend that line") from None
