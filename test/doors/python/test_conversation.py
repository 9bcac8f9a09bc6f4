"""Conversations on a sidecar: what goes on record when, with replies as the providers give them."""

import asyncio
import json
import uuid

import pytest

import palimpsest_context
from conftest import SIDECAR
from palimpsest_context import Palimpsest, aio
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import message_pb2


def fresh():
    return f"c-{uuid.uuid4()}"


def messages(client, conversation):
    request = record.ListMessagesRequest(conversation_id=conversation.id, max_reply_bytes=64 << 20)
    return list(client.raw.conversation.ListMessages(request).messages)


def chat(content=None, *calls):
    """What Chat Completions answer."""
    asked = [{"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}} for id, name, arguments in calls]
    message = {"role": "assistant", "content": content, **({"tool_calls": asked} if asked else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if asked else "stop", "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice], "usage": usage}


def gemini(*parts):
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 14}
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}], "usageMetadata": usage, "modelVersion": "m-1"}


def test_step_is_two_commits(client):
    """The reply before its tools run; what they say, and the user, with the next build."""
    conversation = client.conversation(fresh())
    conversation.user("Kraków?", name="Ada", tags=["first"])
    conversation.openai(model="m")
    calls = conversation.add(chat(None, ("a", "weather", {"city": "Kraków"}), ("b", "weather", {"city": "Lyon"})))
    assert [(call.id, call.name, call.arguments, call.recalls) for call in calls] == [
        ("a", "weather", {"city": "Kraków"}, False),
        ("b", "weather", {"city": "Lyon"}, False),
    ]
    conversation.answer(calls, {"weather": lambda city: {"city": city}})
    assert len(messages(client, conversation)) == 2, "the results wait"
    request = conversation.openai(model="m")
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool", "tool"]
    kept = messages(client, conversation)
    assert [len(message.parts) for message in kept] == [1, 2, 1, 1] and kept[0].name == "Ada" and kept[0].tags == ["first"]
    assert kept[1].model == "m-1" and conversation.built.compaction.reported, "its model and its usage came with it"


@pytest.mark.parametrize("format", ["openai", "gemini"])
def test_durable_step_is_one_commit(client, format):
    conversation = client.conversation(fresh(), durable="step")
    conversation.user("Kraków?")
    getattr(conversation, format)(model="m")
    call = {"functionCall": {"name": "weather", "args": {"city": "Kraków"}}}
    reply = chat(None, ("a", "weather", {"city": "Kraków"})) if format == "openai" else gemini(call, call)
    calls = conversation.add(reply)
    assert [call.arguments for call in calls] == [{"city": "Kraków"}] * (1 if format == "openai" else 2)
    conversation.answer(calls, {"weather": lambda city: city})
    assert len(messages(client, conversation)) == 1
    before = conversation.built.revision
    getattr(conversation, format)(model="m")
    assert conversation.built.revision == before + 1, "the reply, its results and the build are one version"
    assert len(messages(client, conversation)) == 2 + len(calls)


def test_waiting_are_the_calls_that_nobody_answered(client):
    conversation = client.conversation(fresh())
    assert conversation.waiting() == []
    conversation.user("Kraków?")
    conversation.openai(model="m")
    conversation.add(chat(None, ("a", "weather", {}), ("b", "expand_message", {"id": "0"}), ("c", "weather", {})))
    conversation.result("a", "snow")
    conversation.flush()
    waiting = client.conversation(conversation.id).waiting()
    assert [(call.id, call.recalls) for call in waiting] == [("b", True), ("c", False)]
    conversation.answer(waiting, {"weather": lambda: "rain"})
    conversation.flush()
    assert conversation.waiting() == []
    conversation.openai(model="m")
    conversation.add(chat("Snow."))
    assert conversation.waiting() == []


def test_recalled_result_says_what_it_was_recalled_from(client):
    conversation = client.conversation(fresh())
    conversation.user("Kraków?")
    conversation.openai(model="m")
    conversation.add(chat(None, ("a", "expand_message", {"id": "0"})))
    text = conversation.recall("expand_message", {"id": "0"}, "a")
    assert "Kraków?" in text
    conversation.result("a", "whatever the framework made of it")
    conversation.flush()
    result = messages(client, conversation)[-1].parts[0].tool_result
    assert result.text == text and result.HasField("recalled_from")


