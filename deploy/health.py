"""Asks the health service of a server at an address of this machine: exit code 0 where it serves, else 1.

python health.py unix:/run/arena/socket
"""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

TIMEOUT_S = 5.0


def status(address: str) -> str:
    """What the server says of itself, or why it says nothing."""
    with grpc.insecure_channel(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            return str(error.code().name)
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


if __name__ == "__main__":
    told = status(sys.argv[1])
    print(told)
    sys.exit(told != "SERVING")
