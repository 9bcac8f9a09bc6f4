"""Palimpsest for pydantic-ai: a run's messages go in, what the model should see comes out, and the message history stays whole."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace
from typing import Any

from pydantic_ai import messages as ai
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from palimpsest_context import Conversation, Palimpsest
from palimpsest_context.adapters import pydantic_ai_messages, shapes


class PalimpsestCapability(AbstractCapability[Any]):
    """Shows the model its context, and brings the tools by which it gets text back. A run's conversation_id is its conversation's; an agent that
    has a name has a conversation of its own, CONVERSATION_ID/NAME.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        self._reading = {"differs": differs, "cut": cut}
        # Runs of one agent may go on side by side: each uses its conversation by itself.
        self._open = functools.lru_cache(maxsize=1024)(lambda name, run: palimpsest.conversation(name, **options))
        self._sent: dict[Any, pydantic_ai_messages.Sent] = {}  # by run, as long as it goes on
        self.tools = FunctionToolset([self._tool(**definition["function"]) for definition in palimpsest.tools("openai")], id="palimpsest")

    def get_toolset(self) -> FunctionToolset[Any]:
        return self.tools

    def conversation(self, ctx: RunContext[Any]) -> Conversation:
        """The conversation of a run."""
        name = ctx.agent and ctx.agent.name
        return self._open(f"{ctx.conversation_id}/{name}" if name else ctx.conversation_id, ctx.run_id)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        try:
            return await handler()
        finally:
            self._sent.pop(ctx.run_id, None)

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        sent = self._sent.setdefault(ctx.run_id, pydantic_ai_messages.Sent())
        await sent.take(request_context)
        pieces = await asyncio.to_thread(
            lambda: self.conversation(ctx).view(
                sent.elements, format=sent.format, model=request_context.model.model_name, system=sent.system, tools=sent.tools, **self._reading
            )
        )
        return replace(request_context, messages=sent.shown(pieces))

    async def wrap_model_request(self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any) -> ai.ModelResponse:
        response: ai.ModelResponse = await handler(request_context)
        if response.state == "complete":  # What broke off comes with the next list, if the history keeps it.
            sent, usage = self._sent[ctx.run_id], response.usage
            counts = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens
            reply = shapes.reply(sent.format, await sent.of(response), response.model_name, *counts)
            await asyncio.to_thread(lambda: self.conversation(ctx).add(reply, format=sent.format))
        return response

    def _tool(self, name: str, description: str, parameters: dict[str, Any]) -> Tool[Any]:
        async def recall(ctx: RunContext[Any], **arguments: Any) -> str:
            return await asyncio.to_thread(lambda: self.conversation(ctx).recall(name, arguments, ctx.tool_call_id or ""))

        return Tool.from_schema(recall, name, description, parameters, takes_ctx=True)
