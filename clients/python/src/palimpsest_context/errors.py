"""What calls fail with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import grpc

from .v1 import status_pb2


@dataclass(frozen=True)
class Refused:
    """What was said and is not taken: its place among what waited, the API's BatchAppendItem with its `message` or `provider_input`, and why."""

    index: int
    item: Any
    message: str


@dataclass(frozen=True)
class Violation:
    """One fault of a request: the path of the field, and what is wrong with it."""

    field: str
    description: str


class PalimpsestError(Exception):
    """A call failed. `reason` is the name of an ErrorReason without its prefix, or empty where gRPC itself refused; `code` is gRPC's.

    `refused` is what waited to go on record and is not taken: it waits no longer, and the rest goes on.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        code: str = "",
        violations: Sequence[Violation] = (),
        metadata: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = code
        self.violations: Tuple[Violation, ...] = tuple(violations)
        self.metadata: Dict[str, str] = dict(metadata or {})
        self.refused: Tuple[Refused, ...] = ()

    def __str__(self) -> str:
        where = "".join(f"; {v.field}: {v.description}" for v in self.violations)
        return f"{self.reason or self.code}: {self.args[0]}{where}"

    @property
    def passing(self) -> bool:
        """Whether the same call, under the same request id, may succeed a moment later."""
        return self.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or self.reason in ("CONTENTION", "OVERLOADED")

    @property
    def uncertain(self) -> bool:
        """Whether the call may have been carried out all the same."""
        return self.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN")


class OlderSidecarError(Exception):
    """The sidecar is older than the package: it does not know all that the package asks for."""


class LocalSidecarError(Exception):
    """A sidecar could not be started on this machine."""


DETAILS = "grpc-status-details-bin"


def error_of(failure: grpc.RpcError) -> PalimpsestError:
    """The error of a call over `raw` that gRPC says has failed, of the class of its reason."""
    from .reasons import BY_REASON

    call: Any = failure
    info, bad = details(call.trailing_metadata() or ())
    return BY_REASON.get(info.reason, PalimpsestError)(
        call.details() or "",
        reason=info.reason,
        code=call.code().name,
        violations=[Violation(v.field, v.description) for v in bad.field_violations],
        metadata=info.metadata,
    )


def details(trailer: Any) -> Tuple[Any, Any]:
    """The ErrorInfo and the BadRequest of a failed call, empty where it has none."""
    info, bad = status_pb2.ErrorInfo(), status_pb2.BadRequest()
    for key, value in trailer:
        if key != DETAILS:
            continue
        for detail in status_pb2.Status.FromString(value).details:
            for known, name in ((info, "google.rpc.ErrorInfo"), (bad, "google.rpc.BadRequest")):
                if detail.type_url.endswith("/" + name):
                    known.MergeFromString(detail.value)
    return info, bad
