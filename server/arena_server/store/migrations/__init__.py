"""The schema's versions, and bringing a database to the newest one."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from arena_server.model import UserError

HEAD = "0017"
"""The newest version; a test compares it with the folder ``versions`` and with ``tables``."""
VERSION_TABLE = "arena_schema"
_LOCK = 0x6172656E61  # "arena": migrations of one PostgreSQL database wait for each other


def is_current(connection: Connection, label: str) -> bool:
    """Whether the schema is the newest; raises UserError for a database that is not ours or newer than we know."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise UserError("not a database of an arena", label, "choose another with --db")
        return False
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    if version is not None and version > HEAD:
        what = f"made by a newer arena (schema {version}, this one knows {HEAD})"
        raise UserError(what, label, "upgrade patchwork-arena")
    return version == HEAD


def upgrade(connection: Connection, label: str) -> None:
    """Brings the schema to the newest version, in the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    if is_current(connection, label):  # another command was quicker
        return
    from alembic.command import upgrade as run  # noqa: PLC0415 - slow to import, seldom needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    run(config, "head")
