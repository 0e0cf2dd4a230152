"""gRPC: server options, tokens, and the sessions of bots."""
