"""The model asks for a part of what was compacted; then a whole message is put back into view.

    expanding.py [ADDRESS]      127.0.0.1:7171 by default
"""

import json
import pathlib
import sys
import uuid

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from agent import SECONDS, Sidecar, assistant, call, check, result, user
from palimpsest.v1 import context_pb2 as context
from palimpsest.v1 import context_service_pb2 as api
from palimpsest.v1 import conversation_service_pb2 as record
from palimpsest.v1 import event_pb2 as events
from palimpsest.v1 import expiration_pb2 as expiration
from palimpsest.v1 import message_pb2
from palimpsest.v1 import policy_pb2 as policy

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"expanding-{uuid.uuid4()}"
examples = pathlib.Path(__file__).resolve().parent.parent


# [handler]
def expand_message(index, unit=None, start=0, end=2**31 - 1):
    """Answers the model's call of the tool expand_message: a text for it, and whether the call failed."""
    if str(index).startswith("s"):
        return stands_for(index, start)
    if not str(index).isdecimal():
        return f"There is no message {index}.", True
    request = api.ExpandMessageRequest(
        conversation_id=conversation,
        message_index=int(index),
        mode=api.EXPAND_MODE_RETURN_ONLY,  # the view stays as it is, and with it the provider's cache
        max_tokens=2000,  # what does not fit is asked for with another start
    )
    if unit:
        getattr(request, unit).CopyFrom(api.Range(start=start, end=end))
    try:
        reply = sidecar.context.ExpandMessage(request, timeout=SECONDS)
    except grpc.RpcError as error:
        return advice(error, index), True
    text = reply.message.parts[0].text  # with max_tokens, or a range, it is one text
    if reply.next_page_token:
        counted = unit if unit == "items" else "chars"
        text += f"\n\n[There is more: ask again with unit {counted} and start {reply.returned.end}.]"
    return text, False


def stands_for(summary_id, start=0):
    """What a summary stands for, as a list for the model: the messages, and the earlier summaries, from a message's number on."""
    lines, page = [], ""
    while True:
        request = api.ExpandMessageRequest(conversation_id=conversation, summary_id=summary_id, page_token=page)
        try:
            reply = sidecar.context.ExpandMessage(request, timeout=SECONDS)
        except grpc.RpcError as error:
            return advice(error, summary_id), True
        for child in reply.children:
            is_message = child.HasField("message")
            last = child.message.index if is_message else child.last_index
            if last < start:
                continue
            if len(lines) == 100:
                return "\n".join([*lines, f"[There is more: ask again with start {last}.]"]), False
            lines.append(f"{last}: {beginning(child.message)}" if is_message else
                         f"{child.summary_id}: summary of messages {child.first_index}-{last}")
        page = reply.next_page_token
        if not page:
            return "\n".join(lines), False


def beginning(message):
    """The first words of a message."""
    parts = [part.text or part.tool_result.text or f"{part.tool_call.name} {part.tool_call.arguments_json}" for part in message.parts]
    role = message_pb2.Role.Name(message.role).removeprefix("ROLE_").lower()
    return f"{role}: {' '.join(' '.join(parts).split())[:120]}"


def advice(error, index):
    """What the model is told when it cannot have the text. An outage is no answer for a model, and is raised."""
    match reason(error):
        case "ORIGINAL_ERASED":
            return f"The text of message {index} was erased. Run the tool again if you need it."
        case "MESSAGE_NOT_FOUND":
            return f"There is no message {index}."
        case "SUMMARY_NOT_FOUND":
            return f"There is no summary {index}."
        case "EXPANSION_TOO_LARGE":
            return "A single entry is too large. Ask with unit chars."
        case "INVALID_FIELD":
            return "That part cannot be had: the message may be no list. Ask with unit lines or chars, and start before end."
        case _:
            raise error


def reason(error):
    """The reason in an error of the sidecar's; empty for one of gRPC's own."""
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(error)
    return next((info.reason for detail in status.details if detail.Unpack(info)), "") if status else ""
# [/handler]


def refusal(**what):
    """The reason for which an expansion is refused."""
    try:
        sidecar.context.ExpandMessage(api.ExpandMessageRequest(conversation_id=conversation, **what), timeout=SECONDS)
    except grpc.RpcError as error:
        return reason(error)
    return "none"


def go_on(words):
    sidecar.append(conversation, assistant(words))
    sidecar.append(conversation, user("Go on."))


shortly = expiration.Expiration(turns=1, mode=expiration.EXPIRATION_MODE_COMPACT, compact_length=300)
gone = expiration.Expiration(turns=1, mode=expiration.EXPIRATION_MODE_COMPACT, compact_length=20, preserve_original_content=False)
sidecar.record.CreateConversation(record.CreateConversationRequest(conversation=record.Conversation(
    id=conversation,
    policy=policy.Policy(rewrite=policy.RewritePolicy(mode=policy.REWRITE_MODE_EAGER)),
)), timeout=SECONDS)

tools = (examples / "expand_message.openai.json").read_text()
prompt = (examples / "expand_message.prompt.md").read_text()
beside = context.FixedInput(system_prompt=prompt, tools_json=f"[{tools}]")
books = json.dumps([{"rank": n, "title": f"Book {n}", "shelf": f"{n % 7}-{n * 31 % 97}"} for n in range(100)])

