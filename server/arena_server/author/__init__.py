"""The author's tools over the referee."""
