"""Who is parked, and what decides it."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_UNSTARTED = """
    UPDATE entrant SET unstarted = (
        SELECT count(*) FROM seat
        WHERE seat.tournament_id = entrant.tournament_id AND seat.entrant = entrant.position AND seat.mu IS NOT NULL
        AND seat.number > coalesce((
            SELECT max(started.number) FROM seat AS started
            WHERE started.tournament_id = entrant.tournament_id AND started.entrant = entrant.position
            AND started.mu IS NOT NULL AND coalesce(started.failure, '') != 'start_failure'
        ), 0)
    )
"""


def upgrade() -> None:
    """Counts the start failures in a row so far; nobody is parked yet."""
    op.add_column("entrant", sa.Column("unstarted", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("entrant", sa.Column("parked", sa.Integer(), nullable=True))
    op.add_column("entrant", sa.Column("parked_why", sa.String(), nullable=True))
    op.execute(_UNSTARTED)
