"""Runs migrations on the connection that ``upgrade`` hands over."""

from alembic import context

from arena_server.store.migrations import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
