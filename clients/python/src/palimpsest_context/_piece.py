"""Views by place: what a model is shown of a caller's list."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Dict, Iterable, List, Mapping, Tuple

from .v1 import provider_input_pb2

Kind = provider_input_pb2.ViewPieceKind


class Piece:
    """A run of neighbors in a view.

    `kind` is "whole", "changed", "summary", "made_up" or "recorded": see ViewPieceKind of the API. Of a whole piece the caller sends its own
    objects, those at `indexes` of its list. Of all others it sends `shown`, messages in the list's format.
    """

    def __init__(self, kind: str, indexes: Iterable[int], json: str = "") -> None:
        self.kind, self._json = kind, json
        self.indexes: Tuple[int, ...] = tuple(indexes)

    @property
    def whole(self) -> bool:
        return self.kind == "whole"

    @cached_property
    def shown(self) -> List[Dict[str, Any]]:
        """What is shown in place of the list's elements; none of a whole piece."""
        shown: List[Dict[str, Any]] = json.loads(self._json or "[]")
        return shown


def pieces_of(view: Iterable[Any], cited: Mapping[int, str]) -> List[Piece]:
    """The pieces of an answer. What was sent with a citation in the place of a long text is not the caller's own object."""
    pieces: List[Piece] = []
    for answered in view:
        kind, whole = Kind.Name(answered.kind).replace("VIEW_PIECE_KIND_", "").lower(), []
        for index in answered.list_indexes if kind == "whole" else ():
            if index in cited:
                if whole:
                    pieces.append(Piece(kind, whole))
                pieces.append(Piece("changed", (index,), f"[{cited[index]}]"))
                whole = []
            else:
                whole.append(index)
        if kind != "whole":
            pieces.append(Piece(kind, answered.list_indexes, answered.json))
        elif whole:
            pieces.append(Piece(kind, whole))
    return pieces
