"""Palimpsest for Google's Agent Development Kit: the session keeps every event, and each model call sees the view."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from palimpsest_context import Conversation, Palimpsest, Piece


class PalimpsestPlugin(BasePlugin):
    """A plugin for an App, and in `tools` what its agents get text back with. An agent of a session is a conversation: each sees a list of its own.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        super().__init__(name="palimpsest")
        self._reading = {"differs": differs, "cut": cut}
        # An agent may run in several branches side by side, each of which uses a conversation by itself.
        self._open = functools.lru_cache(maxsize=1024)(lambda id, branch: palimpsest.conversation(id, **options))
        self.tools: list[BaseTool] = [_RecallTool(self, definition) for definition in palimpsest.tools("gemini")]

    def conversation(self, context: CallbackContext) -> Conversation:
        """The conversation of a context's agent in its session; a task that was given to an agent is a conversation of its own."""
        session = context.session
        names = (session.app_name, session.user_id, session.id, context.agent_name, context.isolation_scope)
        return self._open("/".join(name for name in names if name), context.branch)

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        contents, config = llm_request.contents, llm_request.config
        pieces = await asyncio.to_thread(
            lambda: self.conversation(callback_context).view(
                contents,
                format="gemini",
                model=llm_request.model or "",
                system=_text(config.system_instruction),
                tools=[tool for tool in config.tools or [] if isinstance(tool, types.Tool)],
                **self._reading,
            )
        )
        llm_request.contents = [content for piece in pieces for content in _shown(piece, contents)]

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        response = llm_response
        # A session keeps no event of an answer that broke off, so the record does not either.
        if response.partial or response.interrupted or not (response.content and response.content.parts):
            return
        reply = {"candidates": [{"content": response.content}], "usageMetadata": response.usage_metadata, "modelVersion": response.model_version}
        await asyncio.to_thread(lambda: self.conversation(callback_context).add(reply, format="gemini"))


class _RecallTool(BaseTool):
    def __init__(self, plugin: PalimpsestPlugin, definition: dict[str, Any]) -> None:
        super().__init__(name=definition["name"], description=definition["description"])
        self._plugin = plugin
        self._schema = definition["parameters"]

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=self._schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, str]:
        recall = self._plugin.conversation(tool_context).recall
        return {"result": await asyncio.to_thread(recall, self.name, args, tool_context.function_call_id or "")}


def _shown(piece: Piece, contents: list[types.Content]) -> list[types.Content]:
    """The request's own contents where they are shown whole. Of a dict, the model would take base64 for text."""
    if piece.whole:
        return [contents[i] for i in piece.indexes]
    return [types.Content.model_validate_json(json.dumps(content)) for content in piece.shown]


def _text(instruction: Any) -> str:
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    return json.dumps(types.Content.model_validate(instruction).model_dump(mode="json", exclude_none=True))
