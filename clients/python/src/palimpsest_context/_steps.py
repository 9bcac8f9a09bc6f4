"""What the client does, apart from how it waits.

Each operation is a generator: it yields what it waits for, and is sent what came of it, or has the failure thrown into it. The package
drives it by blocking, `palimpsest_context.aio` by awaiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generator, List, TypeVar

T = TypeVar("T")
Steps = Generator[Any, Any, T]


@dataclass(frozen=True)
class Try:
    """One try of a call. What comes of it is an Answer; a grpc.RpcError is thrown. A stream's request is a function that begins it."""

    service: str
    method: str
    request: Any
    seconds: float

    def sent(self) -> Any:
        return self.request() if callable(self.request) else self.request


@dataclass(frozen=True)
class Answer:
    """What a sidecar answered, and the header of its answer."""

    message: Any
    header: Dict[str, Any]


@dataclass(frozen=True)
class Sleep:
    """A pause."""

    seconds: float


@dataclass(frozen=True)
class Invoke:
    """A call of a function of the caller's."""

    function: Callable[..., Any]
    arguments: Dict[str, Any]


@dataclass(frozen=True)
class Together:
    """Operations side by side. What comes of them is the list of their results, in order."""

    operations: List[Steps[Any]]
