"""A reply that comes in pieces, on its way to the record."""

from __future__ import annotations

from typing import Any, List, Optional

from ._calls import Call
from ._core import ConversationCore
from ._formats import Fields
from ._steps import Steps
from ._streams import ASSEMBLIES
from .v1 import provider_input_pb2


class StreamCore:
    """Events as they come; at their end, the reply that they make is put on record, once."""

    def __init__(self, conversation: ConversationCore, format: Optional[str], fields: Fields) -> None:
        self._conversation, self._fields = conversation, fields
        self._format = conversation.format_of(format)
        self._assembly: Any = ASSEMBLIES[self._format]()
        self.calls: List[Call] = []
        self.ended = False

    def feed(self, event: Any) -> None:
        self._assembly.feed(event)

    def end(self) -> Steps[None]:
        if self.ended:
            return
        self.ended = True
        reply, whole = self._assembly.reply(), self._assembly.whole
        if reply is not None:
            shape = provider_input_pb2.PROVIDER_INPUT_SHAPE_RESPONSE
            self.calls = yield from self._conversation.add(reply, self._format, not whole, self._fields, shape)
