"""A test run in which everything expires after one turn, although nothing on record says so.

    runtime_override.py [ADDRESS]      127.0.0.1:7171 by default
"""

import sys
import uuid

from agent import Sidecar, assistant, call, check, result, user
from palimpsest_context.v1 import context_service_pb2 as api
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import expiration_pb2 as expiration
from palimpsest_context.v1 import policy_pb2 as policy

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"runtime-override-{uuid.uuid4()}"
page = "A line of the page that was fetched.\n" * 60

# [override]
# Goes with every build of the test run. What it does not set stays as action policies and messages say.
harsh = {
    "expiration_override": expiration.ExpirationOverride(
        turns=1,
        mode=expiration.EXPIRATION_MODE_COMPACT,
        compact_mode=expiration.COMPACT_MODE_FIRST_N_CHARS,
        compact_length=200,
        preserve_original_content=True,
    ),
    "policy_override": policy.Policy(rewrite=policy.RewritePolicy(mode=policy.REWRITE_MODE_EAGER)),
}
# [/override]
# [disable]
calm = {"expiration_override": expiration.ExpirationOverride(disable_expiration=True)}
# [/disable]


def turn(call_id):
    sidecar.append(conversation, call(call_id, "fetch", page=call_id))
    return sidecar.append(conversation, result(call_id, "fetch", page))


def notes(shown):
    """The indices of what is shown compacted. Nothing leaves this view, so that they are positions."""
    return [n for n, message in enumerate(shown) if "[Compacted: first 200 of 2220" in (message["content"] or "")]


sidecar.append(conversation, user("Compare the pages."))
sidecar.build(conversation, **harsh)
first = turn("c1")
built, shown = sidecar.build(conversation, **harsh)
print(f"turn {built.turn}: the first page is new, and one turn old at most")
check(notes(shown) == [], "all of it is shown")
second = turn("c2")

print("turn 3, tried first: what would the override do?")
tried, shown = sidecar.build(conversation, dry_run=True, **harsh)
check(notes(shown) == [first] and tried.manifest_id == "", "it would compact the first page; nothing is committed")
plain, shown = sidecar.build(conversation, dry_run=True)
check(notes(shown) == [], "without it, nothing would expire")
built, shown = sidecar.build(conversation, **harsh)
check(built.turn == 3 and notes(shown) == [first], "the build does what was shown")
compacted = shown[first]["content"]
sidecar.append(conversation, assistant("They are alike."))
sidecar.append(conversation, user("Are they?"))

print("turn 4: the override says that nothing expires")
built, shown = sidecar.build(conversation, **calm)
check(notes(shown) == [first], "the second page is due and stays whole; the first stays compacted, for nothing is undone")
sidecar.append(conversation, assistant("They are."))
sidecar.append(conversation, user("Thank you."))

print("turn 5: a build without an override")
built, shown = sidecar.build(conversation)
check(notes(shown) == [first] and shown[first]["content"] == compacted, "what was decided stays, byte for byte; nothing else expires")

print("the originals were preserved")
for index in (first, second):
    whole = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
        conversation_id=conversation, message_index=index, mode=api.EXPAND_MODE_RETURN_ONLY))
    check(whole.message.parts[0].tool_result.text == page, f"message {index} can be had back")

print("an override that goes with an append is stored with the message")
sidecar.append(conversation, call("c3", "fetch", page="c3"))
request = api.AppendMessageRequest(conversation_id=conversation, message=result("c3", "fetch", page), expiration_override=harsh["expiration_override"])
stored = sidecar.context.AppendMessage(request).receipt.index
message = sidecar.record.GetMessage(record.GetMessageRequest(conversation_id=conversation, message_index=stored)).message
settings = message.parts[0].tool_result.expiration
check(settings.turns == 1 and settings.source == expiration.EXPIRATION_SOURCE_OVERRIDE, "it says that it came from an override")
