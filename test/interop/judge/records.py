"""Records to play: recordings from files, the same with parallel calls taken apart, and records made for what recordings lack."""

import json
from pathlib import Path

from palimpsest.v1 import message_pb2 as msg

ROLES = {"system": msg.ROLE_SYSTEM, "user": msg.ROLE_USER, "assistant": msg.ROLE_ASSISTANT, "tool": msg.ROLE_TOOL}
ASSISTANT, TOOL = msg.ROLE_ASSISTANT, msg.ROLE_TOOL


class Record:
    """Messages in order, and what any context of them is held to."""

    def __init__(self, name, messages):
        self.name, self.messages = name, messages
        self.positions = [n for n, m in enumerate(messages) if self.asks(n, m)] + [len(messages)]

    def asks(self, n, m):
        """Whether a model was asked when n messages were on record: before what it said, but not between calls of one answer."""
        if n == 0 or m.role != ASSISTANT:
            return False
        return not (self.messages[n - 1].role == ASSISTANT and open_calls(self.messages[:n]))

    def system(self, n):
        """The texts of the system messages that lead the first n messages."""
        texts = []
        for m in self.messages[:n]:
            if m.role != msg.ROLE_SYSTEM:
                break
            texts += [part.text for part in m.parts]
        return texts

    def pairs(self, n):
        """Tools called in the first n messages with their answers; None if a call is not answered before something else came."""
        found, waiting = [], []
        for m in self.messages[:n]:
            for part in m.parts:
                if part.HasField("tool_call"):
                    waiting.append([part.tool_call.call_id, part.tool_call.name, None])
                    found.append(waiting[-1])
                elif part.HasField("tool_result"):
                    answered = next((call for call in waiting if call[0] == part.tool_result.call_id), None)
                    if answered is None:
                        return None
                    answered[2] = part.tool_result.text
                    waiting.remove(answered)
            if waiting and m.role not in (ASSISTANT, TOOL):
                return None
        return None if waiting else [call[1:] for call in found]


def open_calls(messages):
    """How many calls nothing but assistant and tool messages follows, and no answer."""
    asked = answered = 0
    for m in reversed(messages):
        if m.role not in (ASSISTANT, TOOL):
            break
        asked += sum(part.HasField("tool_call") for part in m.parts)
        answered += sum(part.HasField("tool_result") for part in m.parts)
    return max(0, asked - answered)


def recordings(folder, sample, apart=False):
    """Every sample-th recording of each file under a folder; apart: of those with parallel calls, these taken apart."""
    for file in sorted(Path(folder).glob("*/conversations.jsonl")):
        found = [record for record in read(file, apart) if record]
        yield from found[::sample]


