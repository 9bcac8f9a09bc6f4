"""Palimpsest for Microsoft's Agent Framework: a run's messages go in, what the model should see comes out, and the session stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import ChatContext, ChatMiddleware, ChatResponse, ContextProvider, FunctionMiddleware, FunctionTool, Message

from palimpsest_context import Conversation, Palimpsest
from palimpsest_context.adapters import shapes
from palimpsest_context.adapters.agent_framework_messages import Sent


class PalimpsestProvider(ContextProvider):
    """Shows the model its context, and brings the tools by which it gets text back. A session's id is its conversation's; an agent that has a name
    has a conversation of its own, SESSION/NAME.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        super().__init__("palimpsest")
        self._palimpsest, self._options, self._reading = palimpsest, options, {"differs": differs, "cut": cut}
        self._tools = [_tool(**definition["function"]) for definition in palimpsest.tools("openai")]

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        # Each run uses it by itself: runs of one agent may go on side by side.
        name = f"{session.session_id}/{agent.name}" if getattr(agent, "name", None) else session.session_id
        conversation = self._palimpsest.conversation(name, **self._options)
        context.extend_tools(self.source_id, self._tools)
        context.extend_middleware(self.source_id, [_View(conversation, self._reading), _Recall(conversation, self._tools)])


class _View(ChatMiddleware):
    def __init__(self, conversation: Conversation, reading: dict[str, Any]) -> None:
        self._conversation, self._reading = conversation, reading

    async def process(self, context: ChatContext, call_next: Any) -> None:
        sent = Sent(context)
        told = {"format": sent.format, "model": sent.model, "system": sent.system, "tools": sent.tools, **self._reading}
        pieces = await asyncio.to_thread(lambda: self._conversation.view(sent.elements, **told))
        context.messages = sent.shown(pieces)

        async def add(response: ChatResponse[Any]) -> None:
            usage = response.usage_details or {}
            counts = usage.get("input_token_count"), usage.get("output_token_count"), usage.get("cache_read_input_token_count")
            said = Message("assistant", [content for message in response.messages for content in message.contents])
            if elements := sent.of(said, said.contents):
                reply = shapes.reply(sent.format, elements, response.model, *counts)
                await asyncio.to_thread(lambda: self._conversation.add(reply, format=sent.format))

        if context.stream:
            context.stream_result_hooks.append(add)
        await call_next()
        if isinstance(context.result, ChatResponse):
            await add(context.result)


class _Recall(FunctionMiddleware):
    """Answers in the tools' place: the id of a call is known here alone."""

    def __init__(self, conversation: Conversation, tools: list[FunctionTool]) -> None:
        self._conversation, self._tools = conversation, tools

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
