"""Drives operations by blocking."""

from __future__ import annotations

import contextvars
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, Optional

import grpc

from ._channel import OPTIONS, Defaults, Raw
from ._steps import Answer, Invoke, Sleep, Steps, T, Together, Try

TOGETHER = 32  # threads at most for tools side by side


class Driver:
    """A channel, and the steps that are taken over it."""

    def __init__(self, target: str, credentials: Optional[grpc.ChannelCredentials], defaults: Defaults) -> None:
        self._channel = grpc.secure_channel(target, credentials, OPTIONS) if credentials else grpc.insecure_channel(target, OPTIONS)
        self.raw = Raw(grpc.intercept_channel(self._channel, Interceptor(defaults)))

    def close(self) -> None:
        self._channel.close()

    def run(self, steps: Steps[T]) -> T:
        brought: Any = None
        failure: Optional[BaseException] = None
        while True:
            try:
                wanted = steps.throw(failure) if failure is not None else steps.send(brought)
            except StopIteration as end:
                result: T = end.value
                return result
            brought, failure = None, None
            try:
                brought = self._take(wanted)
            except BaseException as caught:
                failure = caught

    def _take(self, wanted: Any) -> Any:
        if isinstance(wanted, Try):
            stub = getattr(getattr(self.raw, wanted.service), wanted.method)
            message, call = stub.with_call(wanted.sent(), timeout=wanted.seconds)
            return Answer(message, dict(call.initial_metadata()))
        if isinstance(wanted, Sleep):
            return time.sleep(wanted.seconds)
        if isinstance(wanted, Invoke):
            return wanted.function(**wanted.arguments)
        assert isinstance(wanted, Together)
        return self._together(wanted.operations)

    def _together(self, operations: List[Steps[Any]]) -> List[Any]:
        if len(operations) < 2:
            return [self.run(operation) for operation in operations]
        with ThreadPoolExecutor(min(len(operations), TOGETHER)) as threads:
            # A tool sees the context variables of its caller, as it would without threads.
            running = [threads.submit(contextvars.copy_context().run, self.run, operation) for operation in operations]
            return [one.result() for one in running]


class Interceptor(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Completes the details of each call."""

    def __init__(self, defaults: Defaults) -> None:
        self._defaults = defaults

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._defaults.complete(client_call_details, ends=True), request)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._defaults.complete(client_call_details, ends=False), request)

    def intercept_stream_unary(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return continuation(self._defaults.complete(client_call_details, ends=False), request_iterator)

    def intercept_stream_stream(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return continuation(self._defaults.complete(client_call_details, ends=False), request_iterator)
