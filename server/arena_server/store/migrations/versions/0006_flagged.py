"""Games whose ratings are a fallback are found without a look at all of them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Adds an index that is empty as a rule."""
    op.create_index(
        "seat_flagged",
        "seat",
        ["tournament_id", "number"],
        sqlite_where=sa.text("flagged = 1"),
        postgresql_where=sa.text("flagged"),
    )
