"""Palimpsest for Microsoft's Agent Framework: a run's messages go in, what the model should see comes out, and the session stays whole."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
from collections.abc import Iterator
from typing import Any

from agent_framework import ChatContext, ChatMiddleware, ChatResponse, Content, ContextProvider, FunctionMiddleware, FunctionTool, Message

from palimpsest_context import Conversation, Palimpsest
from palimpsest_context.adapters import chat_completions as chat


class PalimpsestProvider(ContextProvider):
    """Shows the model its context, and brings the tools by which it gets text back. A session's id is its conversation's.

    With rewind, messages that the session no longer has are taken back on record, as after an edit; without it, such a call is refused.
    Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, rewind: bool = True, **options: Any) -> None:
        super().__init__("palimpsest")
        self.rewind = rewind
        self.conversation = functools.lru_cache(maxsize=1024)(functools.partial(palimpsest.conversation, **options))
        self._tools = [_tool(**definition["function"]) for definition in palimpsest.tools("openai")]

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        conversation = await asyncio.to_thread(self.conversation, session.session_id)
        context.extend_tools(self.source_id, self._tools)
        context.extend_middleware(self.source_id, [_View(conversation, self.rewind), _Recall(conversation, self._tools)])


class _View(ChatMiddleware):
    def __init__(self, conversation: Conversation, rewind: bool) -> None:
        self._conversation = conversation
        self._rewind = rewind

    async def process(self, context: ChatContext, call_next: Any) -> None:
        context.messages = await asyncio.to_thread(self._view, context)
        if context.stream:
            context.stream_result_hooks.append(self._add)
        await call_next()
        if isinstance(context.result, ChatResponse):
            await self._add(context.result)

    def _view(self, context: ChatContext) -> list[Message]:
        standing = list(itertools.takewhile(lambda message: message.role == "system", context.messages))
        said = [pair for message in context.messages[len(standing) :] for pair in _chat(message)]
        options = context.options or {}
        system = [text for text in (*(message.text for message in standing), options.get("instructions")) if text]
        view = self._conversation.sync(
            [sent for sent, _ in said],
            format="openai",
            model=options.get("model") or "",
            system="\n\n".join(system),
            tools=[tool.to_json_schema_spec() for tool in options.get("tools") or () if isinstance(tool, FunctionTool)],
            differs="rewind" if self._rewind else "refuse",
        )["messages"]
        return [*standing, *chat.restored(view[1:] if system else view, said, _made)]

    async def _add(self, response: ChatResponse[Any]) -> None:
        usage = response.usage_details or {}
        counts = usage.get("input_token_count"), usage.get("output_token_count"), usage.get("cache_read_input_token_count")
        said = Message("assistant", [content for message in response.messages for content in message.contents])
        reply = chat.reply(next(_chat(said))[0], response.model, *counts)
        await asyncio.to_thread(lambda: self._conversation.add(reply, format="openai"))


class _Recall(FunctionMiddleware):
    """Answers in the tools' place: the id of a call is known here alone."""

    def __init__(self, conversation: Conversation, tools: list[FunctionTool]) -> None:
        self._conversation = conversation
        self._tools = tools

    async def process(self, context: Any, call_next: Any) -> None:
        if context.function not in self._tools:
            await call_next()
            return
        call = context.function.name, dict(context.arguments), context.metadata["call_id"]
        context.result = await asyncio.to_thread(self._conversation.recall, *call)


def _tool(name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
    return FunctionTool(name=name, description=description, input_model=parameters, func=_unanswered)


def _unanswered(**arguments: Any) -> None:
    raise RuntimeError("recall tools are answered by the provider's middleware")


def _chat(message: Message) -> Iterator[tuple[dict[str, Any], Any]]:
    """What Chat Completions says for a message, or for each of its results, beside the original."""
    for content in message.contents:
        if content.type == "function_result":
            yield {"role": "tool", "tool_call_id": content.call_id, "content": str(content.result or "")}, Message("tool", [content])
    if message.role == "assistant":
        calls = [content for content in message.contents if content.type == "function_call"]
        said = "".join(content.text or "" for content in message.contents if content.type == "text")
        yield chat.assistant(said, ((call.call_id or "", call.name or "", _json(call.arguments)) for call in calls)), message
    elif message.role != "tool":
        yield {"role": message.role, "content": [_part(content) for content in message.contents]}, message


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _part(content: Content) -> dict[str, Any]:
    if content.type in ("data", "uri") and (content.media_type or "").startswith("image/"):
        return {"type": "image_url", "image_url": {"url": content.uri}}
    # The record names what Chat Completions has no place for; the model sees the original.
    return {"type": "text", "text": content.text or f"[{content.type}]"}


def _made(message: dict[str, Any], text: str, tool: str) -> Message:
    if message["role"] == "tool":
        return Message("tool", [Content.from_function_result(message["tool_call_id"], result=text)])
    calls = [Content.from_function_call(c["id"], c["function"]["name"], arguments=c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    return Message(message["role"], [*([Content.from_text(text)] if text else []), *calls])
