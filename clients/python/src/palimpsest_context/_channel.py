"""What both clients have of gRPC: options, metadata, and the services' stubs over one channel."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import grpc

from .v1 import (
    content_service_pb2_grpc,
    context_service_pb2_grpc,
    conversation_service_pb2_grpc,
    memory_service_pb2_grpc,
    policy_service_pb2_grpc,
)

LARGEST = 64 << 20  # bytes that a sidecar answers with at most
OPTIONS: List[Tuple[str, Any]] = [
    ("grpc.max_receive_message_length", LARGEST),
    ("grpc.max_send_message_length", -1),
    # A sidecar that starts again is found again within a call's deadline.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
]


class Raw:
    """The generated stubs, over the client's channel: its token and its deadline go with each call that names none of its own."""

    def __init__(self, channel: Any) -> None:
        self.context = stub(context_service_pb2_grpc.ContextServiceStub, channel)
        self.conversation = stub(conversation_service_pb2_grpc.ConversationServiceStub, channel)
        self.content = stub(content_service_pb2_grpc.ContentServiceStub, channel)
        self.memory = stub(memory_service_pb2_grpc.MemoryServiceStub, channel)
        self.policy = stub(policy_service_pb2_grpc.PolicyServiceStub, channel)
        self.health: Any = Health(channel)


def stub(of: Any, channel: Any) -> Any:
    """What is generated has no types."""
    return of(channel)


class Health:
    """gRPC's health service, whose messages are too small for stubs."""

    SERVING = b"\x08\x01"

    def __init__(self, channel: Any) -> None:
        self.Check = channel.unary_unary("/grpc.health.v1.Health/Check", request_serializer=bytes, response_deserializer=bytes)


class Defaults:
    """What goes with each call: the token, and a deadline where the call has none and an end of its own."""

    def __init__(self, token: Optional[str], seconds: float) -> None:
        self._metadata = (("authorization", "Bearer " + token),) if token else ()
        self._seconds = seconds

    def complete(self, details: Any, ends: bool) -> "Details":
        timeout = self._seconds if details.timeout is None and ends else details.timeout
        return Details(details, timeout, (*(details.metadata or ()), *self._metadata))


class Details(grpc.ClientCallDetails):
    """The details of a call, completed."""

    def __init__(self, of: Any, timeout: Optional[float], metadata: Tuple[Tuple[str, Any], ...]) -> None:
        self.method, self.credentials = of.method, of.credentials
        self.wait_for_ready = of.wait_for_ready
        self.compression = getattr(of, "compression", None)
        self.timeout, self.metadata = timeout, metadata
