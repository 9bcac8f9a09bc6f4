"""Palimpsest for LangChain and LangGraph: a state's messages go in, what the model should see comes out, and the state stays whole."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.config import get_config

from palimpsest_context import Palimpsest
from palimpsest_context.adapters.langchain_messages import Listed


class PalimpsestMiddleware(AgentMiddleware):
    """Shows the model its context, and brings the tools by which it gets text back. A thread's id is its conversation's; an agent that has a
    name has a conversation of its own, THREAD/NAME.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        super().__init__()
        self._client, self._options, self._reading = palimpsest, options, {"differs": differs, "cut": cut}
        self._agent = functools.lru_cache(maxsize=1024)(_Agent)
        self.tools = [_tool(**definition["function"]) for definition in palimpsest.tools("openai")]
        self._recalls = {tool.name for tool in self.tools}

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        with self._listed(request) as listed:
            response: ModelResponse = handler(self._shown(request, listed))
            self._add(request, listed, response)
            return response

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        with self._listed(request) as listed:
            response: ModelResponse = await handler(await asyncio.to_thread(self._shown, request, listed))
            await asyncio.to_thread(self._add, request, listed, response)
            return response

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self._recall(request) if request.tool_call["name"] in self._recalls else handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if request.tool_call["name"] in self._recalls:
            return await asyncio.to_thread(self._recall, request)
        return await handler(request)

    @contextmanager
    def _listed(self, request: ModelRequest) -> Iterator[Listed]:
        """A list that nobody else uses at this time: agents of one name may run side by side."""
        name = _name(request)
        idle = self._agent(name).idle
        listed = idle.pop() if idle else Listed(self._client.conversation(name, **self._options))
        try:
            yield listed
        finally:
            idle.append(listed)

    def _shown(self, request: ModelRequest, listed: Listed) -> ModelRequest:
        """The request with the view. A middleware's tools stand before the agent's own: recall comes last."""
        shown = request.override(tools=sorted(request.tools, key=lambda tool: getattr(tool, "name", "") in self._recalls))
        return shown.override(messages=listed.view(shown, self._reading))

    def _add(self, request: ModelRequest, listed: Listed, response: ModelResponse) -> None:
        for reply in (message for message in response.result if isinstance(message, AIMessage)):
            listed.add(reply)
            recalls = [call["id"] for call in reply.tool_calls if call["name"] in self._recalls]
            self._agent(_name(request)).stands.update(dict.fromkeys(recalls, listed.conversation.id))

    def _recall(self, request: Any) -> ToolMessage:
        call, name = request.tool_call, _name(request)
        conversation = self._client.conversation(self._agent(name).stands.get(call["id"], name))
        return ToolMessage(conversation.recall(call["name"], call["args"], call["id"]), tool_call_id=call["id"], name=call["name"])


class _Agent:
    """Of one name in one thread: its lists that are not in use, and the conversation in which each call of a recall tool stands."""

    def __init__(self, name: str) -> None:
        self.idle: list[Listed] = []
        self.stands: dict[str, str] = {}


def _name(request: Any) -> str:
    thread = request.runtime.execution_info.thread_id
    if not thread:
        raise ValueError("a thread is a conversation: give the agent a checkpointer, and its calls a thread_id")
    agent = get_config().get("metadata", {}).get("lc_agent_name")
    return f"{thread}/{agent}" if agent else thread


def _tool(name: str, description: str, parameters: dict[str, Any]) -> StructuredTool:
    """A tool that is answered by wrap_tool_call, where the call's id is known."""
    return StructuredTool(name=name, description=description, args_schema=parameters)
