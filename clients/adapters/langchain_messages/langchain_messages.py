"""LangChain's messages as the provider of their model gets them, and messages of what it is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from operator import is_
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.utils.function_calling import convert_to_openai_tool

from palimpsest_context import Conversation
from palimpsest_context.adapters import shapes

KINDS = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage, "developer": SystemMessage}


class Listed:
    """A conversation, and the list of messages that goes there, as the package of their model sends them. Each message is made by itself, so
    that it is known which elements are whose. Where a package has no such way, the format is Chat Completions."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._of: tuple[Any, ...] = ()  # what the following was made for
        self._sent: dict[int, tuple[tuple[Any, ...], list[dict[str, Any]]]] = {}  # messages, by their place in memory, and their elements

    def view(self, request: ModelRequest, reading: Mapping[str, Any]) -> list[BaseMessage]:
        """The messages that the model should see: own ones where they are shown whole."""
        self._prepare(request)
        # What leads a list stands beside it in most formats: it is shown as it is, always.
        leading = list(takewhile(lambda message: isinstance(message, SystemMessage), request.messages))
        system = "\n".join(message.text for message in (request.system_message, *leading) if message)
        messages, elements, owners = request.messages[len(leading) :], [], []
        self._sent = {id(message): self._kept(message) for message in messages}
        for i, message in enumerate(messages):
            made = self._sent[id(message)][1]
            elements += made
            owners += [i] * len(made)
        pieces = self.conversation.view(elements, format=self._format, model=self._model, system=system, tools=self._tools, **reading)
        changed = {owners[k] for piece in pieces if not piece.whole for k in piece.indexes}
        owned, start = {}, 0
        for owner in dict.fromkeys(owners):  # a message of which nothing is sent goes with the next one
            owned[owner], start = messages[start : owner + 1], owner + 1
        for piece in pieces:
            for k in piece.indexes if piece.whole else ():
                leading += self._made([elements[k]]) if owners[k] in changed else owned.pop(owners[k], [])
            leading += self._made(piece.shown)
        return leading + messages[start:]

    def add(self, reply: AIMessage) -> None:
        """Puts on record what the model answered."""
        usage: Any = reply.usage_metadata or {}
        model, cached = reply.response_metadata.get("model_name", self._model), usage.get("input_token_details", {}).get("cache_read")
        said = shapes.reply(self._format, self._elements(reply), model, usage.get("input_tokens"), usage.get("output_tokens"), cached)
        self.conversation.add(said, format=self._format)

    def _prepare(self, request: ModelRequest) -> None:
        model: Any = request.model
        of = (model, request.model_settings, *request.tools)
        if len(of) == len(self._of) and all(map(is_, of[2:], self._of[2:])) and of[0] is self._of[0] and of[1] == self._of[1]:
            return
        self._of, self._sent = of, {}
        self._payload, self._settings = getattr(model, "_get_request_payload", None), dict(request.model_settings)
        if self._payload and request.tools:
            self._settings = dict(model.bind_tools(request.tools, **request.model_settings).kwargs)
        sent = self._request(HumanMessage("?")) if self._payload else {"tools": [convert_to_openai_tool(tool) for tool in request.tools]}
        self._format: Any = "responses" if "input" in sent else "anthropic" if "anthropic" in model._llm_type else "openai"
        self._model, self._tools = sent.get("model") or getattr(model, "model", ""), sent.get("tools")

    def _kept(self, message: BaseMessage) -> tuple[tuple[Any, ...], list[dict[str, Any]]]:
        """A message's elements. They are those of before while it holds the same objects: frameworks set others, and change none."""
        holds = (message, message.content, getattr(message, "tool_calls", None))
        kept = self._sent.get(id(message))
        return kept if kept and all(map(is_, kept[0], holds)) else (holds, self._elements(message))

    def _request(self, message: BaseMessage) -> dict[str, Any]:
        sent: dict[str, Any] = self._payload([message], **self._settings)
        return sent

    def _elements(self, message: BaseMessage) -> list[dict[str, Any]]:
        if not self._payload:
            return [_chat(message)]
        elements: list[dict[str, Any]] = self._request(message)["input" if self._format == "responses" else "messages"]
        return elements

    def _made(self, shown: list[dict[str, Any]]) -> list[BaseMessage]:
        if self._format == "openai":
            return convert_to_messages(shown)
        if self._format == "anthropic":
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
