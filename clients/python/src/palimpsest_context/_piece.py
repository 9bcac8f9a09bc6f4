"""Views by place: what a model is shown of a caller's list."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Dict, List, Tuple

from .v1 import provider_input_pb2

Kind = provider_input_pb2.ViewPieceKind


class Piece:
    """A run of neighbors in a view.

    `kind` is "whole", "changed", "summary", "made_up" or "recorded": see ViewPieceKind of the API. Of a whole piece the caller sends its own
    objects, those at `indexes` of its list. Of all others it sends `shown`, messages in the list's format.
    """

    def __init__(self, answered: Any) -> None:
        self._answered = answered
        self.kind: str = Kind.Name(answered.kind).replace("VIEW_PIECE_KIND_", "").lower()
        self.indexes: Tuple[int, ...] = tuple(answered.list_indexes)

    @property
    def whole(self) -> bool:
        return self.kind == "whole"

    @cached_property
    def shown(self) -> List[Dict[str, Any]]:
        """What is shown in place of the list's elements; none of a whole piece."""
        shown: List[Dict[str, Any]] = json.loads(self._answered.json or "[]")
        return shown
