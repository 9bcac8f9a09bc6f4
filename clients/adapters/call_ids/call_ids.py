"""Ids of calls, for adapters: a view has the record's, a framework those of its models."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any


def restored(view: list[dict[str, Any]], whole: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A view whose calls and results have the ids that they have in the whole list, for Chat Completions and for Anthropic.

    Frameworks and providers keep by a call's id what other formats have no place for, such as a signature. A call is known by what its
    message says, from the end on: what a view leaves out is mostly at the beginning. One that is not found gets an id that no model gave.
    """
    said = defaultdict(list)
    for message in whole:
        said[_said(message)].append(_calls(message))
    ids: dict[str, str] = {}
    for shown in reversed(view):
        calls = _calls(shown)
        known = said[_said(shown)].pop() if calls and said[_said(shown)] else ()
        ids.update((call["id"], original["id"]) for call, original in zip(calls, known))
    for shown in view:
        for named, key in [*((call, "id") for call in _calls(shown)), *_results(shown)]:
            named[key] = ids.get(named[key], "shown_" + named[key])
    return view


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls") or [block for block in _blocks(message) if block["type"] == "tool_use"]


def _results(message: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    if "tool_call_id" in message:
        return [(message, "tool_call_id")]
    return [(block, "tool_use_id") for block in _blocks(message) if block["type"] == "tool_result"]


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _said(message: dict[str, Any]) -> str:
    """What a message says: its text, and its calls without their ids."""
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    return json.dumps([text, [_called(call.get("function", call)) for call in _calls(message)]], sort_keys=True)


def _called(call: dict[str, Any]) -> tuple[str, Any]:
    if "input" in call:
        return call["name"], call["input"]
    try:
        return call["name"], json.loads(call["arguments"] or "{}")
    except ValueError:
        return call["name"], call["arguments"]
