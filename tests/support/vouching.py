"""Certificates of servers, and who vouches for them."""

from __future__ import annotations

import grpc
import trustme


def credentials(issued: trustme.LeafCert) -> grpc.ServerCredentials:
    """Those of a server with that certificate."""
    return grpc.ssl_server_credentials([(issued.private_key_pem.bytes(), issued.cert_chain_pems[0].bytes())])
