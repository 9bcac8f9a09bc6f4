"""Chat Completions as the language between a framework's own messages and the sidecar, for adapters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any


def assistant(text: str | None, calls: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """What the model said: its text, and its calls as id, name and arguments in JSON."""
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments or "{}"}} for id, name, arguments in calls]
    return {"role": "assistant", "content": text or (None if made else ""), **({"tool_calls": made} if made else {})}


def reply(message: dict[str, Any], model: str | None, input: int | None, output: int | None, cached: int | None) -> dict[str, Any]:
    """What the model answered, whole; input counts cached tokens too."""
    usage = {"prompt_tokens": input or 0, "completion_tokens": output or 0, "prompt_tokens_details": {"cached_tokens": cached or 0}}
    return {"object": "chat.completion", "model": model, "choices": [{"index": 0, "message": message}], **({"usage": usage} if input else {})}


def restored(view: list[dict[str, Any]], said: list[tuple[dict[str, Any], Any]], make: Callable[..., Any]) -> list[Any]:
    """The view in the framework's words. What is shown as it was said stays the framework's own object: it may hold what Chat Completions
    has no place for, such as signatures and files. All else is made of a message, its text, and the name of the tool that it answers."""
    alike: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for sent, original in said:
        alike.setdefault(_key(sent), []).append((sent, original))
    given = {call["id"] for sent, _ in said for call in _calls(sent)}
    ids: dict[str, str] = {}  # of calls: the sidecar gives its own
    own: dict[int, Any] = {}
    for place in reversed(range(len(view))):  # What is new is shown whole: of messages that are alike, the last one first.
        if found := view[place]["role"] != "tool" and alike.get(_key(view[place])):
            sent, own[place] = found.pop()
            ids.update((ours["id"], theirs["id"]) for ours, theirs in zip(_calls(view[place]), _calls(sent)))
    names = {call["id"]: call["function"]["name"] for message in view for call in _calls(message)}
    for id in names.keys() - ids.keys():
        ids[id] = f"shown_{id}" if id in given else id
    return [own[place] if place in own else _part(message, ids, names, alike, make) for place, message in enumerate(view)]


def _part(message: dict[str, Any], ids: dict[str, str], names: dict[str, str], alike: dict[str, Any], make: Callable[..., Any]) -> Any:
    if message["role"] != "tool":
        return make({**message, "tool_calls": [{**call, "id": ids[call["id"]]} for call in _calls(message)]}, _text(message), "")
    answers = {**message, "tool_call_id": ids[message["tool_call_id"]]}
    found = alike.get(_key(answers))
    return found[-1][1] if found else make(answers, _text(message), names[message["tool_call_id"]])


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls") or []


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _key(message: dict[str, Any]) -> str:
    """What makes two messages the same: neither the ids of calls, nor the spacing of arguments, nor parts of text in place of text."""
    content = message.get("content") or ""
    others = [] if isinstance(content, str) else [part for part in content if part["type"] != "text"]
    calls = [(call["function"]["name"], _parsed(call["function"]["arguments"])) for call in _calls(message)]
    return json.dumps([message["role"], _text(message), others, calls, message.get("tool_call_id")], sort_keys=True)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
