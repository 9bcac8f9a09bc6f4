"""Palimpsest for LangChain and LangGraph: a state's messages go in, what the model should see comes out, and the state stays whole."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from palimpsest_context import Palimpsest
from palimpsest_context.adapters import chat_completions as chat


class PalimpsestMiddleware(AgentMiddleware):
    """Shows the model its context, and brings the tools by which it gets text back. A thread's id is its conversation's.

    With rewind, messages that the state no longer has are taken back on record, as after an edit or a fork; without it, such a
    call is refused. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, rewind: bool = True, **options: Any) -> None:
        super().__init__()
        self.rewind = rewind
        self.conversation = functools.lru_cache(maxsize=1024)(functools.partial(palimpsest.conversation, **options))
        self.tools = [_tool(**definition["function"]) for definition in palimpsest.tools("openai")]
        self._recalls = {tool.name for tool in self.tools}

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        response: ModelResponse = handler(self._view(request))
        self._add(request, response)
        return response

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        response: ModelResponse = await handler(await asyncio.to_thread(self._view, request))
        await asyncio.to_thread(self._add, request, response)
        return response

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self._recall(request) if request.tool_call["name"] in self._recalls else handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if request.tool_call["name"] in self._recalls:
            return await asyncio.to_thread(self._recall, request)
        return await handler(request)

    def _of(self, request: Any) -> Any:
        thread = request.runtime.execution_info.thread_id
        if not thread:
            raise ValueError("a thread is a conversation: give the agent a checkpointer, and its calls a thread_id")
        return self.conversation(thread)

    def _view(self, request: ModelRequest) -> ModelRequest:
        whole = [_chat(message) for message in request.messages]
        system = request.system_message.text if request.system_message else ""
        tools = [convert_to_openai_tool(tool) for tool in request.tools]
        conversation = self._of(request)
        conversation.sync(whole, format="openai", system=system, tools=tools, differs="rewind" if self.rewind else "refuse")
        view = json.loads(conversation.built.rendered.messages_json)
        messages: list[Any] = [*chat.restored(view, zip(whole, request.messages), _made)]
        return request.override(messages=messages)

    def _add(self, request: ModelRequest, response: ModelResponse) -> None:
        for reply in (message for message in response.result if isinstance(message, AIMessage)):
            self._of(request).add(chat.reply(_chat(reply), reply.response_metadata.get("model_name"), *_usage(reply)))

    def _recall(self, request: Any) -> ToolMessage:
        call = request.tool_call
        text = self._of(request).recall(call["name"], call["args"], call["id"])
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"])


def _tool(name: str, description: str, parameters: dict[str, Any]) -> StructuredTool:
    """A tool that is answered by wrap_tool_call, where the call's id is known."""
    return StructuredTool(name=name, description=description, args_schema=parameters)


def _chat(message: BaseMessage) -> dict[str, Any]:
    """A message as Chat Completions has it. Of a reply that is text and calls: reasoning stays with the state."""
    if isinstance(message, AIMessage):
        message = message.model_copy(update={"content": message.text})
    sent: dict[str, Any] = convert_to_openai_messages(message)
    return sent


def _made(shown: dict[str, Any], text: str, tool: str) -> BaseMessage:
    return convert_to_messages([shown])[0]


def _usage(reply: AIMessage) -> tuple[int, int, int]:
    usage: Any = reply.usage_metadata or {}
    return usage.get("input_tokens", 0), usage.get("output_tokens", 0), usage.get("input_token_details", {}).get("cache_read", 0)
