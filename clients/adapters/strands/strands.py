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
from strands.types.content import split_system_prompt

from palimpsest_context import Palimpsest

MEDIA = {"image": {kind: "image/" + kind for kind in ("png", "jpeg", "gif", "webp")}, "document": {"pdf": "application/pdf"}}


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
                reply = {"type": "message", "model": _model(context), "usage": _usage(event.usage), **_sent(event.message, _reasons(context))}
                await asyncio.to_thread(lambda: self.conversation.add(reply, format="anthropic"))
            yield event

    def _view(self, context: Any) -> list[Any]:
        *earlier, last = context.messages
        lasting = len(last["content"]) - context.dynamic_trailing_blocks  # those behind are made anew for each call
        whole = [*earlier, {**last, "content": last["content"][:lasting]}]
        reasons = _reasons(context)
        pieces = self.conversation.view(
            [_sent(message, reasons) for message in whole],
            format="anthropic",
            model=_model(context),
            system=split_system_prompt(context.system_prompt)[0] or "",
            tools=[{"name": s["name"], "description": s["description"], "input_schema": s["inputSchema"]["json"]} for s in context.tool_specs],
            **self._reading,
        )
        view = [message for piece in pieces for message in _shown(piece, whole, reasons)]
        return [*view[:-1], {**view[-1], "content": view[-1]["content"] + last["content"][lasting:]}]


def _model(context: Any) -> str:
    return str(context.model.get_config().get("model_id", ""))


def _reasons(context: Any) -> bool:
    """Whether the model's reasoning is Anthropic's."""
    return any(kind.__name__ in ("AnthropicModel", "BedrockModel") for kind in type(context.model).__mro__)


def _sent(message: Any, reasons: bool) -> dict[str, Any]:
    """A message as Anthropic has it, whose blocks are nearest to those of Strands: one for one, whatever the model."""
    return {"role": message["role"], "content": [sent for block in message["content"] if (sent := _block(block, reasons))]}


def _block(block: Any, reasons: bool) -> dict[str, Any] | None:
    """A block as Anthropic has it; none of what stays with the agent: marks for a cache, and reasoning that is another provider's."""
    (kind, value), *_ = block.items()
    if kind == "toolUse":
        return {"type": "tool_use", "id": value["toolUseId"], "name": value["name"], "input": value["input"]}
    if kind == "toolResult":
        content = _sent({"role": "user", **value}, reasons)["content"]
        return {"type": "tool_result", "tool_use_id": value["toolUseId"], "content": content, "is_error": value["status"] == "error"}
    if kind == "reasoningContent":
        said, redacted = value.get("reasoningText", {}), value.get("redactedContent")
        if reasons and said.get("signature"):
            return {"type": "thinking", "thinking": said.get("text", ""), "signature": said["signature"]}
        return {"type": "redacted_thinking", "data": base64.b64encode(redacted).decode()} if reasons and redacted else None
    if kind == "cachePoint":
        return None
    if kind in MEDIA and value["format"] in MEDIA[kind] and "bytes" in value["source"]:
        source = {"type": "base64", "media_type": MEDIA[kind][value["format"]], "data": base64.b64encode(value["source"]["bytes"]).decode()}
        return {"type": kind, "source": source, **({"title": value["name"]} if "name" in value else {})}
    described = value if kind == "text" else json.dumps({kind: value}, default=lambda data: hashlib.sha256(data).hexdigest())
    return {"type": "text", "text": described}


def _shown(piece: Any, whole: list[Any], reasons: bool) -> list[Any]:
    if piece.whole:
        return [whole[i] for i in piece.indexes]
    owns = [whole[i] for i in piece.indexes] if len(piece.indexes) == len(piece.shown) else [{"content": []}] * len(piece.shown)
    return [{"role": message["role"], "content": _changed(own["content"], message, reasons)} for own, message in zip(owns, piece.shown)]


def _changed(own: list[Any], message: Any, reasons: bool) -> list[Any]:
    """What is shown of a message. What is in it as it was said stays the agent's own block, and so does what the sidecar never saw."""
    left = [(block, _block(block, reasons)) for block in own]
    content = [block for block, sent in left if not sent and "reasoningContent" in block]
    blocks = message["content"]
    for shown in [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks:
        at = next((i for i, (_, sent) in enumerate(left) if sent == shown), -1)
        content.append(_received(shown) if at < 0 else left[at][0])
        left = left[at + 1 :]
    return content


def _received(block: Any) -> Any:
    if block["type"] == "tool_use":
        return {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}}
    if block["type"] == "tool_result":
        status, content = "error" if block.get("is_error") else "success", _changed([], {"content": "", **block}, False)
        return {"toolResult": {"toolUseId": block["tool_use_id"], "status": status, "content": content}}
    if block["type"] == "thinking":
        return {"reasoningContent": {"reasoningText": {"text": block["thinking"], "signature": block["signature"]}}}
    if block["type"] == "redacted_thinking":
        return {"reasoningContent": {"redactedContent": base64.b64decode(block["data"])}}
    if block["type"] in MEDIA:
        kinds = {media_type: kind for kind, media_type in MEDIA[block["type"]].items()}
        media = {"format": kinds[block["source"]["media_type"]], "source": {"bytes": base64.b64decode(block["source"]["data"])}}
        return {block["type"]: {**media, **({"name": block["title"]} if "title" in block else {})}}
    return {"text": block["text"]}


def _usage(usage: Any) -> dict[str, int]:
    """Providers differ in whether what they cached is part of inputTokens; all agree on what is part of the total."""
    read, written, output = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0), usage["outputTokens"]
    cached = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": usage["totalTokens"] - output - read - written, "output_tokens": output, **cached}
