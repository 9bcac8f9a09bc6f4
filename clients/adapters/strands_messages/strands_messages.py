"""The messages of Strands as Anthropic has them, and back: what is said of media and calls in one has its place in the other."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

MEDIA = {"image": {kind: "image/" + kind for kind in ("png", "jpeg", "gif", "webp")}, "document": {"pdf": "application/pdf"}}


def sent(message: Any, reasons: bool) -> dict[str, Any]:
    """A message as Anthropic has it, whose blocks are nearest to those of Strands: one for one, whatever the model."""
    return {"role": message["role"], "content": [told for block in message["content"] if (told := _block(block, reasons))]}


def _block(block: Any, reasons: bool) -> dict[str, Any] | None:
    """A block as Anthropic has it; none of what stays with the agent: marks for a cache, and reasoning that is another provider's."""
    (kind, value), *_ = block.items()
    if kind == "toolUse":
        return {"type": "tool_use", "id": value["toolUseId"], "name": value["name"], "input": value["input"]}
    if kind == "toolResult":
        content = sent({"role": "user", **value}, reasons)["content"]
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


def shown(piece: Any, whole: list[Any], reasons: bool) -> list[Any]:
    if piece.whole:
        return [whole[i] for i in piece.indexes]
    owns = [whole[i] for i in piece.indexes] if len(piece.indexes) == len(piece.shown) else [{"content": []}] * len(piece.shown)
    return [{"role": message["role"], "content": _changed(own["content"], message, reasons)} for own, message in zip(owns, piece.shown)]


def _changed(own: list[Any], message: Any, reasons: bool) -> list[Any]:
    """What is shown of a message. What is in it as it was said stays the agent's own block, and so does what the sidecar never saw."""
    left = [(block, _block(block, reasons)) for block in own]
    content = [block for block, told in left if not told and "reasoningContent" in block]
    blocks = message["content"]
    for piece in [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks:
        at = next((i for i, (_, told) in enumerate(left) if told == piece), -1)
        content.append(_received(piece) if at < 0 else left[at][0])
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


def usage(usage: Any) -> dict[str, int]:
    """Providers differ in whether what they cached is part of inputTokens; all agree on what is part of the total."""
    read, written, output = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0), usage["outputTokens"]
    cached = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": usage["totalTokens"] - output - read - written, "output_tokens": output, **cached}