def test_message_in_a_providers_json(client):
    conversation = client.conversation(fresh())
    conversation.message({"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]}, format="openai")
    conversation.system("Be brief.")
    request = conversation.anthropic(model="m", max_tokens=9)
    assert request["max_tokens"] == 9 and "https://a.example/b.png" in json.dumps(request["messages"])
    assert [part.WhichOneof("content") for part in messages(client, conversation)[0].parts] == ["text", "media"]


def test_tool_that_raises_is_an_error_for_the_model(client):
    def broken():
        raise KeyError("currency")

    conversation = client.conversation(fresh())
    conversation.user("Go.")
    conversation.openai(model="m")
    calls = conversation.add(chat(None, ("a", "broken", {}), ("b", "nobody", {})))
    calls.append(palimpsest_context.Call("c", "broken", "no JSON"))
    conversation.answer(calls[:2], {"broken": broken})
    conversation.flush()
    results = [message.parts[0].tool_result for message in messages(client, conversation)[-2:]]
    assert [result.state for result in results] == [message_pb2.TOOL_RESULT_STATE_ERROR] * 2
    assert [result.text for result in results] == ["KeyError: 'currency'", "There is no tool nobody."]


def test_refused_build_says_why_and_appends_nothing(client):
    conversation = client.conversation(fresh())
    conversation.user("Go.")
    with pytest.raises(palimpsest_context.InvalidFieldError):
        conversation.openai(model="m", build={"same_turn": True, "turn": 3})
    with pytest.raises(palimpsest_context.ConversationNotFoundError):
        client.conversation(conversation.id).openai(model="m")


def test_whole_list_in_view_out(client):
    """As a framework has it: each time the whole, of which the record takes what it lacks."""
    conversation = client.conversation(fresh())
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Kraków?"}]
    request = conversation.sync(said, model="m")
    assert request["messages"][-1]["content"] == "Kraków?" and request["model"] == "m"
    reply = chat(None, ("a", "weather", {"city": "Kraków"}))
    conversation.add(reply)
    said += [reply["choices"][0]["message"], {"role": "tool", "tool_call_id": "a", "content": "snow"}]
    conversation.sync(said)
    assert [message.role for message in messages(client, conversation)] == [2, 3, 4], "nothing is doubled"
    said[1] = {"role": "user", "content": "Lyon?"}
    with pytest.raises(palimpsest_context.HistoryDivergedError):
        client.conversation(conversation.id).sync(said)
    again = [*said[:1], {"role": "user", "content": "Kraków?"}, {"role": "assistant", "content": "Snow."}]
    conversation.sync([*again, {"role": "user", "content": "Sure?"}], differs="rewind")
    assert [message.role for message in messages(client, conversation) if not message.view.hidden] == [2, 3, 2]


def test_asyncio_does_the_same_on_a_sidecar():
    async def play():
        async def weather(city):
            await asyncio.sleep(0.01)
            return city

        async with aio.Palimpsest.local(SIDECAR) as client:
            conversation = client.conversation("c", policy={"citations": {"enabled": True}})
            conversation.user("Kraków?")
            await conversation.openai(model="m")
            calls = await conversation.add(chat(None, ("a", "weather", {"city": "Kraków"}), ("b", "expand_message", {"id": "0"})))
            await conversation.answer(calls, {"weather": weather})
            request = await conversation.openai(model="m")
            assert [message["content"] for message in request["messages"]][2] == "Kraków"
            async with conversation.stream(pieces()) as stream:
                assert [event async for event in stream]
            assert stream.calls == [] and await conversation.waiting() == []
            listed = await client.raw.conversation.ListMessages(record.ListMessagesRequest(conversation_id="c"))
            assert listed.messages[-1].parts[0].text == "Snow."

    asyncio.run(play())


async def pieces():
    from test_streams import chunk

    yield chunk({"role": "assistant", "content": "Snow."})
    yield chunk({}, "stop")


def test_stream_that_nobody_reads_to_its_end_is_aborted(client):
    from test_streams import CHAT

    conversation = client.conversation(fresh())
    conversation.user("Go.")
    conversation.openai(model="m")
    with conversation.stream(iter(CHAT)) as stream:
        for event in stream:
            if event is CHAT[6]:
                break
    assert stream.calls == []
    kept = messages(client, conversation)[-1]
    assert kept.tags == ["aborted"] and [part.WhichOneof("content") for part in kept.parts] == ["text", "tool_call"]
    conversation.user("Go on.")
    assert conversation.openai(model="m")["messages"][-1]["content"] == "Go on."


def test_local_keeps_conversations_where_it_is_told(tmp_path):
    for words in ("one", "two"):
        with Palimpsest.local(SIDECAR, data_dir=str(tmp_path / "data")) as client:
            conversation = client.conversation("c")
            conversation.user(words)
            conversation.flush()
            kept = messages(client, conversation)
    assert [message.parts[0].text for message in kept] == ["one", "two"]
