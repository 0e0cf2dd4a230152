"""What the arena answers over the network beside the games themselves, and the server that runs for months.

Nothing is imported here: ``serving`` starts the keeper before anything imports grpc.
"""
