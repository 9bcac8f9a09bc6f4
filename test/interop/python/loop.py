"""Runs an agent's loop against a sidecar, with nothing but generated stubs.

    loop.py TARGET...    such as 127.0.0.1:50051 or unix:///run/palimpsest.sock

Prints one line for each check that held; the first that does not ends it.
"""

import hashlib
import json
import sys
import uuid

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from palimpsest.v1 import context_pb2 as ctx
from palimpsest.v1 import context_service_pb2 as loop
from palimpsest.v1 import context_service_pb2_grpc as loop_grpc
from palimpsest.v1 import conversation_service_pb2 as record
from palimpsest.v1 import conversation_service_pb2_grpc as record_grpc
from palimpsest.v1 import event_pb2 as event
from palimpsest.v1 import message_pb2 as msg
from palimpsest.v1 import policy_pb2 as policy

DEADLINE = 20  # seconds, on every call
LARGE = 8 << 20  # bytes: what GetMessage may answer here
LIMITS = [
    ("grpc.max_receive_message_length", LARGE + (64 << 10)),
    ("grpc.max_send_message_length", 16 << 20),
]
FORMATS = {
    "openai-chat": ctx.CONTEXT_FORMAT_OPENAI_CHAT,
    "openai-responses": ctx.CONTEXT_FORMAT_OPENAI_RESPONSES,
    "anthropic": ctx.CONTEXT_FORMAT_ANTHROPIC,
    "gemini": ctx.CONTEXT_FORMAT_GEMINI,
}


def check(condition, what, *seen):
    if not condition:
        raise AssertionError(f"{what}: {seen!r:.2000}")


def text(role, words, **more):
    return msg.Message(role=role, parts=[msg.Part(text=words)], **more)


def call(call_id, name, **arguments):
    return msg.Part(tool_call=msg.ToolCall(call_id=call_id, name=name, arguments_json=json.dumps(arguments)))


def result(call_id, words, state=msg.TOOL_RESULT_STATE_COMPLETED):
    part = msg.Part(tool_result=msg.ToolResult(call_id=call_id, text=words, state=state))
    return msg.Message(role=msg.ROLE_TOOL, parts=[part])


def five_megabytes():
    lines, size, n = [], 0, 0
    while size < 5 << 20:
        line = f"{n:07d}\tnaïve 東京 \U0001f9ed row {n * 2654435761 % 1000003}\r\n"
        lines.append(line)
        size += len(line.encode())
        n += 1
    return "".join(lines)


