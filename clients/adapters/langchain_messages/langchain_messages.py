"""LangChain's messages as the provider of their model gets them, and messages of what it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.utils.function_calling import convert_to_openai_tool

from palimpsest_context import Conversation
from palimpsest_context.adapters import shapes

KINDS = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage, "developer": SystemMessage}


class Sent:
    """A request as its model's package sends it. Each message is made by itself, so that it is known which elements are whose. Where a package
    has no such way, the format is Chat Completions."""

    def __init__(self, request: ModelRequest) -> None:
        model: Any = request.model
        self._payload = getattr(model, "_get_request_payload", None)
        self._settings = dict(request.model_settings)
        if self._payload and request.tools:
            self._settings = dict(model.bind_tools(request.tools, **request.model_settings).kwargs)
        sent = self._sent(HumanMessage("?")) if self._payload else {"tools": [convert_to_openai_tool(tool) for tool in request.tools]}
        self.format: Any = "responses" if "input" in sent else "anthropic" if "anthropic" in model._llm_type else "openai"
        self._model, self._tools = sent.get("model") or getattr(model, "model", ""), sent.get("tools")
        # What leads a list stands beside it in most formats: it is shown as it is, always.
        self._leading = list(takewhile(lambda message: isinstance(message, SystemMessage), request.messages))
        self._system = "\n".join(message.text for message in (request.system_message, *self._leading) if message)
        self._messages = request.messages[len(self._leading) :]

    def view(self, conversation: Conversation, reading: Mapping[str, Any]) -> list[BaseMessage]:
        """The messages that the model should see: own ones where they are shown whole."""
        elements, owners = [], []
        for i, message in enumerate(self._messages):
            made = self._elements(message)
            elements += made
            owners += [i] * len(made)
        pieces = conversation.view(elements, format=self.format, model=self._model, system=self._system, tools=self._tools, **reading)
        changed = {owners[k] for piece in pieces if not piece.whole for k in piece.indexes}
        shown, owned = list(self._leading), {}
        start = 0
        for owner in dict.fromkeys(owners):  # a message of which nothing is sent goes with the next one
            owned[owner], start = self._messages[start : owner + 1], owner + 1
        for piece in pieces:
            for k in piece.indexes if piece.whole else ():
                shown += self._made([elements[k]]) if owners[k] in changed else owned.pop(owners[k], [])
            shown += self._made(piece.shown)
        return shown + self._messages[start:]

    def reply(self, reply: AIMessage) -> dict[str, Any]:
        """What the model answered, as the provider's API has it."""
        usage: Any = reply.usage_metadata or {}
        model, cached = reply.response_metadata.get("model_name", self._model), usage.get("input_token_details", {}).get("cache_read")
        return shapes.reply(self.format, self._elements(reply), model, usage.get("input_tokens"), usage.get("output_tokens"), cached)

    def _sent(self, message: BaseMessage) -> dict[str, Any]:
        sent: dict[str, Any] = self._payload([message], **self._settings)
        return sent

    def _elements(self, message: BaseMessage) -> list[dict[str, Any]]:
        if self._payload:
            sent = self._sent(message)
            elements: list[dict[str, Any]] = sent["input"] if self.format == "responses" else sent["messages"]
            return elements
        return [_chat(message)]

    def _made(self, shown: list[dict[str, Any]]) -> list[BaseMessage]:
        if self.format == "openai":
            return convert_to_messages(shown)
        if self.format == "anthropic":
            return [KINDS[message["role"]](message["content"]) for message in shown]
        return list(map(_item, shown))


def _item(item: dict[str, Any]) -> BaseMessage:
    """A message of an item of Responses. What only the model makes is content of an AIMessage, as it is."""
    if item.get("type", "message").endswith("_output"):
        return ToolMessage(item["output"], tool_call_id=item["call_id"])
    if "role" not in item:
        return AIMessage([item])
    if item["role"] != "assistant":
        return KINDS[item["role"]](item["content"])
    named = {key: item[key] for key in ("id", "phase") if key in item}
    content = item["content"]
    return AIMessage(content if isinstance(content, str) else [{**part, **named} for part in content])


def _chat(message: BaseMessage) -> dict[str, Any]:
    """A message as Chat Completions has it. What has no place there is told as text, in JSON: reasoning stays with the state."""
    if isinstance(message, AIMessage):
        message = message.model_copy(update={"content": message.text})
    try:
        sent: dict[str, Any] = convert_to_openai_messages(message)
    except ValueError:
        texts = [block if isinstance(block, str) else block.get("text") or json.dumps(block, default=str) for block in message.content]
        sent = convert_to_openai_messages(message.model_copy(update={"content": "\n".join(texts)}))
    return sent
