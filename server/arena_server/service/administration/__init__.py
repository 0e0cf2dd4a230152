"""What an organiser does with a server that runs, or with its database at hand: the same, in the same words."""
