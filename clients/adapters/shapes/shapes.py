"""What adapters share: a reply in the shape of a provider's answer, and a view put back into a framework's own objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from palimpsest_context import Piece


def reply(format: str, said: Sequence[Any], model: str | None, input: int | None, output: int | None, cached: int | None) -> dict[str, Any]:
    """What the model answered, whole: `said` are messages or items as the format has them. `input` counts cached tokens too."""
    input, output, cached = input or 0, output or 0, cached or 0
    if format == "responses":
        usage: dict[str, Any] = {"input_tokens": input, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": output}
        return {"object": "response", **({"model": model} if model else {}), "output": said, **({"usage": usage} if input else {})}
    if format == "anthropic":
        usage = {"input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": output}
        return {"type": "message", "model": model, **said[0], **({"usage": usage} if input else {})}
    if format == "gemini":
        usage = {"promptTokenCount": input, "candidatesTokenCount": output, "cachedContentTokenCount": cached}
        return {"modelVersion": model, "candidates": [{"content": said[0]}], **({"usageMetadata": usage} if input else {})}
    usage = {"prompt_tokens": input, "completion_tokens": output, "prompt_tokens_details": {"cached_tokens": cached}}
    calls = [call for message in said for call in message.get("tool_calls") or ()]
    message = {**said[0], "content": "".join(shown({**m, "tool_calls": None}).text for m in said) or None, **({"tool_calls": calls} if calls else {})}
    return {"object": "chat.completion", "model": model, "choices": [{"index": 0, "message": message}], **({"usage": usage} if input else {})}


def tools(format: str, offered: Iterable[tuple[str, str | None, Any]]) -> list[dict[str, Any]]:
    """Tools as a format has them, of name, description and schema."""
    key = {"anthropic": "input_schema", "gemini": "parametersJsonSchema"}.get(format, "parameters")
    functions = [{"name": name, "description": description or "", key: schema} for name, description, schema in offered]
    if format == "gemini":
        return [{"functionDeclarations": functions}] if functions else []
    if format == "anthropic":
        return functions
    return [{"type": "function", **(tool if format == "responses" else {"function": tool})} for tool in functions]


@dataclass
class Shown:
    """A message of a view, in no provider's shape."""

    role: str
    text: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # id, name, arguments in JSON
    results: list[tuple[str, str, Shown]] = field(default_factory=list)  # id of the call, name where it is told, what is in it
    media: int = 0
    thinks: bool = False

    def take(self, block: dict[str, Any]) -> None:
        """Reads a block, a part, an item or a call, of whichever provider."""
        kind = block.get("type", "")
        called = block.get("functionCall") or block.get("function")
        if kind in ("tool_use", "function_call") or called:
            called = called or block
            arguments = called.get("arguments", called.get("input", called.get("args", {})))
            id = block.get("call_id") or block.get("id") or called.get("id") or ""
            self.calls.append((id, called["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)))
        elif kind in ("tool_result", "function_call_output"):
            held = block.get("content", block.get("output", ""))
            self.results.append((block.get("tool_use_id") or block["call_id"], "", shown({"role": "tool", "content": held})))
        elif "functionResponse" in block:
            answer = block["functionResponse"]
            value = answer.get("response", {})
            text = next((value[key] for key in ("result", "output", "error") if isinstance(value.get(key), str)), None)
            told = Shown("tool", json.dumps(value) if text is None else text, media=len(answer.get("parts", ())))
            self.results.append((answer.get("id", ""), answer["name"], told))
        elif block.get("thought") or kind in ("thinking", "redacted_thinking", "reasoning"):
            self.thinks = True
        elif "text" in block or "refusal" in block:
            self.text += block.get("text") or block.get("refusal") or ""
        else:
            self.media += 1


def shown(message: dict[str, Any]) -> Shown:
    """Reads a message of a view, of whichever provider."""
    if "role" not in message:
        return _filled(Shown("user" if message.get("type", "").endswith("_output") else "assistant"), [message])
    content = message.get("content") or message.get("parts") or ""
    blocks = [{"text": content}] if isinstance(content, str) else content
    if message.get("tool_call_id"):
        return Shown("user", results=[(message["tool_call_id"], "", _filled(Shown("tool"), blocks))])
    return _filled(Shown("assistant" if message["role"] == "model" else message["role"]), [*blocks, *(message.get("tool_calls") or ())])


def _filled(told: Shown, blocks: Iterable[dict[str, Any]]) -> Shown:
    for block in blocks:
        told.take(block)
    return told


def needed(pieces: Iterable[Piece], count: int) -> list[Piece]:
    """A view without what was made up between neighbors of the list, or at its ends: the framework sends them so by itself."""
    left: list[Piece] = []
    last, pieces = -1, list(pieces)
    for n, piece in enumerate(pieces):
        following = next((min(later.indexes) for later in pieces[n:] if later.indexes), count)
        if piece.kind != "made_up" or following != last + 1 or any(shown(message).results for message in piece.shown):
            left.append(piece)
        last = max(piece.indexes, default=last)
    return left


def placed(pieces: Iterable[Piece], sent: Sequence[Any], owners: Sequence[Any], made: Callable[[Shown, Any], Iterable[Any]]) -> Iterator[Any]:
    """The view in the framework's own objects, `owners[i]` being that of which `sent[i]` was made.

    One of which all is whole is itself. All else is what `made` makes of what is shown, and of the one object that it is shown of, or None.
    """
    pieces = needed(pieces, len(sent))
    whole = {i for piece in pieces if piece.whole for i in piece.indexes}
    torn = {id(owner) for i, owner in enumerate(owners) if i not in whole}
    last = None
    for piece in pieces:
        own = {id(owners[i]): owners[i] for i in piece.indexes}
        for i in sorted(piece.indexes) if piece.whole else ():  # results stand in any order behind their calls
            if id(owners[i]) in torn:
                yield from made(shown(sent[i]), owners[i])
            elif owners[i] is not last:
                yield owners[i]
            last = owners[i]
        for message in () if piece.whole else piece.shown:
            yield from made(shown(message), own.popitem()[1] if len(own) == len(piece.shown) == 1 else None)
