"""Palimpsest: a sidecar that owns an agent's conversation, and says what its model sees.

    with Palimpsest.local() as p:
        conversation = p.conversation("c1")
        conversation.user("What is the weather in Kraków?")
        reply = llm.chat.completions.create(**conversation.openai(model="..."))
        calls = conversation.add(reply)

`palimpsest_context.aio` has the same for asyncio.
"""

from . import reasons
from ._calls import Call
from ._channel import Raw
from ._formats import Cut, Differs, Format, OnUnavailable
from ._piece import Piece
from ._version import __version__
from .client import Conversation, Palimpsest, Stream
from .errors import LocalSidecarError, OlderSidecarError, PalimpsestError, Refused, Violation, error_of
from .reasons import *  # noqa: F403

__all__ = [
    "Call",
    "Conversation",
    "Cut",
    "Differs",
    "Format",
    "LocalSidecarError",
    "OlderSidecarError",
    "OnUnavailable",
    "Palimpsest",
    "PalimpsestError",
    "Piece",
    "Raw",
    "Refused",
    "Stream",
    "Violation",
    "__version__",
    "error_of",
]
__all__ += reasons.__all__
