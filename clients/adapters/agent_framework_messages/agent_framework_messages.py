"""Agent Framework's messages in the format of the client's provider, and a view of them in its own messages."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import Any

from agent_framework import ChatContext, Content, FunctionTool, Message

from palimpsest_context import Piece
from palimpsest_context.adapters import shapes

FORMATS = {
    "RawOpenAIChatCompletionClient": "openai",
    "RawOpenAIChatClient": "responses",
    "RawAnthropicClient": "anthropic",
    "RawGeminiChatClient": "gemini",
}


class Unit:
    """Contents of a message that are shown or not by themselves."""

    def __init__(self, message: Message, contents: Sequence[Content]) -> None:
        self.message, self.contents = message, contents
        self.silent: list[Unit] = []  # those behind it of which the provider is sent nothing: they go along


class Sent:
    """What a call of a client sends, and of which messages each element is made."""

    def __init__(self, context: ChatContext) -> None:
        self._client: Any = context.client
        self._class = next((kind.__name__ for kind in type(self._client).__mro__ if kind.__name__ in FORMATS), "")
        self.format = FORMATS.get(self._class, "openai")
        options = context.options or {}
        self.model: str = options.get("model") or getattr(self._client, "model", "") or ""
        self._standing = list(takewhile(lambda message: message.role == "system", context.messages))
        self.system = "\n\n".join(text for text in (*(message.text for message in self._standing), options.get("instructions")) if text)
        offered = [tool.to_json_schema_spec()["function"] for tool in options.get("tools") or () if isinstance(tool, FunctionTool)]
        self.tools = shapes.tools(self.format, ((tool["name"], tool.get("description"), tool["parameters"]) for tool in offered))
        self._names: dict[str, str] = {}
        self.elements: list[Any] = []
        self._owners: list[Unit] = []
        last = self._first = Unit(Message("user", []), [])
        for message in context.messages[len(self._standing) :]:
            # Results stand by themselves in every format; all else is one message.
            divided = [[content] for content in message.contents] if message.role == "tool" else [message.contents]
            for unit in (Unit(message, contents) for contents in divided):
                elements = self.of(message, unit.contents)
                self.elements += elements
                self._owners += [unit] * len(elements)
                last = unit if elements else last
                last.silent += [] if elements else [unit]

    def of(self, message: Message, contents: Sequence[Content]) -> list[Any]:
        """What the provider is sent of a message, as the client writes it."""
        alone = _part(message, contents)
        self._names.update((content.call_id, content.name) for content in contents if content.type == "function_call")
        if self._class == "RawOpenAIChatClient":
            return list(self._client._prepare_messages_for_openai([alone], request_uses_service_side_storage=False))
        if self._class == "RawOpenAIChatCompletionClient":
            return list(self._client._prepare_message_for_openai(alone))
        if self._class == "RawAnthropicClient":
            return [sent for sent in self._client._prepare_message_groups_for_anthropic(alone) if sent["content"]]
        if self._class == "RawGeminiChatClient" and message.role == "tool":
            return [{"role": "user", "parts": [self._client._convert_function_result(content, self._names) for content in contents]}]
        if self._class == "RawGeminiChatClient":
            parts = self._client._convert_message_contents(contents, self._names)
            return [{"role": "model" if message.role == "assistant" else "user", "parts": parts}] if parts else []
        return list(_chat(alone))

    def shown(self, pieces: Sequence[Piece]) -> list[Message]:
        """A view. Messages of which all is shown are themselves."""
        placed = [self._first, *shapes.placed(pieces, self.elements, self._owners, lambda told, own: [self._made(told, own)])]
        units = [shown for unit in placed for shown in (unit, *unit.silent) if shown.contents]
        shown = [(units[0].message, [content for unit in units for content in unit.contents]) for units in _runs(units)]
        return [*self._standing, *(message if _same(contents, message.contents) else _part(message, contents) for message, contents in shown)]

    def _made(self, told: shapes.Shown, own: Unit | None) -> Unit:
        """What is shown otherwise than it was said, or was not said at all: what stands for it keeps what is not shown of it."""
        message, contents = (own.message, own.contents) if own else (Message("tool" if told.results else told.role, []), [])
        made: list[Content] = [content for content in contents if told.media and content.type in ("data", "uri")]
        made += [content for content in contents if told.thinks and content.type == "text_reasoning"]
        made += [Content.from_text(told.text)] if told.text or not (made or told.calls or told.results) else []
        called = [content.call_id for content in contents if content.type == "function_call"]
        for i, (id, name, arguments) in enumerate(told.calls):
            made.append(Content.from_function_call(called[i] if len(called) == len(told.calls) else id, name, arguments=arguments))
        for id, _, result in told.results:
            rich = [item for content in contents for item in content.items or () if result.media and item.type != "text"]
            held = contents[0].call_id if len(contents) == 1 else id
            made.append(Content.from_function_result(held, result=[Content.from_text(result.text), *rich] if rich else result.text))
        return Unit(message, made)


def _runs(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    for _, run in groupby(units, lambda unit: id(unit.message)):
        yield list(run)


def _same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return [*map(id, some)] == [*map(id, others)]


def _part(message: Message, contents: Sequence[Content]) -> Message:
    part = copy.copy(message)
    part.contents = list(contents)
    return part


def _chat(message: Message) -> Iterator[dict[str, Any]]:
    """A message as Chat Completions has it, for clients that have none of these formats. The model sees the original."""
    for content in message.contents:
        if content.type == "function_result":
            yield {"role": "tool", "tool_call_id": content.call_id, "content": str(content.result or "")}
    if message.role != "tool":
        calls = [content for content in message.contents if content.type == "function_call"]
        said = [_item(content) for content in message.contents if content.type in ("text", "data", "uri")]
        functions = [{"name": call.name, "arguments": _json(call.arguments)} for call in calls]
        made = [{"id": call.call_id, "type": "function", "function": function} for call, function in zip(calls, functions)]
        yield {"role": message.role, "content": said or None, **({"tool_calls": made} if made else {})}


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _item(content: Content) -> dict[str, Any]:
    if content.type == "text":
        return {"type": "text", "text": content.text or ""}
    if (content.media_type or "").startswith("image/"):
        return {"type": "image_url", "image_url": {"url": content.uri}}
    return {"type": "file", "file": {"file_data": content.uri}} if content.type == "data" else {"type": "text", "text": content.uri}
