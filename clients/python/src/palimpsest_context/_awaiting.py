"""Drives operations by awaiting."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, List, Optional

import grpc
import grpc.aio

from ._channel import OPTIONS, Defaults, Raw
from ._steps import Answer, Invoke, Sleep, Steps, T, Together, Try


class Driver:
    """A channel of the running event loop, and the steps that are taken over it."""

    def __init__(self, target: str, credentials: Optional[grpc.ChannelCredentials], defaults: Defaults) -> None:
        self._target, self._credentials, self._defaults = target, credentials, defaults
        self._channel: Any = None
        self._raw: Optional[Raw] = None

    @property
    def raw(self) -> Raw:
        """The stubs. A channel belongs to the event loop in which it was opened, so that the first use opens it."""
        if self._raw is None:
            self._channel = self._opened()
            self._raw = Raw(self._channel)
        return self._raw

    def _opened(self) -> Any:
        interceptors = [kind(self._defaults) for kind in (UnaryUnary, UnaryStream, StreamUnary, StreamStream)]
        if self._credentials:
            return grpc.aio.secure_channel(self._target, self._credentials, options=OPTIONS, interceptors=interceptors)
        return grpc.aio.insecure_channel(self._target, options=OPTIONS, interceptors=interceptors)

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()

    async def run(self, steps: Steps[T]) -> T:
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
                brought = await self._take(wanted)
            except BaseException as caught:
                failure = caught

    async def _take(self, wanted: Any) -> Any:
        if isinstance(wanted, Try):
            call = getattr(getattr(self.raw, wanted.service), wanted.method)(wanted.sent(), timeout=wanted.seconds)
            message = await call
            return Answer(message, dict(await call.initial_metadata()))
        if isinstance(wanted, Sleep):
            return await asyncio.sleep(wanted.seconds)
        if isinstance(wanted, Invoke):
            return await invoke(wanted)
        assert isinstance(wanted, Together)
        return await self._together(wanted.operations)

    async def _together(self, operations: List[Steps[Any]]) -> List[Any]:
        """Waits for all of them, whatever comes of one: nothing runs on behind a failure."""
        results = await asyncio.gather(*(self.run(operation) for operation in operations), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return list(results)


async def invoke(wanted: Invoke) -> Any:
    """Calls a tool: one that blocks, in a thread."""
    if inspect.iscoroutinefunction(wanted.function):
        return await wanted.function(**wanted.arguments)
    value = await asyncio.to_thread(wanted.function, **wanted.arguments)
    return await value if inspect.isawaitable(value) else value


class Interceptor:
    """Completes the details of each call."""

    def __init__(self, defaults: Defaults) -> None:
        self._defaults = defaults

    def _complete(self, details: Any, ends: bool) -> Any:
        completed: Any = self._defaults.complete(details, ends)
        metadata = grpc.aio.Metadata(*completed.metadata)
        return details._replace(timeout=completed.timeout, metadata=metadata)


class UnaryUnary(Interceptor, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(self._complete(client_call_details, ends=True), request)


class UnaryStream(Interceptor, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(self._complete(client_call_details, ends=False), request)


class StreamUnary(Interceptor, grpc.aio.StreamUnaryClientInterceptor):
    async def intercept_stream_unary(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return await continuation(self._complete(client_call_details, ends=False), request_iterator)


class StreamStream(Interceptor, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return await continuation(self._complete(client_call_details, ends=False), request_iterator)