def read(file, apart):
    with file.open(encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            whole = [message(m) for m in json.loads(line)["messages"]]
            messages = [one for m in whole for one in taken_apart(m)] if apart else whole
            yield Record(f"{file.parent.name}/{i}", messages) if not apart or len(messages) > len(whole) else None


def message(m):
    words = m.get("content") or ""
    if m["role"] == "tool":
        state = msg.TOOL_RESULT_STATE_ERROR if m.get("is_error") else msg.TOOL_RESULT_STATE_COMPLETED
        return said("tool", result(m["tool_call_id"], words, name=m.get("name", ""), state=state))
    parts = [msg.Part(reasoning=msg.Reasoning(text=m["thinking"], provider="anthropic"))] if m.get("thinking") else []
    calls = [call(c["id"], c["name"], c["arguments"]) for c in m.get("tool_calls") or []]
    if words or not calls:
        parts.append(msg.Part(text=words))
    return said(m["role"], *parts, *calls)


def taken_apart(m):
    """A message with several calls as one message per call, the words with the first."""
    calls = [part for part in m.parts if part.HasField("tool_call")]
    if len(calls) < 2:
        return [m]
    words = [part for part in m.parts if not part.HasField("tool_call")]
    return [said("assistant", *(words if i == 0 else []), one) for i, one in enumerate(calls)]


def said(role, *parts, **more):
    parts = [msg.Part(text=part) if isinstance(part, str) else part for part in parts]
    return msg.Message(role=ROLES[role], parts=parts, **more)


def call(call_id, name, arguments):
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return msg.Part(tool_call=msg.ToolCall(call_id=call_id, name=name, arguments_json=arguments))


def result(call_id, words, **more):
    return msg.Part(tool_result=msg.ToolResult(call_id=call_id, text=words, **more))


def media(mime_type, **source):
    return msg.Part(media=msg.Media(mime_type=mime_type, **source))


def opaque(provider, block):
    return msg.Part(opaque=msg.Opaque(provider=provider, json=json.dumps(block)))


def thought(provider, text, signature):
    return msg.Part(reasoning=msg.Reasoning(provider=provider, text=text, signature=signature))


def made():
    """Records with what recordings lack: media, reasoning, blocks of providers, several texts, white space, calls gone wrong."""
    yield Record("texts", [
        said("system", " \n"), said("system", "Rules.", "\n\n", "", "More."), said("user", "a", " ", "b"),
        said("assistant", "One.", " ", "Two.", call("c", "get", {}), "Three."), said("tool", result("c", "")),
        said("assistant", "\t"), said("system", "  "), said("user", "x"), said("assistant", "", "Done."), said("user", " "),
    ])  # fmt: skip
    yield Record("media", [
        said("user", "See", media("image/png", data=b"PNG"), media("image/webp", uri="https://e.example/a.webp", detail="high"),
             media("application/pdf", data=b"PDF"), media("application/pdf", uri="https://e.example/a.pdf"),
             media("audio/wav", data=b"WAV"), media("video/mp4", data=b"MP4"), media("x/y", uri="ftp://h")),
        said("assistant", media("image/png", data=b"PNG"), call("c", "shot", {})),
        said("tool", msg.Part(tool_result=msg.ToolResult(call_id="c", parts=msg.ToolResultParts(parts=[
            msg.ToolResultPart(text="here"), msg.ToolResultPart(media=msg.Media(mime_type="image/png", data=b"PNG"))])))),
        said("assistant", "Seen."),
    ])  # fmt: skip
    yield Record("reasoning", [
        said("user", "think"),
        said("assistant", opaque("openai", {"id": "rs_1", "type": "reasoning", "summary": [], "content": None, "status": None,
                                            "encrypted_content": "e"}), "A."),
        said("user", "more"),
        said("assistant", opaque("openai", {"id": "rs_2", "type": "reasoning",
                                            "summary": [{"type": "summary_text", "text": "s"}]}), call("a", "get", {})),
        said("tool", result("a", "r")),
        said("assistant", thought("openai", "no id", "e"), opaque("openai", {"type": "reasoning", "summary": []}),
             opaque("openai", {"type": "compaction", "encrypted_content": "e"}), "B."),
        said("user", "more"),
        said("assistant", thought("anthropic", "hm", "sig"), opaque("anthropic", {"type": "redacted_thinking", "data": "z"}),
             opaque("anthropic", {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
             opaque("anthropic", {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}), "C."),
        said("user", "more"),
        said("assistant", thought("gemini", "let me see", "c2ln"), "D.", thought("gemini", "", "c2lnMg=="), call("b", "get", {})),
        said("tool", result("b", "r")), said("assistant", "E.", thought("anthropic", "alone", "sig")),
    ])  # fmt: skip
    yield Record("speakers", [
        said("system", "Rules.", name="host"), said("user", "Hi", name="Jo Ann"), said("user", media("image/png", data=b"PNG"), name="李明"),
        said("assistant", "One.", call("a", "get", {}), name="planner"), said("assistant", "Two.", call("b", "get", {}), name="the </coder>"),
        said("tool", result("a", "r"), result("b", "r")), said("user", "x", name="\u2028]|<\\" + "é" * 100), said("assistant", "y", name="planner"),
    ])  # fmt: skip
    yield Record("calls", [
        said("assistant", "How can I help?"), said("user", "go"),
        said("assistant", call("a", "a.b:c d", '{"q":1}'), call("b", "查询", "not json"), call("c", "9x", "[1]")),
        said("tool", result("c", "boom", state=msg.TOOL_RESULT_STATE_ERROR), result("a", "")),
        said("tool", msg.Part(tool_result=msg.ToolResult(call_id="b", json='[{"a":1}]'))),
        said("assistant", call("a", "get", {}), call("a", "get", {})),
        said("tool", result("a", "", state=msg.TOOL_RESULT_STATE_ERROR)), said("user", "never mind"),
        said("tool", result("a", "late")), said("assistant", "Well."), said("assistant", "Still there?"),
    ])  # fmt: skip
