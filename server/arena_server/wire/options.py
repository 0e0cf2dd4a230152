"""Options of the gRPC server, each with the fault or attack that it answers."""

from __future__ import annotations

from typing import NamedTuple

MAX_MESSAGE = 65_536
"""Bytes of one message from a bot; the longest honest one is a traceback."""
MAX_METADATA = 8_192
"""Bytes of all metadata of one call."""
ENTRY_OVERHEAD = 32
"""Bytes that an entry of metadata counts beside its key and value, as in HTTP/2: empty ones cost something, too."""
MAX_CONNECTIONS = 2_000
"""To one address at once."""
MAX_PENDING = 200
"""Calls that have arrived and not begun."""


class Option(NamedTuple):
    """One channel argument and why it is set."""

    name: str
    value: int
    why: str


SERVER_OPTIONS = (
    Option("grpc.so_reuseport", 0, "a second server on the port must fail, not share it silently"),
    Option("grpc.max_concurrent_streams", 16, "rapid reset: bounds what one connection can open"),
    Option("grpc.max_receive_message_length", MAX_MESSAGE, "huge messages and huge claims of length"),
    Option("grpc.max_metadata_size", MAX_METADATA, "metadata bombs; holds once the client has seen SETTINGS"),
    Option("grpc.keepalive_time_ms", 5_000, "half-open connections and frozen clients are noticed"),
    Option("grpc.keepalive_timeout_ms", 3_000, "within ten seconds"),
    Option("grpc.http2.ping_timeout_ms", 3_000, "keepalive alone missed a frozen client for 40 s"),
    Option("grpc.http2.max_pings_without_data", 0, "a bot may think for long without sending data"),
    Option("grpc.keepalive_permit_without_calls", 1, "a bot between games is still watched"),
    Option("grpc.http2.min_ping_interval_without_data_ms", 4_000, "ping floods; bots ping every 5 s at most"),
    Option("grpc.max_connection_idle_ms", 30_000, "connections without a call; a bot holds its stream"),
    Option("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS, "connection floods: games need descriptors"),
    # A client that never acknowledges SETTINGS may send 16 MiB of metadata in 8 KiB (HPACK), whatever is set above.
    Option("grpc.server.max_pending_requests", MAX_PENDING // 2, "metadata bombs: what waits with them costs memory"),
    Option("grpc.server.max_pending_requests_hard_limit", MAX_PENDING, "likewise; those above are refused at random"),
    Option("grpc.server_handshake_timeout_ms", 3_000, "slowloris"),
    Option("grpc.http2.settings_timeout", 3_000, "slowloris after the handshake"),
)


def channel_arguments() -> list[tuple[str, int]]:
    """The options as grpc takes them."""
    return [(option.name, option.value) for option in SERVER_OPTIONS]
