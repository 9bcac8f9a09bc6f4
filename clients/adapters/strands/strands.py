"""Palimpsest for Strands Agents: an agent's messages go in, what the model should see comes out, and agent.messages stays whole."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from typing import Any

from strands.agent.conversation_manager import NullConversationManager
from strands.middleware import InvokeModelStage, ModelStopReason
from strands.plugins import Plugin
from strands.tools.tools import PythonAgentTool

from palimpsest_context import Palimpsest
from palimpsest_context.adapters import call_ids


class PalimpsestPlugin(Plugin):
    """Shows the model its context, and brings the tools by which it gets text back.

    With rewind, messages that the agent no longer has are taken back on record, as after an edit; without it, such a call is
    refused. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    name = "palimpsest"

    def __init__(self, palimpsest: Palimpsest, conversation_id: str, *, rewind: bool = True, **options: Any) -> None:
        super().__init__()
        self.conversation = palimpsest.conversation(conversation_id, **options)
        self.rewind = rewind
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
                await asyncio.to_thread(self.conversation.add, {"type": "message", "usage": _usage(event.usage), **_sent(event.message)})
            yield event

    def _view(self, context: Any) -> list[Any]:
        *earlier, last = context.messages
        lasting = len(last["content"]) - context.dynamic_trailing_blocks  # those behind are made anew for each call
        whole = [*earlier, {**last, "content": last["content"][:lasting]}]
        system = context.system_prompt or ""
        system = system if isinstance(system, str) else "".join(block.get("text", "") for block in system)
        tools = [{"name": s["name"], "description": s["description"], "input_schema": s["inputSchema"]["json"]} for s in context.tool_specs]
        sent = [_sent(message) for message in whole]
        built = self.conversation.sync(sent, format="anthropic", system=system, tools=tools, differs="rewind" if self.rewind else "refuse")
        # What is shown as it was said stays the agent's own message: it holds what the other format has no place for.
        originals = {json.dumps(said, sort_keys=True): message for said, message in zip(sent, whole)}
        shown = map(_received, call_ids.restored(built["messages"], sent))
        view = [originals.get(json.dumps(_sent(message), sort_keys=True), message) for message in shown]
        return [*view[:-1], {**view[-1], "content": view[-1]["content"] + last["content"][lasting:]}]


def _sent(message: Any) -> dict[str, Any]:
    """A message as Anthropic has it, whose blocks are nearest to those of Strands. Reasoning stays with the agent."""
    blocks = [item for block in message["content"] for item in block.items() if item[0] not in ("reasoningContent", "cachePoint")]
    return {"role": message["role"], "content": [_block(*item) for item in blocks]}


def _block(kind: str, value: Any) -> dict[str, Any]:
    if kind == "toolUse":
        return {"type": "tool_use", "id": value["toolUseId"], "name": value["name"], "input": value["input"]}
    if kind == "toolResult":
        content = [_block(*item) for block in value["content"] for item in block.items()]
        return {"type": "tool_result", "tool_use_id": value["toolUseId"], "content": content, "is_error": value["status"] == "error"}
    if kind == "image" and "bytes" in value["source"]:
        data = base64.b64encode(value["source"]["bytes"]).decode()
        return {"type": "image", "source": {"type": "base64", "media_type": "image/" + value["format"], "data": data}}
    described = value if kind == "text" else json.dumps({kind: value}, default=lambda data: hashlib.sha256(data).hexdigest())
    return {"type": "text", "text": described}


def _received(message: Any) -> Any:
    content = message.get("content") or ""
    blocks = [{"text": content}] if isinstance(content, str) else [_own(block) for block in content]
    return {"role": message["role"], "content": blocks}


def _own(block: Any) -> Any:
    if block["type"] == "tool_use":
        return {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}}
    if block["type"] == "tool_result":
        status, inner = "error" if block.get("is_error") else "success", _received({**block, "role": "user"})["content"]
        return {"toolResult": {"toolUseId": block["tool_use_id"], "status": status, "content": inner}}
    if block["type"] == "image":
        kind, data = block["source"]["media_type"].removeprefix("image/"), base64.b64decode(block["source"]["data"])
        return {"image": {"format": kind, "source": {"bytes": data}}}
    return {"text": block["text"]}


def _usage(usage: Any) -> dict[str, int]:
    """Providers differ in whether what they cached is part of inputTokens; all agree on what is part of the total."""
    read, written, output = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0), usage["outputTokens"]
    cached = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": usage["totalTokens"] - output - read - written, "output_tokens": output, **cached}
