"""Replies in pieces, of the SDKs' own types: whole, and cut after each piece."""

import json

import pytest
from anthropic import types as anthropic
from google.genai import types as gemini
from openai.types import chat
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from palimpsest_context import _formats as formats
from palimpsest_context._streams import ASSEMBLIES


def assembled(format, events):
    assembly = ASSEMBLIES[format]()
    for event in events:
        assembly.feed(event)
    reply = assembly.reply()
    return assembly.whole, json.loads(reply) if reply else None


def chunk(delta, finish=None, **more):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return chat.ChatCompletionChunk.model_validate({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more})


def called(index, arguments, **named):
    function = {"arguments": arguments, **({"name": named["name"]} if named else {})}
    return {"tool_calls": [{"index": index, "function": function, **({"id": named["id"], "type": "function"} if named else {})}]}


CHAT = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Sn"}),
    chunk({"content": "ow."}),
    chunk(called(0, "", id="a", name="f")),
    chunk(called(0, '{"x":')),
    chunk(called(0, "1}")),
    chunk(called(1, "", id="b", name="g")),
    chunk(called(1, "{}")),
    chunk({}, "tool_calls"),
    chunk({}, choices=[], usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
]

RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
TEXT = {"type": "output_text", "text": "Snow.", "annotations": []}
SAID = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [TEXT]}
CALLED = {"type": "function_call", "id": "f1", "call_id": "a", "name": "f", "arguments": '{"x":1}', "status": "completed"}
RESPONSES = [
    TypeAdapter(ResponseStreamEvent).validate_python({"sequence_number": n, **event})
    for n, event in enumerate([
        {"type": "response.created", "response": RESPONSE},
        {"type": "response.output_item.added", "output_index": 0, "item": {**SAID, "content": [], "status": "in_progress"}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m1", "delta": "Sn", "logprobs": []},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m1", "delta": "ow.", "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": SAID},
        {"type": "response.output_item.added", "output_index": 1, "item": {**CALLED, "arguments": "", "status": "in_progress"}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "f1", "delta": '{"x":1}'},
        {"type": "response.output_item.done", "output_index": 1, "item": CALLED},
        {"type": "response.completed", "response": {**RESPONSE, "output": [SAID, CALLED]}},
    ])
]

ANTHROPIC = [
    TypeAdapter(anthropic.RawMessageStreamEvent).validate_python(event)
    for event in [
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Sn"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ow."}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"x":'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
]


def part(finish=None, **members):
    candidate = {"content": {"role": "model", "parts": [members]}, **({"finishReason": finish} if finish else {})}
    return gemini.GenerateContentResponse.model_validate({"candidates": [candidate], "modelVersion": "m", "usageMetadata": {"promptTokenCount": 3}})


GEMINI = [
    part(text="Hm", thought=True),
    part(text=".", thought=True),
    part(text="Sn"),
    part(text="ow.", thoughtSignature=b"\xfb\xff1"),
    part(text=" Cold."),
    part(functionCall={"name": "f", "args": {"x": 1}}, thoughtSignature=b"two"),
    part("STOP", text=""),
]
STREAMS = {"openai": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}


def test_chat_whole():
    whole, reply = assembled("openai", CHAT)
    message = reply["choices"][0]["message"]
    assert whole and reply["usage"]["prompt_tokens"] == 3
    assert message["content"] == "Snow."
    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]


def test_responses_whole():
    whole, reply = assembled("responses", RESPONSES)
    assert whole and [item["type"] for item in reply["output"]] == ["message", "function_call"]


def test_anthropic_whole():
    whole, reply = assembled("anthropic", ANTHROPIC)
    assert whole and reply["stop_reason"] == "tool_use" and reply["usage"] == {"input_tokens": 3, "output_tokens": 9}
    assert reply["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Snow."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ]


def test_gemini_whole_signatures_stay_with_their_parts():
    whole, reply = assembled("gemini", GEMINI)
    assert whole and reply["usageMetadata"] == {"promptTokenCount": 3}
    parts = reply["candidates"][0]["content"]["parts"]
    assert formats.decoded(parts[2].pop("thoughtSignature")) == b"\xfb\xff1"
    assert formats.decoded(parts[4].pop("thoughtSignature")) == b"two"
    assert parts == [
        {"text": "Hm.", "thought": True},
        {"text": "Sn"},
        {"text": "ow."},
        {"text": " Cold."},
        {"functionCall": {"name": "f", "args": {"x": 1}}},
    ]


@pytest.mark.parametrize("format", STREAMS)
def test_cut_anywhere_has_nothing_that_was_not_said(format):
    """No cut makes a reply look whole, and none shows a call that was not said to its end."""
    events = STREAMS[format]
    for cut in range(len(events)):
        whole, reply = assembled(format, events[:cut])
        said = json.dumps(reply)
        if format == "openai" and cut > 8:
            assert whole  # all but the usage
            continue
        assert not whole
        calls = [call for call in found(format, reply) if is_json(call)] if reply else []
        finished = sum(1 for event in events[:cut] if ends_call(format, event))
        assert len(calls) <= finished, f"{cut} of {len(events)}: {said}"


def found(format, reply):
    if format == "openai":
        return [call["function"]["arguments"] for call in reply["choices"][0]["message"].get("tool_calls", [])]
    if format == "responses":
        return [item["arguments"] for item in reply["output"] if item["type"] == "function_call"]
    if format == "anthropic":
        return [json.dumps(block["input"]) for block in reply["content"] if block["type"] == "tool_use"]
    return [json.dumps(p["functionCall"]["args"]) for p in reply["candidates"][0]["content"]["parts"] if "functionCall" in p]


def is_json(text):
    try:
        return json.loads(text) is not None
    except ValueError:
        return False


def ends_call(format, event):
    if format == "openai":
        return bool(event.choices and event.choices[0].delta.tool_calls and event.choices[0].delta.tool_calls[0].function.arguments in ("1}", "{}"))
    if format == "responses":
        return event.type == "response.output_item.done" and event.item.type == "function_call"
    if format == "anthropic":
        return event.type == "content_block_stop" and event.index == 2
    return bool(event.candidates[0].content.parts[0].function_call)


def test_text_that_was_cut_is_kept():
    for format, cut in {"openai": 2, "responses": 3, "anthropic": 7, "gemini": 3}.items():
        _, reply = assembled(format, STREAMS[format][:cut])
        assert '"Sn"' in json.dumps(reply)


def test_nothing_said_is_no_reply():
    for format in STREAMS:
        assert assembled(format, []) == (False, None)
    assert assembled("anthropic", ANTHROPIC[:1])[1] is None
    assert assembled("responses", RESPONSES[:2])[1] is None


def test_call_that_broke_off_before_its_arguments_is_left_out():
    """Without arguments, it would look like a call that takes none."""
    assert found("openai", assembled("openai", CHAT[:4])[1]) == []
    assert found("openai", assembled("openai", CHAT[:7])[1]) == ['{"x":1}']
