"""Calls of tools, as replies and the record have them, and their results."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Tuple

from . import _formats as formats
from .v1 import message_pb2


@dataclass(frozen=True)
class Call:
    """A call of a tool that waits for its result."""

    id: str
    name: str
    arguments_json: str
    recalls: bool = False

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments, parsed. A ValueError says that the model wrote no JSON object."""
        parsed = json.loads(self.arguments_json or "{}")
        if not isinstance(parsed, dict):
            raise ValueError("the arguments are no JSON object")
        return parsed


class Tail:
    """The newest calls and their results, collected from the end of a record, newest message first."""

    def __init__(self) -> None:
        self._open: List[Call] = []
        self._answered: List[str] = []
        self._called = False

    def take(self, message: Any) -> bool:
        """Takes a message, and says whether an earlier one may belong to the same calls."""
        if message.view.hidden:
            return True
        if message.role == message_pb2.ROLE_TOOL and not self._called:
            self._answered.extend(part.tool_result.call_id for part in message.parts)
            return True
        if message.role != message_pb2.ROLE_ASSISTANT or "aborted" in message.tags:
            return False
        for part in reversed(message.parts):
            if part.WhichOneof("content") == "tool_call":
                self._called = True
                self._pair(part.tool_call)
        return True

    def _pair(self, call: Any) -> None:
        if call.call_id in self._answered:
            self._answered.remove(call.call_id)
        else:
            self._open.insert(0, call_of(call, formats.recalls(call.name)))

    def calls(self) -> List[Call]:
        return self._open


def tool_result(call_id: str, name: str, value: Any, error: bool = False) -> Any:
    state = message_pb2.TOOL_RESULT_STATE_ERROR if error else message_pb2.TOOL_RESULT_STATE_COMPLETED
    result = message_pb2.ToolResult(call_id=call_id, name=name, state=state)
    text = formats.shown(value)
    if text is None:
        result.json = formats.dumped(value)
    else:
        result.text = text
    return result


def call_of(call: Any, recalls: bool) -> Call:
    return Call(call.call_id, call.name, call.arguments_json, recalls)


def calls_of(format: str, reply: str) -> List[Call]:
    """The calls in a reply that is not on record yet, as the sidecar would read them."""
    readers = {"openai": chat_calls, "responses": response_calls, "anthropic": anthropic_calls, "gemini": gemini_calls}
    return [Call(id, name, arguments, formats.recalls(name)) for id, name, arguments in readers[format](json.loads(reply))]


Found = Iterable[Tuple[str, str, str]]


def chat_calls(reply: Any) -> Found:
    message = reply["choices"][0]["message"] if "choices" in reply else reply
    for call in message.get("tool_calls") or []:
        if call.get("type", "function") == "custom":
            yield call["id"], call["custom"]["name"], call["custom"]["input"]
        else:
            yield call["id"], call["function"]["name"], call["function"]["arguments"]


def response_calls(reply: Any) -> Found:
    for item in reply["output"] if isinstance(reply, dict) and "output" in reply else reply if isinstance(reply, list) else [reply]:
        if item.get("type") == "function_call":
            yield item["call_id"], item["name"], item["arguments"]


def anthropic_calls(reply: Any) -> Found:
    for block in reply["content"] if isinstance(reply.get("content"), list) else []:
        if block.get("type") == "tool_use":
            yield block["id"], block["name"], formats.dumped(block["input"])


def gemini_calls(reply: Any) -> Found:
    for call in function_calls(reply):
        yield call.get("id") or "", call["name"], formats.dumped(call.get("args") or {})


def function_calls(reply: Any) -> Iterable[Any]:
    content = reply["candidates"][0].get("content") or {} if "candidates" in reply else reply
    for part in content.get("parts") or []:
        call = part.get("functionCall") or part.get("function_call")
        if call:
            yield call


def identified(reply: str) -> str:
    """A reply of Gemini's whose calls have ids: where it goes on record with its results, nobody else gives them any."""
    parsed_reply = json.loads(reply)
    for call in function_calls(parsed_reply):
        call["id"] = call.get("id") or f"call-{uuid.uuid4().hex}"
    return formats.dumped(parsed_reply)
