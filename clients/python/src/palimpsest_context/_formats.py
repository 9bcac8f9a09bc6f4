"""Providers' JSON: what their SDKs hold as JSON for the sidecar, and the sidecar's answers as arguments for their SDKs."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any, Dict, Iterator, List, Literal, Mapping, Optional, Sequence

from .v1 import context_pb2

Format = Literal["openai", "responses", "anthropic", "gemini"]
Differs = Literal["refuse", "rewind", "new"]  # what happens where a whole list differs from the record
Cut = Literal["keep", "hide"]  # what happens to messages that a whole list no longer holds
OnUnavailable = Literal["raise", "pass"]  # what a whole list's call does while the sidecar is away
Fields = Mapping[str, Any]  # of a message of the API, by the names that its proto has

CODES: Dict[str, Any] = {
    "openai": context_pb2.CONTEXT_FORMAT_OPENAI_CHAT,
    "responses": context_pb2.CONTEXT_FORMAT_OPENAI_RESPONSES,
    "anthropic": context_pb2.CONTEXT_FORMAT_ANTHROPIC,
    "gemini": context_pb2.CONTEXT_FORMAT_GEMINI,
}
LISTS = {"openai": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
TOOL_FILES = {"openai": "openai_chat", "responses": "openai_responses", "anthropic": "anthropic", "gemini": "gemini"}
# What google-genai adds to an answer by itself.
OF_THE_SDK = {"sdk_http_response", "parsed", "automatic_function_calling_history"}


def code(format: str) -> Any:
    if format not in CODES:
        raise ValueError(f"{format!r} is no format; one of {', '.join(CODES)} is")
    return CODES[format]


def plain(value: Any) -> Any:
    """What an SDK holds, as JSON has it."""
    if hasattr(value, "model_dump"):
        exclude = OF_THE_SDK if "sdk_http_response" in getattr(type(value), "model_fields", ()) else None
        return value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=exclude, warnings=False)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    return value


def foreign(value: Any) -> Any:
    """What JSON has no kind for, as it has it."""
    made = plain(value)
    if made is value:
        raise TypeError(f"a {type(value).__name__} is no JSON")
    return made


# What is JSON already is written as it is, without a copy: whole lists come with each step.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=foreign).encode


def dumped(value: Any) -> str:
    """JSON of what an SDK holds. A string is JSON already."""
    return value if isinstance(value, str) else encode(value)


def chain(elements: Sequence[str]) -> str:
    """The hash over the elements of a list, as the sidecar knows it by."""
    state = bytes(32)
    for element in elements:
        state = hashlib.sha256(state + element.encode()).digest()
    return state.hex()


def arguments(format: str, request: Dict[str, Any], model: str, extra: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of an SDK's call: the sidecar's, the model, and what the caller adds to them."""
    named = {"model": model} if model else {}
    if format != "gemini":
        return {**named, **request, **extra}
    added = dict(extra)
    config = {**configuration(request), **(plain_mapping(added.pop("config", None)))}
    contents = [unpacked(content) for content in request["contents"]]
    return {**named, "contents": contents, **({"config": config} if config else {}), **added}


def plain_request(format: str, messages: List[Any], system: str, tools: Any) -> Dict[str, Any]:
    """The request that a list makes by itself."""
    with_tools = {"tools": tools} if tools else {}
    if format == "openai":
        return {"messages": [*([{"role": "system", "content": system}] if system else []), *messages], **with_tools}
    if format == "gemini":
        instruction = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
        return {"contents": messages, **instruction, **with_tools}
    name = "instructions" if format == "responses" else "system"
    return {LISTS[format]: messages, **({name: system} if system else {}), **with_tools}


def is_first(elements: Sequence[str]) -> bool:
    """Whether nothing in a list was said by a model."""
    roles = [element.get("role") if isinstance(element, dict) else None for element in map(json.loads, elements)]
    return all(role in ("user", "system", "developer") for role in roles)


def leads_with_system(elements: Sequence[str]) -> bool:
    first = json.loads(elements[0]) if elements else None
    return isinstance(first, dict) and first.get("role") in ("system", "developer")


def leading_system(elements: Sequence[str]) -> str:
    """The system prompt that leads a list; empty if none does."""
    first = json.loads(elements[0]) if leads_with_system(elements) else {}
    content = first.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text") or "" for part in content)


def configuration(request: Mapping[str, Any]) -> Dict[str, Any]:
    """google-genai takes beside the contents what the API has beside them."""
    names = {"systemInstruction": "system_instruction", "tools": "tools"}
    return {name: request[key] for key, name in names.items() if key in request}


def plain_mapping(config: Any) -> Dict[str, Any]:
    if config is None:
        return {}
    return dict(config) if isinstance(config, Mapping) else dict(config.model_dump(exclude_none=True))


def unpacked(content: Dict[str, Any]) -> Dict[str, Any]:
    """A content whose bytes are bytes: google-genai reads base64 in JSON alone, and dicts as they are."""
    for part in blobs(content.get("parts", [])):
        if "thoughtSignature" in part:
            part["thoughtSignature"] = decoded(part["thoughtSignature"])
        if "data" in part.get("inlineData", ()):
            part["inlineData"]["data"] = decoded(part["inlineData"]["data"])
    return content


def blobs(parts: List[Dict[str, Any]]) -> Iterator[Dict[str, Any]]:
    for part in parts:
        yield part
        yield from part.get("functionResponse", {}).get("parts", [])


def decoded(text: str) -> bytes:
    """The bytes of base64 in either alphabet, with padding or without."""
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4))


def recall_tools(format: str, memory: bool) -> List[Dict[str, Any]]:
    """The definitions of the tools by which a model gets text back."""
    code(format)
    name = TOOL_FILES[format] + ("_memory" if memory else "") + ".json"
    tools: List[Dict[str, Any]] = json.loads((resources.files("palimpsest_context") / "tools" / name).read_text(encoding="utf-8"))
    return tools


RECALLS = ("expand_message", "retrieve_content", "search_conversation", "search_memory")


def recalls(name: str) -> bool:
    """Whether the sidecar answers a tool's calls: one of its own, or one under a prefix that says whose it is."""
    for known in RECALLS:
        if name == known:
            return True
        prefix = name[: -len(known)]
        if name.endswith(known) and prefix.endswith(("__", ".", "/", "-")):
            return "palimpsest" in prefix.replace("__", "/").replace(".", "/").replace("-", "/").split("/")
    return False


def shown(value: Any) -> Optional[str]:
    """What a tool returned, as text; None where it is better said in JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else None
