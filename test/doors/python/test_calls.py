"""Calls: retries, deadlines, errors by reason, and that nothing goes on record twice."""

import asyncio
import inspect
import subprocess
import time

import grpc
import pytest

import palimpsest_context
from conftest import SIDECAR, Scripted, refusal
from palimpsest_context import OlderSidecarError, Palimpsest, PalimpsestError, aio, reasons
from palimpsest_context.v1 import context_service_pb2 as api
from palimpsest_context.v1 import error_pb2

UNAVAILABLE, DEADLINE = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED


def answers(message):
    return lambda request, context: message.SerializeToString()


def in_turn(*steps):
    """Each call does the next; the last one stays."""
    rest = list(steps)
    return lambda request, context: (rest.pop(0) if len(rest) > 1 else rest[0])(request, context)


def built(request_json='{"messages": []}'):
    made = api.BuildContextResponse()
    made.rendered.request_json = request_json
    return answers(made)


def sent(scripted, method, kind):
    return [kind.FromString(request) for name, request, _ in scripted.requests if name == method]


@pytest.fixture
def conversation(scripted):
    with Palimpsest(scripted.address, timeout=5, token="secret") as client:
        yield client.conversation("c")


@pytest.mark.parametrize("failure", [refusal(UNAVAILABLE), refusal(DEADLINE), refusal(grpc.StatusCode.ABORTED, "CONTENTION")])
def test_call_that_may_succeed_is_tried_again_under_its_id(scripted, conversation, failure):
    scripted.behaves["BatchAppendMessages"] = in_turn(failure, failure, answers(api.BatchAppendMessagesResponse()))
    conversation.user("hi")
    conversation.flush()
    tries = sent(scripted, "BatchAppendMessages", api.BatchAppendMessagesRequest)
    assert len(tries) == 3 and tries[0].request_id and tries[0] == tries[1] == tries[2]
    assert all(metadata["authorization"] == "Bearer secret" for _, _, metadata in scripted.requests)


@pytest.mark.parametrize("reason", ["INDEX_MISMATCH", "PENDING_TOOL_CALLS", "INVALID_FIELD", "QUOTA_EXCEEDED"])
def test_call_that_is_refused_is_tried_once(scripted, conversation, reason):
    scripted.behaves["BatchAppendMessages"] = refusal(grpc.StatusCode.FAILED_PRECONDITION, reason)
    conversation.user("hi")
    with pytest.raises(PalimpsestError):
        conversation.flush()
    assert len(scripted.requests) == 1


def test_call_ends_with_its_deadline(scripted):
    scripted.behaves["BatchAppendMessages"] = refusal(UNAVAILABLE)
    with Palimpsest(scripted.address, timeout=0.5) as client:
        conversation = client.conversation("c")
        conversation.user("hi")
        begun = time.monotonic()
        with pytest.raises(PalimpsestError) as caught:
            conversation.flush()
    assert time.monotonic() - begun < 1.5 and caught.value.code == "UNAVAILABLE"
    assert len(scripted.requests) > 2


def test_error_is_of_its_reason(scripted, conversation):
    scripted.behaves["BatchAppendMessages"] = refusal(
        grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", {"appended": "false"}, [("message.parts[0]", "must be set")]
    )
    conversation.user("hi")
    with pytest.raises(palimpsest_context.InvalidFieldError) as caught:
        conversation.flush()
    error = caught.value
    assert (error.reason, error.code, error.metadata) == ("INVALID_FIELD", "INVALID_ARGUMENT", {"appended": "false"})
    assert [(v.field, v.description) for v in error.violations] == [("message.parts[0]", "must be set")]


def test_each_reason_has_a_class():
    names = [name[len("ERROR_REASON_") :] for name in error_pb2.ErrorReason.keys()][1:]
    assert list(reasons.BY_REASON) == names
    assert all(issubclass(kind, PalimpsestError) and kind.__name__ in palimpsest_context.__all__ for kind in reasons.BY_REASON.values())


def test_reason_of_a_newer_sidecar_is_told(scripted, conversation):
    scripted.behaves["BatchAppendMessages"] = refusal(grpc.StatusCode.FAILED_PRECONDITION, "NOT_YET_KNOWN")
    conversation.user("hi")
    with pytest.raises(PalimpsestError) as caught:
        conversation.flush()
    assert type(caught.value) is PalimpsestError and caught.value.reason == "NOT_YET_KNOWN"


def test_refused_build_leaves_what_was_said(scripted, conversation):
    scripted.behaves["BuildContext"] = in_turn(refusal(grpc.StatusCode.FAILED_PRECONDITION, "CONTEXT_CANNOT_FIT"), built())
    conversation.user("hi")
    with pytest.raises(palimpsest_context.ContextCannotFitError):
        conversation.openai(model="m")
    conversation.openai(model="m")
    conversation.openai(model="m")
    first, again, last = sent(scripted, "BuildContext", api.BuildContextRequest)
    assert [len(request.append.items) for request in (first, again, last)] == [1, 1, 0]
    assert first.request_id != again.request_id


