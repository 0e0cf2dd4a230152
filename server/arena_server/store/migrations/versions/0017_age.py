"""The newest season among very many challenges."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Adds an index."""
    op.create_index("tournament_by_age", "tournament", ["purpose", "id"])
