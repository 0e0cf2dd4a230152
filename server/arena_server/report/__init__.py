"""Reports of a tournament: pages for people, tables and records for programs."""
