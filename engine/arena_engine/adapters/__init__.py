"""Patchwork in the interfaces of OpenSpiel, PettingZoo and Gymnasium (extra ``rl``): one module for each."""
