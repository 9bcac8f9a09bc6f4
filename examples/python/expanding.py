"""The model asks for a part of what was compacted; then a whole message is put back into view.

    expanding.py [ADDRESS]      127.0.0.1:7171 by default
"""

import json
import pathlib
import re
import sys
import uuid

import grpc

from agent import Sidecar, assistant, call, check, result, user
from palimpsest_context import error_of
from palimpsest_context.v1 import content_pb2 as content
from palimpsest_context.v1 import context_pb2 as context
from palimpsest_context.v1 import context_service_pb2 as api
from palimpsest_context.v1 import event_pb2 as events
from palimpsest_context.v1 import expiration_pb2 as expiration
from palimpsest_context.v1 import message_pb2
from palimpsest_context.v1 import policy_pb2 as policy

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"expanding-{uuid.uuid4()}"


# [handler]
def answer(asked, max_tokens=2000):
    """The result of the model's call of expand_message: the sidecar's to say, and appended as it is."""
    request = api.AnswerToolCallRequest(conversation_id=conversation, tool_call=asked, max_tokens=max_tokens)
    return sidecar.context.AnswerToolCall(request).tool_result
# [/handler]


def expand(**arguments):
    """The model's call of expand_message."""
    return message_pb2.ToolCall(call_id="c3", name="expand_message", arguments_json=json.dumps(arguments))


def told(max_tokens=2000, **arguments):
    """What the model is told, and whether its call failed."""
    said = answer(expand(**arguments), max_tokens)
    return said.text, said.state == message_pb2.TOOL_RESULT_STATE_ERROR


def refusal(**what):
    """The reason for which an expansion is refused to a program."""
    try:
        sidecar.context.ExpandMessage(api.ExpandMessageRequest(conversation_id=conversation, **what))
    except grpc.RpcError as failure:
        return error_of(failure).reason
    return "none"


def go_on(words):
    sidecar.append(conversation, assistant(words))
    sidecar.append(conversation, user("Go on."))


shortly = expiration.Expiration(turns=1, mode=expiration.EXPIRATION_MODE_COMPACT, compact_length=300)
gone = expiration.Expiration(turns=1, mode=expiration.EXPIRATION_MODE_COMPACT, compact_length=20, preserve_original_content=False)
sidecar.create(conversation, policy.Policy(rewrite=policy.RewritePolicy(mode=policy.REWRITE_MODE_EAGER)))

root = pathlib.Path(__file__).resolve().parents[2]
tools = (root / "clients/tools/openai_chat.json").read_text()
prompt = (root / "examples/expand_message.prompt.md").read_text()
beside = context.FixedInput(system_prompt=prompt, tools_json=tools, render_system=True)
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
built, (_, *shown) = sidecar.build(conversation, fixed_input=beside)
check(f"expand_message({found})" in shown[found]["content"], f"the view says: {shown[found]['content'][-83:]}")
check("Book 47" not in shown[found]["content"], "book 47 is not in it")
check(shown[secret]["content"].endswith("[Compacted: first 20 of 38 characters shown.]"), "the other note names no expand_message")

print("the model calls expand_message for one entry")
asked = expand(id=found, unit="items", start=47, end=48)
said = answer(asked)
sidecar.append(conversation, message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[message_pb2.Part(tool_call=asked)]))
last = sidecar.append(conversation, message_pb2.Message(role=message_pb2.ROLE_TOOL, parts=[message_pb2.Part(tool_result=said)]))
header, text = said.text.split("\n")
check(json.loads(text) == [{"rank": 47, "title": "Book 47", "shelf": "5-2"}], f"it gets {header} {text}")
check(said.recalled_from.message_index == found, f"the answer says itself that it is of message {found}")
after, (_, *shown) = sidecar.build(conversation, fixed_input=beside)
check(shown[last]["content"] == said.text, "the next context has it at its end")
check(after.prefix.stable_blocks == built.rendered.blocks, "and nothing before it has changed: the provider's cache still holds it")

print("what can come back instead")
beginning, failed = told(id=found, max_tokens=1000)
_, text, note = beginning.split("\n")
check(not failed and "More follows" in note, f"of a long text, the beginning, and how to go on: {note}")
start = int(re.search(r"start (\d+)", note)[1])
rest, _ = told(id=found, start=start)
check(text + rest.split("\n")[1] == books, "with that, the rest")
for wrong, what in [
    ({"id": secret}, "of what was erased"),
    ({"id": 999}, "of what never was"),
    ({"id": 0, "unit": "items", "start": 0, "end": 5}, "for entries of what is no list"),
]:
    text, failed = told(**wrong)
    check(failed, f"{what}, advice: {text}")

print("the agent's own program reads a part, for its user interface")
# [part]
reply = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
    conversation_id=conversation,
    message_index=found,
    mode=api.EXPAND_MODE_RETURN_ONLY,
    items=content.Span(start_index=10, end_index=20),
    max_tokens=2000,
))
entries = json.loads(reply.message.parts[0].text)
# [/part]
check(entries == json.loads(books)[10:20] and not reply.next_page_token, f"it has entries {reply.returned.start_index} to {reply.returned.end_index - 1}")
check(refusal(message_index=secret) == "ORIGINAL_ERASED", "of what was erased it gets the reason: ORIGINAL_ERASED")

print("the agent's own program puts the whole message back: the next turns will need all of it")
# [restore]
restored = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
    conversation_id=conversation,
    message_index=found,
    mode=api.EXPAND_MODE_RESTORE,
    reason="the user goes through the list",
    request_id=str(uuid.uuid4()),
))
# [/restore]
check([e.type for e in restored.events] == [events.EVENT_TYPE_EXPANDED] * len(restored.events), "events say that it was expanded")
check(restored.rewrite_tokens > 0, f"it costs: the provider will read about {restored.rewrite_tokens} tokens anew")
go_on("It stands on shelf 5-2.")
built, (_, *shown) = sidecar.build(conversation, fixed_input=beside)
check(shown[found]["content"] == books, "all 100 books are in view")
check(built.prefix.broken_by == context.PREFIX_BREAK_EXPANDED, "the prefix report says what broke the prefix")
check(refusal(message_index=found) == "NOT_EDITED", "to ask for it again is refused: NOT_EDITED")

print("its clock has begun anew")
go_on("Shall I go on?")
built, (_, *shown) = sidecar.build(conversation, fixed_input=beside)
check("[Compacted" in shown[found]["content"], f"in turn {built.turn} it is compacted again")
go_on("I do.")
room = policy.Budget(max_context_tokens=3000)
built, (_, *shown) = sidecar.build(conversation, fixed_input=beside, budget=room)
check(refusal(message_index=found) == "EXPANSION_TOO_LARGE", "in a budget of 3,000 tokens it is refused: EXPANSION_TOO_LARGE")
check(not told(id=found, unit="items", start=10, end=20)[1], "a part of it can be had there too")

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
built, (_, *shown) = sidecar.build(conversation, fixed_input=beside)
note = f'[Summary of messages {summary.start_index}-{summary.end_index - 1}. What it stands for: expand_message("{summary.id}")]'
check(any((m["content"] or "").startswith(note) for m in shown), f"the view says: {note}")
lines, failed = told(id=summary.id)
check(not failed and f"\n{found} tool: [" in lines, f"it gets a list of messages: {lines.splitlines()[0]}")
check("Book 47" in told(id=str(found), unit="items", start=47, end=48)[0], "and with a number from the list, the text")
check(told(id="s999")[1], "of a summary that never was, advice")
