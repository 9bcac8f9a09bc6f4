"""Search results are shown in full for two turns, and then cut to their first 500 characters.

    quick_truncation.py [ADDRESS]      127.0.0.1:7171 by default
"""

import sys
import uuid

from agent import Sidecar, assistant, call, check, result, user
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import expiration_pb2 as expiration
from palimpsest_context.v1 import policy_pb2 as policy
from palimpsest_context.v1 import policy_service_pb2 as policies

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"quick-truncation-{uuid.uuid4()}"

# [tool]
# Once, by whoever operates the agent: what the tool "web_search" returns lives for two turns.
sidecar.policy.PutActionPolicy(policies.PutActionPolicyRequest(policy=policy.ActionPolicy(
    tool_name="web_search",
    expiration=expiration.Expiration(
        turns=2,
        mode=expiration.EXPIRATION_MODE_COMPACT,
        compact_mode=expiration.COMPACT_MODE_FIRST_N_CHARS,
        compact_length=500,
    ),
)))
# [/tool]

# [eager]
# This conversation makes such changes in the very turn they are due. Without this they are made when that pays.
sidecar.create(conversation, policy.Policy(rewrite=policy.RewritePolicy(mode=policy.REWRITE_MODE_EAGER)))
# [/eager]

hits = "".join(f"{n:02d}  https://example.com/page-{n:02d}  what page {n:02d} says of gardens in Kyoto\n" for n in range(1, 100))[:5000]

print("turn 1: the agent is asked, and calls its tool")
sidecar.append(conversation, user("Which gardens in Kyoto are open in winter?"))
built, shown = sidecar.build(conversation)
check(built.turn == 1, "the first build begins turn 1")
sidecar.append(conversation, call("c1", "web_search", query="Kyoto gardens winter"))
index = sidecar.append(conversation, result("c1", "web_search", hits))

for turn in (2, 3):
    print(f"turn {turn}: the model works with what was found")
    built, shown = sidecar.build(conversation)
    check(built.turn == turn and shown[index]["content"] == hits, "all 5,000 characters are shown")
    sidecar.append(conversation, assistant(f"I have looked at some of it: {turn}."))
    sidecar.append(conversation, user("Go on."))

print("turn 4: two turns are over")
built, shown = sidecar.build(conversation)
note = f"[Compacted: first 500 of 5000 characters shown. Full text: expand_message({index})]"
check(shown[index]["content"] == hits[:500] + "...\n\n" + note, f"500 are shown, and {note}")
check([d.start_index for d in built.decisions] == [index], "a decision says so, and it is the only one")
print(f"  {built.decisions[0].tokens_before} tokens became {built.decisions[0].tokens_after}")
sidecar.append(conversation, assistant("Three are open."))
sidecar.append(conversation, user("Are you sure?"))

print("turn 5: nothing changes again")
later, again = sidecar.build(conversation)
check(again[index] == shown[index], "the same bytes are shown")
check(later.prefix.stable_blocks == built.rendered.blocks, "all of the context before leads this one: the provider's cache holds it")

print("and the record keeps it all")
original = sidecar.record.GetMessage(record.GetMessageRequest(conversation_id=conversation, message_index=index)).message
check(original.parts[0].tool_result.text == hits, "GetMessage returns the 5,000 characters")
check(original.view.can_expand and original.view.expired, "its view says that it has expired and can be expanded")
