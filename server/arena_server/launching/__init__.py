"""Bots on this machine: what they are, and the processes they run in."""