def test_dry_build_leaves_what_was_said(scripted, conversation):
    scripted.behaves["BuildContext"] = built()
    conversation.user("hi")
    conversation.openai(model="m", build={"dry_run": True})
    conversation.openai(model="m")
    assert [len(request.append.items) for request in sent(scripted, "BuildContext", api.BuildContextRequest)] == [1, 1]


def test_outcome_unknown_same_call_again_has_the_same_id(scripted):
    lost = [refusal(UNAVAILABLE)] * 40
    scripted.behaves["BatchAppendMessages"] = lambda request, context: (lost.pop() if lost else answers(api.BatchAppendMessagesResponse()))(request, context)
    with Palimpsest(scripted.address, timeout=0.3) as client:
        conversation = client.conversation("c")
        assert conversation.add({"role": "assistant", "content": "x"}, format="openai") == [], "it is paid for, and waits"
        lost.clear()
        conversation.add({"role": "assistant", "content": "x"}, format="openai")
    tries = sent(scripted, "BatchAppendMessages", api.BatchAppendMessagesRequest)
    assert len({request.request_id for request in tries}) == 1, "the reply is on record once"


def test_outcome_unknown_is_settled_before_anything_else(scripted):
    lost = [refusal(UNAVAILABLE)] * 40
    scripted.behaves["BuildContext"] = lambda request, context: (lost.pop() if lost else built())(request, context)
    with Palimpsest(scripted.address, timeout=0.3) as client:
        conversation = client.conversation("c")
        conversation.user("one")
        with pytest.raises(PalimpsestError):
            conversation.openai(model="m")
        lost.clear()
        del scripted.requests[:]
        conversation.user("two")
        conversation.openai(model="m")
    settled, new = sent(scripted, "BuildContext", api.BuildContextRequest)
    assert [item.message.parts[0].text for item in settled.append.items] == ["one"]
    assert [item.message.parts[0].text for item in new.append.items] == ["two"]


def test_older_sidecar_is_refused(monkeypatch):
    from palimpsest_context import _core

    monkeypatch.setattr(_core, "SIDECAR", "v1.2.3")
    for version, good in {"v1.2.2": False, "0.9.9": False, "v1.2.3": True, "v1.2.3-4-gabcdef0": True, "v2.0.0": True, "dev": True}.items():
        server = Scripted(version)
        server.behaves["BuildContext"] = built()
        with Palimpsest(server.address) as client:
            if good:
                client.conversation("c").openai(model="m")
            else:
                with pytest.raises(OlderSidecarError, match=version):
                    client.conversation("c").openai(model="m")
                assert server.requests == [], "nothing is asked of it"
        server.close()


def test_sidecar_that_starts_again_is_found_again(tmp_path):
    """Within one call: what was said before is there, and what is said goes on record."""
    with Palimpsest.local(SIDECAR, data_dir=str(tmp_path / "data")) as client:
        conversation = client.conversation("c")
        conversation.user("one")
        conversation.flush()
        local = client._core.local
        local._process.kill()
        local._process.wait()
        command = [*local._process.args]
        subprocess_again = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            conversation.user("two")
            conversation.flush()
            counted = client.raw.conversation.CountMessages(count("c"))
            assert counted.message_count == 2
        finally:
            subprocess_again.stdin.close()
            subprocess_again.wait()


def count(conversation):
    from palimpsest_context.v1 import conversation_service_pb2

    return conversation_service_pb2.CountMessagesRequest(conversation_id=conversation)


def test_local_ends_with_its_client(tmp_path):
    with Palimpsest.local(SIDECAR) as client:
        local = client._core.local
        assert local.pid and oct(__import__("os").stat(local.socket.rpartition("/")[0]).st_mode)[-3:] == "700"
    assert local._process.returncode is not None


def test_local_that_cannot_start_says_why(monkeypatch):
    with pytest.raises(palimpsest_context.LocalSidecarError, match="no program"):
        Palimpsest.local("/nowhere/sidecar")
    with pytest.raises(palimpsest_context.LocalSidecarError, match="unknown flag"):
        Palimpsest.local(SIDECAR, arguments=["--no-such-flag"])
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("PALIMPSEST_BINARY", raising=False)
    with pytest.raises(palimpsest_context.LocalSidecarError, match="PALIMPSEST_BINARY"):
        Palimpsest.local()


def public(kind):
    return {name: member for name, member in vars(kind).items() if not name.startswith("_")}


@pytest.mark.parametrize("name", ["Palimpsest", "Conversation", "Stream"])
def test_asyncio_has_the_same_names(name):
    blocking, awaiting = public(getattr(palimpsest_context, name)), public(getattr(aio, name))
    assert list(blocking) == list(awaiting)
    for member in blocking:
        if inspect.isfunction(blocking[member]) and member != "stream":
            assert inspect.signature(blocking[member]) == inspect.signature(awaiting[member]), member


