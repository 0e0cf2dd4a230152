"""SEEDS simulated tournaments with faults, and bugs planted to see that they are caught."""

from __future__ import annotations

from simulated.figures import planted_figures, simulation_figures  # tests/support

from faults.running import size


def measure() -> dict[str, float]:
    """All figures of the simulation."""
    return {**planted_figures(), **simulation_figures(size("SEEDS", 5000))}