class Client:
    """A sidecar at one address, every call with a deadline."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target, options=LIMITS)
        self.loop = loop_grpc.ContextServiceStub(self.channel)
        self.record = record_grpc.ConversationServiceStub(self.channel)

    def append(self, conversation, message, **more):
        request = loop.AppendMessageRequest(conversation_id=conversation, message=message, **more)
        return self.loop.AppendMessage(request, timeout=DEADLINE)

    def build(self, conversation, **more):
        return self.loop.BuildContext(loop.BuildContextRequest(conversation_id=conversation, **more), timeout=DEADLINE)

    def message(self, conversation, index, **more):
        request = record.GetMessageRequest(conversation_id=conversation, message_index=index, **more)
        return self.record.GetMessage(request, timeout=DEADLINE).message

    def export(self, conversation):
        request = record.ExportConversationRequest(conversation_id=conversation)
        return b"".join(piece.chunk for piece in self.record.ExportConversation(request, timeout=DEADLINE))

    def restore(self, conversation, data):
        def pieces():
            yield record.ImportConversationRequest(conversation_id=conversation)
            for at in range(0, len(data), 1 << 20):
                yield record.ImportConversationRequest(chunk=data[at : at + (1 << 20)])

        return self.record.ImportConversation(pieces(), timeout=DEADLINE).conversation

    def list(self, conversation):
        messages, token = [], ""
        while True:
            request = record.ListMessagesRequest(
                conversation_id=conversation, page_size=3, page_token=token, max_reply_bytes=LARGE
            )
            page = self.record.ListMessages(request, timeout=DEADLINE)
            messages += page.messages
            token = page.next_page_token
            if not token:
                return messages


def refused(code, reason, attempt):
    """Runs attempt, which must fail, and returns the violated fields."""
    try:
        attempt()
    except grpc.RpcError as error:
        check(error.code() == code, f"{reason}: code", error.code(), error.details())
        infos, fields = [], []
        for detail in rpc_status.from_call(error).details:
            info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
            if detail.Unpack(info):
                infos.append(info)
            elif detail.Unpack(bad):
                fields += [violation.field for violation in bad.field_violations]
        check(len(infos) == 1, f"{reason}: one ErrorInfo", infos)
        check(infos[0].domain == "palimpsest.dev", f"{reason}: domain", infos[0])
        check(infos[0].reason == reason, f"{reason}: reason", infos[0])
        return fields
    raise AssertionError(f"{reason}: the call was accepted")


def agent_loop(client, conversation):
    client.append(conversation, text(msg.ROLE_SYSTEM, "You are terse. Never guess."))
    client.append(conversation, text(msg.ROLE_USER, "What is the weather in Kraków and in 東京?"))
    first = client.build(conversation, format=ctx.CONTEXT_FORMAT_OPENAI_CHAT, model="some-model")
    check(first.turn == 1 and first.manifest_id, "the first build begins turn 1", first)

    ask = msg.Message(role=msg.ROLE_ASSISTANT, parts=[
        msg.Part(text="I look."), call("c1", "weather", city="Kraków"), call("c2", "weather", city="東京"),
    ])
    client.append(conversation, ask)
    refused(grpc.StatusCode.FAILED_PRECONDITION, "PENDING_TOOL_CALLS", lambda: client.build(conversation))
    client.append(conversation, result("c1", "4 °C, rain"))
    client.append(conversation, result("c2", "timeout", state=msg.TOOL_RESULT_STATE_ERROR))

    second = client.build(conversation, format=ctx.CONTEXT_FORMAT_OPENAI_CHAT, model="some-model")
    check(second.turn == 2, "an append and a build begin the next turn", second.turn)
    check(second.prefix.stable_blocks == first.rendered.blocks, "the earlier blocks are kept", second.prefix)
    usage = loop.ReportUsageRequest(
        conversation_id=conversation, manifest_id=second.manifest_id, model="some-model",
        usage=ctx.Usage(input_tokens=90, output_tokens=12),
    )
    check(client.loop.ReportUsage(usage, timeout=DEADLINE).counted, "a usage report counts")
    check(not client.loop.ReportUsage(usage, timeout=DEADLINE).counted, "and only once")

    again = client.record.GetManifest(
        record.GetManifestRequest(conversation_id=conversation, manifest_id=first.manifest_id), timeout=DEADLINE
    )
    check(again.rendered.messages_json == first.rendered.messages_json, "an earlier build comes back byte for byte")
    check(again.manifest.content_sha256 == first.rendered.content_sha256, "with its hash")


def formats(client, conversation):
    for name, number in FORMATS.items():
        built = client.build(conversation, same_turn=True, format=number)
        rendered = built.rendered
        digest = hashlib.sha256(rendered.system_json + b"\0" + rendered.messages_json).hexdigest()
        check(digest == rendered.content_sha256, f"{name}: the hash is of these bytes", digest)
        check(built.tokens.total <= built.tokens.budget, f"{name}: within budget", built.tokens)
        shapes[name](json.loads(rendered.messages_json), json.loads(rendered.system_json or b"null"))
    neutral = client.build(conversation, same_turn=True)
    check([m.origin.message_index for m in neutral.messages] == [0, 1, 2, 3, 4], "neutral shows all five", neutral.messages)
    check(not neutral.rendered.messages_json, "neutral text does not travel twice")


def openai_chat(messages, system):
    check(system is None, "chat has no system of its own", system)
    check([m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool"], "chat: roles", messages)
    ids = [c["id"] for c in messages[2]["tool_calls"]]
    check([m["tool_call_id"] for m in messages[3:]] == ids, "chat: every call is answered in order", messages)
    arguments = json.loads(messages[2]["tool_calls"][0]["function"]["arguments"])
    check(arguments == {"city": "Kraków"}, "chat: arguments are JSON text", arguments)


def openai_responses(items, system):
    calls = [i["call_id"] for i in items if i.get("type") == "function_call"]
    outputs = [i["call_id"] for i in items if i.get("type") == "function_call_output"]
    check(len(calls) == 2 and calls == outputs, "responses: one output per call", items)


def anthropic(messages, system):
    check("You are terse." in json.dumps(system), "anthropic: system apart", system)
    check([m["role"] for m in messages] == ["user", "assistant", "user"], "anthropic: roles alternate", messages)
    uses = [b["id"] for b in messages[1]["content"] if b["type"] == "tool_use"]
    results = [b for b in messages[2]["content"] if b["type"] == "tool_result"]
    check([b["tool_use_id"] for b in results] == uses and len(uses) == 2, "anthropic: uses are answered", messages)
    check(results[1].get("is_error") is True, "anthropic: an error is marked", results)


def gemini(contents, system):
    check("You are terse." in json.dumps(system), "gemini: systemInstruction apart", system)
    check([c["role"] for c in contents] == ["user", "model", "user"], "gemini: roles alternate", contents)
    calls = [p for p in contents[1]["parts"] if "functionCall" in p]
    answers = [p for p in contents[2]["parts"] if "functionResponse" in p]
    check(len(calls) == len(answers) == 2, "gemini: as many answers as calls", contents)


shapes = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def bad_input(client, conversation):
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    fields = refused(invalid, "INVALID_FIELD", lambda: client.append("", msg.Message()))
    for field in ("conversation_id", "message.role", "message.parts"):
        check(field in fields, "every fault is named", field, fields)
    stray = result("never-asked", "42")
    refused(invalid, "RESULT_WITHOUT_CALL", lambda: client.append(conversation, stray))
    missing = grpc.StatusCode.NOT_FOUND
    refused(missing, "CONVERSATION_NOT_FOUND", lambda: client.message("absent-" + conversation, 0))
    refused(missing, "MESSAGE_NOT_FOUND", lambda: client.message(conversation, 999))
    user = text(msg.ROLE_USER, "x")
    refused(grpc.StatusCode.ABORTED, "INDEX_MISMATCH", lambda: client.append(conversation, user, expected_index=999))
    precondition = grpc.StatusCode.FAILED_PRECONDITION
    refused(precondition, "TURN_PASSED", lambda: client.build(conversation, turn=1))
    count = record.CountMessagesRequest(conversation_id=conversation)
    check(client.record.CountMessages(count, timeout=DEADLINE).message_count == 5, "nothing was changed by it")


def request_ids(client, conversation):
    request_id = str(uuid.uuid4())
    message = text(msg.ROLE_ASSISTANT, "Rain in Kraków; 東京 did not answer.")
    first = client.append(conversation, message, request_id=request_id).receipt
    second = client.append(conversation, message, request_id=request_id).receipt
    check(second.duplicate and not first.duplicate, "the retry is known", first, second)
    check((first.index, first.id) == (second.index, second.id), "the same outcome", first, second)
    other = text(msg.ROLE_ASSISTANT, "Something else.")
    reused = lambda: client.append(conversation, other, request_id=request_id)
    refused(grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED", reused)

    client.append(conversation, text(msg.ROLE_USER, "Thanks. And the manual?"))
    request_id = str(uuid.uuid4())
    built = [client.build(conversation, request_id=request_id, format=ctx.CONTEXT_FORMAT_ANTHROPIC) for _ in range(2)]
    check(built[0].manifest_id == built[1].manifest_id and built[1].duplicate, "the same build", built)
    check(built[0].rendered == built[1].rendered, "the same bytes")


def large_result(client, conversation):
    manual = five_megabytes()
    client.append(conversation, msg.Message(role=msg.ROLE_ASSISTANT, parts=[call("c3", "read_manual")]))
    index = client.append(conversation, result("c3", manual)).receipt.index
    exhausted = grpc.StatusCode.RESOURCE_EXHAUSTED
    refused(exhausted, "REPLY_TOO_LARGE", lambda: client.message(conversation, index))
    whole = client.message(conversation, index, max_reply_bytes=LARGE)
    check(whole.parts[0].tool_result.text == manual, "5 MB come back byte for byte")

    room = policy.Budget(context_window_tokens=32_000, reserved_output_tokens=2_000)
    built = client.build(conversation, format=ctx.CONTEXT_FORMAT_OPENAI_CHAT, budget=room)
    shown = json.loads(built.rendered.messages_json)[-1]["content"]
    check(shown.startswith(manual[:100]) and len(shown) < len(manual) // 20, "the model sees it clipped", shown[:300])
    check(built.tokens.total <= built.tokens.budget == 30_000, "within budget", built.tokens)
    clipped = [d for d in built.decisions if d.kind == event.DECISION_KIND_CLIPPED]
    check([d.start_index for d in clipped] == [index], "a decision says so", built.decisions)
    again = client.message(conversation, index, max_reply_bytes=LARGE)
    check(again.parts[0].tool_result.text == manual, "and the original is still whole")
    check(again.view.level == msg.VIEW_LEVEL_SHORTENED and again.view.can_expand, "its view says so", again.view)


def export_and_import(client, conversation):
    data = client.export(conversation)
    for line in data.splitlines():
        json.loads(line)
    copy = conversation + "-copy"
    check(client.restore(copy, data).id == copy, "the copy has the id asked for")
    originals, copies = client.list(conversation), client.list(copy)
    check([m.parts for m in originals] == [m.parts for m in copies], "the same messages")
    check([m.id for m in originals] == [m.id for m in copies], "with their ids")
    before = client.build(conversation, same_turn=True, dry_run=True, format=ctx.CONTEXT_FORMAT_GEMINI)
    after = client.build(copy, same_turn=True, dry_run=True, format=ctx.CONTEXT_FORMAT_GEMINI)
    check(before.rendered.content_sha256 == after.rendered.content_sha256, "the same context is built from it")
    exists = grpc.StatusCode.ALREADY_EXISTS
    refused(exists, "CONVERSATION_EXISTS", lambda: client.restore(copy, data))


def deadline(client, conversation):
    try:
        client.loop.BuildContext(loop.BuildContextRequest(conversation_id=conversation), timeout=-1)
    except grpc.RpcError as error:
        check(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, "a deadline that passed", error.code())
        return
    raise AssertionError("a call outlived its deadline")


def main():
    for target in sys.argv[1:]:
        client = Client(target)
        grpc.channel_ready_future(client.channel).result(timeout=DEADLINE)
        conversation = f"python-{uuid.uuid4()}"
        for part in (agent_loop, formats, bad_input, request_ids, large_result, export_and_import, deadline):
            part(client, conversation)
            print(f"ok {target.split(':')[0]} {part.__name__}", flush=True)
        client.channel.close()


main()