def test_asyncio_does_the_same(scripted):
    """The same requests, but for their ids, and the same error."""
    scripted.behaves["BuildContext"] = built()
    scripted.behaves["BatchAppendMessages"] = in_turn(*[refusal(UNAVAILABLE), answers(reply_with_calls())] * 2)
    scripted.behaves["AnswerToolCall"] = answers(api.AnswerToolCallResponse(tool_result={"call_id": "b", "text": "recalled"}))
    scripted.behaves["CreateConversation"] = refusal(grpc.StatusCode.ALREADY_EXISTS, "CONVERSATION_EXISTS")

    def blocking():
        with Palimpsest(scripted.address) as client:
            conversation = client.conversation("c", title="t")
            conversation.user("hi")
            conversation.openai(model="m", system="s")
            conversation.answer(conversation.add({"choices": []}), {"f": lambda x: {"y": x}, "g": fails})
            conversation.openai(model="m")

    async def awaiting():
        async def f(x):
            return {"y": x}

        async with aio.Palimpsest(scripted.address) as client:
            conversation = client.conversation("c", title="t")
            conversation.user("hi")
            await conversation.openai(model="m", system="s")
            await conversation.answer(await conversation.add({"choices": []}), {"f": f, "g": fails})
            await conversation.openai(model="m")

    blocking()
    one = [without_id(method, request) for method, request, _ in scripted.requests]
    del scripted.requests[:]
    asyncio.run(awaiting())
    assert one == [without_id(method, request) for method, request, _ in scripted.requests]
    results = [item.message.parts[0].tool_result for item in api.BuildContextRequest.FromString(scripted.requests[-1][1]).append.items]
    assert [(r.call_id, r.json or r.text) for r in results] == [("a", '{"y":1}'), ("b", "recalled"), ("c", "ValueError: no"), ("d", "There is no tool nobody.")]


def fails():
    raise ValueError("no")


def reply_with_calls():
    reply = api.BatchAppendMessagesResponse()
    for id, name, arguments, recalls in (("a", "f", '{"x": 1}', False), ("b", "expand_message", "{}", True), ("c", "g", "", False), ("d", "nobody", "", False)):
        reply.calls.add(tool_call={"call_id": id, "name": name, "arguments_json": arguments}, recalls=recalls)
    return reply


def without_id(method, request):
    from palimpsest_context.v1 import conversation_service_pb2 as record

    kind = getattr(api, method + "Request", None) or getattr(record, method + "Request")
    message = kind.FromString(request)
    if hasattr(message, "request_id"):
        assert message.request_id
        message.request_id = ""
    return method, message


def test_tools_run_side_by_side(scripted, conversation):
    scripted.behaves["BatchAppendMessages"] = answers(reply_with_calls())
    calls = conversation.add({}, format="openai")[:1] * 5
    begun = time.monotonic()
    conversation.answer(calls, {"f": lambda x: time.sleep(0.2)})
    assert time.monotonic() - begun < 0.6


def test_list_that_was_seen_is_left_out_until_the_sidecar_forgets(scripted, conversation):
    from palimpsest_context._formats import chain

    messages = [{"role": "user", "content": "Kraków?"}, {"role": "assistant", "content": "Snow."}, {"role": "user", "content": "And now?"}]
    known = [chain(['{"role":"user","content":"Kraków?"}'][:1]), None, ""]

    def build(request, context):
        asked = api.BuildContextRequest.FromString(request).append.provider_input
        if known[1] and asked.history.known_count:
            return refusal(grpc.StatusCode.FAILED_PRECONDITION, "HISTORY_PREFIX_UNKNOWN")(request, context)
        reply = api.BuildContextResponse()
        reply.rendered.request_json = '{"messages": []}'
        reply.history.known_count, reply.history.known_sha256 = 1, known[0]
        reply.history.conversation_id = known[2]
        return reply.SerializeToString()

    scripted.behaves["BuildContext"] = build
    conversation.sync(messages[:1])
    conversation.sync(messages)
    known[1] = "forgotten"
    conversation.sync(messages)
    conversation.sync([{"role": "user", "content": "Other"}], differs="rewind")
    known[2] = "elsewhere"
    began = conversation.id
    conversation.sync([{"role": "user", "content": "Another"}], differs="new")
    conversation.openai(model="m")
    asked = [request.conversation_id for request in sent(scripted, "BuildContext", api.BuildContextRequest)]
    assert asked[-2:] == [began, "elsewhere"]
    inputs = [request.append.provider_input for request in sent(scripted, "BuildContext", api.BuildContextRequest)]
    seen = [(i.history.known_count, i.json.count('"role"'), i.history.on_divergence) for i in inputs if i.json]
    assert seen == [(0, 1, 1), (1, 2, 1), (1, 2, 1), (0, 3, 1), (0, 1, 2), (0, 1, 3)]