print("the agent finds 100 books, and looks up a password")
sidecar.append(conversation, user("Find books on gardens."))
sidecar.build(conversation, fixed_input=beside)
sidecar.append(conversation, call("c1", "find_books", topic="gardens"))
found = sidecar.append(conversation, result("c1", "find_books", books, expiration=shortly))
sidecar.append(conversation, call("c2", "read_password"))
secret = sidecar.append(conversation, result("c2", "read_password", "The password is kumquat-17-salamander.", expiration=gone))
sidecar.build(conversation, fixed_input=beside)
go_on("I have found 100 books.")

print("turn 3: both results have expired, and the user asks for what is not shown any more")
sidecar.append(conversation, user("Where does number 47 stand?"))
built, shown = sidecar.build(conversation, fixed_input=beside)
check(f"expand_message({found})" in shown[found]["content"], f"the view says: {shown[found]['content'][-83:]}")
check("Book 47" not in shown[found]["content"], "book 47 is not in it")
check(shown[secret]["content"].endswith("[Compacted: first 20 of 38 characters shown.]"), "the other note names no expand_message")

print("the model calls expand_message for one entry")
asked = {"index": found, "unit": "items", "start": 47, "end": 48}
text, failed = expand_message(**asked)
text_of_47 = text
check(json.loads(text) == [{"rank": 47, "title": "Book 47", "shelf": "5-2"}] and not failed, f"it gets {text}")
sidecar.append(conversation, call("c3", "expand_message", **asked))
answer = sidecar.append(conversation, result("c3", "expand_message", text))
after, shown = sidecar.build(conversation, fixed_input=beside)
check(shown[answer]["content"] == text, "the next context has it at its end")
check(after.prefix.stable_blocks == built.rendered.blocks, "and nothing before it has changed: the provider's cache still holds it")

print("what can come back instead")
text, failed = expand_message(found)
check(not failed and text.endswith("]") and "ask again with unit chars and start" in text, "of a long text, the beginning, and how to go on")
start = int(text.rsplit(" ", 1)[1].rstrip(".]"))
rest, failed = expand_message(found, unit="chars", start=start)
check(text.split("\n\n[There is more")[0] + rest == books, "with that, the rest")
check(expand_message(secret)[1] and "erased" in expand_message(secret)[0], "of what was erased, advice")
check(expand_message(999) == ("There is no message 999.", True), "of what never was, advice")
check(expand_message(0, unit="items", start=0, end=5)[1], "for entries of what is no list, advice")
check(refusal(message_index=secret) == "ORIGINAL_ERASED", "ORIGINAL_ERASED is the reason behind the first of these")

print("the agent's own program puts the whole message back: the next turns will need all of it")
# [restore]
restored = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
    conversation_id=conversation,
    message_index=found,
    mode=api.EXPAND_MODE_RESTORE,
    reason="the user goes through the list",
    request_id=str(uuid.uuid4()),
), timeout=SECONDS)
# [/restore]
check([e.type for e in restored.events] == [events.EVENT_TYPE_EXPANDED] * len(restored.events), "events say that it was expanded")
check(restored.rewrite_tokens > 0, f"it costs: the provider will read about {restored.rewrite_tokens} tokens anew")
go_on("It stands on shelf 5-2.")
built, shown = sidecar.build(conversation, fixed_input=beside)
check(shown[found]["content"] == books, "all 100 books are in view")
check(built.prefix.broken_by == context.PREFIX_BREAK_EXPANDED, "the prefix report says what broke the prefix")
check(refusal(message_index=found) == "NOT_EDITED", "to ask for it again is refused: NOT_EDITED")

print("its clock has begun anew")
go_on("Shall I go on?")
built, shown = sidecar.build(conversation, fixed_input=beside)
check("[Compacted" in shown[found]["content"], f"in turn {built.turn} it is compacted again")
go_on("I do.")
room = policy.Budget(max_context_tokens=3000)
built, shown = sidecar.build(conversation, fixed_input=beside, budget=room)
check(refusal(message_index=found) == "EXPANSION_TOO_LARGE", "in a budget of 3,000 tokens it is refused: EXPANSION_TOO_LARGE")
check(not expand_message(found, unit="items", start=10, end=20)[1], "a part of it can be had there too")

print("the older half becomes a summary, and the model asks what it stands for")
for n in range(3):
    go_on(f"I have looked at shelf {n}, and found nothing on gardens. " * 200)
# [compact]
compacted = sidecar.context.CompactConversation(api.CompactConversationRequest(
    conversation_id=conversation,
    options=api.CompactionOptions(keep_recent=2),
), timeout=60)  # longer than a summary may take
# [/compact]
summary = compacted.result.summaries[0]
built, shown = sidecar.build(conversation, fixed_input=beside)
note = f'[Summary of messages {summary.first_index}-{summary.last_index}. What it stands for: expand_message("{summary.id}")]'
check(any((m["content"] or "").startswith(note) for m in shown), f"the view says: {note}")
lines, failed = expand_message(summary.id)
check(not failed and f"{found}: tool: [" in lines, f"it gets a list of messages, {len(lines.splitlines())} of them")
check(expand_message(str(found), unit="items", start=47, end=48) == (text_of_47, False), "and with a number from the list, the text")
check(expand_message("s999") == ("There is no summary s999.", True), "of a summary that never was, advice")
