"""Chat Completions as the language between a framework's own messages and the sidecar, for adapters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from palimpsest_context.adapters import call_ids


def assistant(text: str | None, calls: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """What the model said: its text, and its calls as id, name and arguments in JSON."""
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments or "{}"}} for id, name, arguments in calls]
    return {"role": "assistant", "content": text or (None if made else ""), **({"tool_calls": made} if made else {})}


def reply(message: dict[str, Any], model: str | None, input: int | None, output: int | None, cached: int | None) -> dict[str, Any]:
    """What the model answered, whole; input counts cached tokens too."""
    usage = {"prompt_tokens": input or 0, "completion_tokens": output or 0, "prompt_tokens_details": {"cached_tokens": cached or 0}}
    return {"object": "chat.completion", "model": model, "choices": [{"index": 0, "message": message}], **({"usage": usage} if input else {})}


def restored(view: list[dict[str, Any]], said: Iterable[tuple[dict[str, Any], Any]], make: Callable[..., Any]) -> Iterator[Any]:
    """The view in the framework's words. What is shown as it was said stays the framework's own object: it may hold what Chat Completions
    has no place for, such as signatures and files. All else is made of a message, its text, and the name of the tool that it answers."""
    said = list(said)
    view = call_ids.restored(view, (sent for sent, _ in said))
    originals = {_key(sent): original for sent, original in said}
    names = {call["id"]: call["function"]["name"] for message in view for call in message.get("tool_calls") or ()}
    for message in view:
        original = originals.get(_key(message))
        yield make(message, _text(message), names.get(message.get("tool_call_id", ""), "")) if original is None else original


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _key(message: dict[str, Any]) -> str:
    """What makes two messages the same: not the spacing of arguments, nor parts of text in place of text."""
    content = message.get("content") or ""
    others = [] if isinstance(content, str) else [part for part in content if part["type"] != "text"]
    calls = [(call["id"], call["function"]["name"], _parsed(call["function"]["arguments"])) for call in message.get("tool_calls") or ()]
    return json.dumps([message["role"], _text(message), others, calls, message.get("tool_call_id")], sort_keys=True)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
