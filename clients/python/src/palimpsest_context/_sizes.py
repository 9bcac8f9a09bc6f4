"""What one request holds, and what is larger than that."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Callable, Iterator, List, Mapping, Sequence, Tuple

from ._formats import dumped
from .v1 import content_service_pb2, message_pb2

REQUEST = 8 << 20  # bytes that are put together in one request
LARGEST_ITEM = 15 << 20  # of one that goes alone: a request has 16 MiB
ITEMS, ELEMENTS = 1000, 5000  # of a batch, and of a part of a list
MARKS = 100_000  # brackets and commas of a request's JSON: the sidecar takes 200,000
LONG = 1 << 20  # bytes of a text that is stored beside an item that is too large with it
CHUNK = 1 << 20  # bytes of a stored text that are sent at once
TEXTS = ("text", "content", "output")  # where providers' JSON holds the words of results and messages


def first_fitting(sizes: Sequence[Tuple[int, int]], most: int) -> int:
    """How many of a list's first items, with their bytes and marks, one request holds; at least one."""
    size = marks = 0
    for n, (bytes_, marked) in enumerate(sizes):
        size, marks = size + bytes_, marks + marked
        if n and (n == most or size > REQUEST or marks > MARKS):
            return n
    return len(sizes)


def of_json(text: str) -> Tuple[int, int]:
    """The bytes and the marks of JSON. Words have commas too: there are never more marks than that."""
    size = len(text) if text.isascii() else len(text.encode())
    return size, text.count(",") + text.count("[") + text.count("{")


def is_large(element: str) -> bool:
    return len(element) > LARGEST_ITEM // 4 and of_json(element)[0] > LARGEST_ITEM


def fits(elements: Sequence[str]) -> bool:
    """Whether a list goes with one request."""
    if len(elements) <= ELEMENTS and sum(map(len, elements)) <= min(MARKS, REQUEST // 4):
        return True
    return first_fitting([of_json(element) for element in elements], ELEMENTS) == len(elements)


def of_item(item: Any) -> Tuple[int, int]:
    return item.ByteSize(), of_json(item.provider_input.json)[1] + 8


def long_texts(value: Any, within: bool = False) -> Iterator[Tuple[Any, Any, str]]:
    """The long texts of a message in a provider's JSON, each with what holds it and its place there. What a function of Gemini's answered is
    one text, whatever it is made of."""
    for key, inner in list(value.items()) if isinstance(value, dict) else list(enumerate(value)):
        if key == "response" and isinstance(inner, dict):
            only = next(iter(inner.values())) if len(inner) == 1 else None
            text = only if isinstance(only, str) else dumped(inner)
            if len(text) > LONG:
                value[key] = {}
                yield value[key], "output", text
        elif isinstance(inner, str):
            if len(inner) > LONG and (key in TEXTS or within and isinstance(key, int)):
                yield value, key, inner
        elif isinstance(inner, (dict, list)):
            yield from long_texts(inner, key in TEXTS)


def citing(element: str, citations: Mapping[str, Any]) -> str:
    """A message in a provider's JSON, with citations in the places of its long texts."""
    message = json.loads(element)
    for holder, place, text in long_texts(message):
        holder[place] = citations[digest(text)].text
    return dumped(message)


def texts_of(element: str) -> List[str]:
    return [text for _, _, text in long_texts(json.loads(element))]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def upload(conversation: str, text: str, sha256: str) -> Callable[[], Iterator[Any]]:
    """The requests of StoreContent under one id, from the beginning each time. Who stores the same again is answered as before."""
    id = str(uuid.uuid4())

    def requests() -> Iterator[Any]:
        header = content_service_pb2.StoreContentHeader(conversation_id=conversation, request_id=id, sha256=sha256, reuse=True)
        yield content_service_pb2.StoreContentRequest(header=header)
        content = text.encode()
        for at in range(0, len(content), CHUNK):
            yield content_service_pb2.StoreContentRequest(chunk=content[at : at + CHUNK])

    return requests


def long_parts(message: Any) -> List[Any]:
    """The parts of a message of the API that are long texts."""
    return [part for part in message.parts if len(text_of(part)) > LONG]


def text_of(part: Any) -> str:
    return str(part.text or part.tool_result.text or part.tool_result.json)


def cite(part: Any, citation: Any) -> None:
    """Puts a citation in the place of a part's text. Of a result, the record keeps where it lies."""
    if part.WhichOneof("content") == "text":
        part.text = citation.text
        return
    part.tool_result.text = citation.text
    part.tool_result.recalled_from.CopyFrom(message_pb2.RecalledFrom(content_id=citation.content_id))
