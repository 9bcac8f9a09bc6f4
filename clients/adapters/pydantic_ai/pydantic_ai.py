"""Palimpsest for pydantic-ai: a run's messages go in, what the model should see comes out, and the message history stays whole."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from pydantic_ai import messages as ai
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from palimpsest_context import Palimpsest
from palimpsest_context.adapters import chat_completions as chat


class PalimpsestCapability(AbstractCapability[Any]):
    """Shows the model its context, and brings the tools by which it gets text back. A run's conversation_id is its conversation's.

    With rewind, messages that the history no longer has are taken back on record, as after an edit; without it, such a call is refused.
    Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, rewind: bool = True, **options: Any) -> None:
        self.rewind = rewind
        self.conversation = functools.lru_cache(maxsize=1024)(functools.partial(palimpsest.conversation, **options))
        self.tools = FunctionToolset([self._tool(**definition["function"]) for definition in palimpsest.tools("openai")], id="palimpsest")

    def get_toolset(self) -> FunctionToolset[Any]:
        return self.tools

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        return replace(request_context, messages=await asyncio.to_thread(self._view, ctx, request_context))

    async def wrap_model_request(self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any) -> ai.ModelResponse:
        response: ai.ModelResponse = await handler(request_context)
        if response.state == "complete":  # What broke off comes with the next list, if the history keeps it.
            usage = response.usage
            reply = chat.reply(_assistant(response), response.model_name, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
            await asyncio.to_thread(lambda: self.conversation(ctx.conversation_id).add(reply, format="openai"))
        return response

    def _view(self, ctx: RunContext[Any], request: ModelRequestContext) -> list[ai.ModelMessage]:
        said = [pair for message in request.messages for pair in _chat(message)]
        standing = [part for _, part in takewhile(lambda pair: pair[0]["role"] == "system", said)]
        offered = request.model_request_parameters
        system = [part.content for part in (*standing, *(offered.instruction_parts or ()))]
        view = self.conversation(ctx.conversation_id).sync(
            [sent for sent, _ in said[len(standing) :]],
            format="openai",
            model=request.model.model_name,
            system="\n\n".join(system),
            tools=[_definition(tool) for tool in offered.tool_defs.values()],
            differs="rewind" if self.rewind else "refuse",
        )["messages"]
        parts = [*standing, *chat.restored(view[1:] if system else view, said, _made)]
        # The framework joins neighbors.
        return [part if isinstance(part, ai.ModelResponse) else ai.ModelRequest(parts=[part]) for part in parts]

    def _tool(self, name: str, description: str, parameters: dict[str, Any]) -> Tool[Any]:
        async def recall(ctx: RunContext[Any], **arguments: Any) -> str:
            return await asyncio.to_thread(lambda: self.conversation(ctx.conversation_id).recall(name, arguments, ctx.tool_call_id or ""))

        return Tool.from_schema(recall, name, description, parameters, takes_ctx=True)


def _definition(tool: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters_json_schema}}


def _assistant(response: ai.ModelResponse) -> dict[str, Any]:
    return chat.assistant(response.text, ((call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in response.tool_calls))


def _chat(message: ai.ModelMessage) -> Iterator[tuple[dict[str, Any], Any]]:
    """What Chat Completions says for a message or its parts, each beside its original."""
    if isinstance(message, ai.ModelResponse):
        yield _assistant(message), message
        return
    for part in message.parts:
        if isinstance(part, ai.ToolReturnPart):
            yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}, part
        elif isinstance(part, (ai.SystemPromptPart, ai.UserPromptPart, ai.RetryFeedbackPart)):
            yield {"role": "system" if isinstance(part, ai.SystemPromptPart) else "user", "content": _content(part)}, part


def _content(part: Any) -> Any:
    if isinstance(part, ai.RetryFeedbackPart):
        return part.model_response()
    return part.content if isinstance(part.content, str) else [_item(item) for item in part.content]


def _item(item: Any) -> dict[str, Any]:
    if isinstance(item, (ai.ImageUrl, ai.BinaryImage)):
        return {"type": "image_url", "image_url": {"url": item.url if isinstance(item, ai.ImageUrl) else item.data_uri}}
    # The record names what Chat Completions has no place for; the model sees the original.
    return {"type": "text", "text": item if isinstance(item, str) else getattr(item, "content", "") or f"[{item.kind}]"}


def _made(message: dict[str, Any], text: str, tool: str) -> Any:
    if message["role"] == "assistant":
        calls = [ai.ToolCallPart(c["function"]["name"], c["function"]["arguments"], c["id"]) for c in message.get("tool_calls") or ()]
        return ai.ModelResponse(parts=[*([ai.TextPart(text)] if text else []), *calls])
    if message["role"] == "tool":
        return ai.ToolReturnPart(tool, text, message["tool_call_id"])
    return ai.SystemPromptPart(text) if message["role"] == "system" else ai.UserPromptPart(text)
