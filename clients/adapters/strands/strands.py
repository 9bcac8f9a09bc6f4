"""Palimpsest for Strands Agents: an agent's messages go in, what the model should see comes out, and agent.messages stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

from strands.agent.conversation_manager import NullConversationManager
from strands.middleware import InvokeModelStage, ModelStopReason
from strands.plugins import Plugin
from strands.tools.tools import PythonAgentTool
from strands.types.content import split_system_prompt

from palimpsest_context import Palimpsest
from palimpsest_context.adapters.strands_messages import sent, shown, usage


class PalimpsestPlugin(Plugin):
    """Shows the model of one agent its context, and brings the tools by which it gets text back.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    name = "palimpsest"

    def __init__(self, palimpsest: Palimpsest, conversation_id: str, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        super().__init__()
        self.conversation = palimpsest.conversation(conversation_id, **options)
        self._reading = {"differs": differs, "cut": cut}
        self._recalls = [definition["function"] for definition in palimpsest.tools("openai")]

    def init_agent(self, agent: Any) -> None:
        if not isinstance(agent.conversation_manager, NullConversationManager):
            raise ValueError("set conversation_manager=NullConversationManager(): another one edits agent.messages")
        for function in self._recalls:
            agent.tool_registry.register_tool(self._tool(**function))
        agent.add_middleware(InvokeModelStage, self._invoke)

    def _tool(self, name: str, description: str, parameters: dict[str, Any]) -> PythonAgentTool:
        def recall(call: Any, **_: Any) -> Any:
            text = self.conversation.recall(name, call["input"], call["toolUseId"])
            return {"toolUseId": call["toolUseId"], "status": "success", "content": [{"text": text}]}

        return PythonAgentTool(name, {"name": name, "description": description, "inputSchema": {"json": parameters}}, recall)

    async def _invoke(self, context: Any, model: Any) -> Any:
        async for event in model(context.replace(messages=await asyncio.to_thread(self._view, context))):
            if isinstance(event, ModelStopReason):
                reply = {"type": "message", "model": _model(context), "usage": usage(event.usage), **sent(event.message, _reasons(context))}
                await asyncio.to_thread(lambda: self.conversation.add(reply, format="anthropic"))
            yield event

    def _view(self, context: Any) -> list[Any]:
        *earlier, last = context.messages
        lasting = len(last["content"]) - context.dynamic_trailing_blocks  # those behind are made anew for each call
        whole = [*earlier, {**last, "content": last["content"][:lasting]}]
        reasons = _reasons(context)
        pieces = self.conversation.view(
            [sent(message, reasons) for message in whole],
            format="anthropic",
            model=_model(context),
            system=split_system_prompt(context.system_prompt)[0] or "",
            tools=[{"name": s["name"], "description": s["description"], "input_schema": s["inputSchema"]["json"]} for s in context.tool_specs],
            **self._reading,
        )
        view = [message for piece in pieces for message in shown(piece, whole, reasons)]
        return [*view[:-1], {**view[-1], "content": view[-1]["content"] + last["content"][lasting:]}]


def _model(context: Any) -> str:
    return str(context.model.get_config().get("model_id", ""))


def _reasons(context: Any) -> bool:
    """Whether the model's reasoning is Anthropic's."""
    return any(kind.__name__ in ("AnthropicModel", "BedrockModel") for kind in type(context.model).__mro__)
