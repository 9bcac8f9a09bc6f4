"""A conversation that outgrows its budget is summarized; the agent gets a message back out of the summary, and takes a question back.

    window.py [ADDRESS]      127.0.0.1:7171 by default
"""

import sys
import uuid

from agent import Sidecar, assistant, call, check, result, user
from palimpsest_context.v1 import context_pb2 as context
from palimpsest_context.v1 import context_service_pb2 as api
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import event_pb2 as events
from palimpsest_context.v1 import message_pb2
from palimpsest_context.v1 import policy_pb2 as policy

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"window-{uuid.uuid4()}"


# [originals]
def originals(summary_id):
    """All messages that a summary stands for, as they were appended, oldest first: down through the summaries that it took up."""
    page = ""
    while True:
        reply = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
            conversation_id=conversation,
            summary_id=summary_id,
            page_token=page,
        ))
        for child in reply.children:
            if child.HasField("message"):
                yield child.message
            else:
                yield from originals(child.summary_id)
        page = reply.next_page_token
        if not page:
            return
# [/originals]


# [rewind]
def ask_instead(question, text):
    """Edit and resend: takes back the message with the index question, and all that came after it, and asks anew."""
    rewound = sidecar.context.RewindConversation(api.RewindConversationRequest(
        conversation_id=conversation,
        from_index=question,
        request_id=str(uuid.uuid4()),
    ))
    return rewound, sidecar.append(conversation, user(text))


def take_back_answer(answer):
    """Regenerate: takes back the assistant's message with the index answer; what the model should see is what it saw before it."""
    sidecar.context.RewindConversation(api.RewindConversationRequest(conversation_id=conversation, from_index=answer))
    return sidecar.build(conversation, same_turn=True)
# [/rewind]


def text_of(message):
    return "".join(part.text or part.tool_result.text for part in message.parts)


def source(module):
    """A module as long as real ones are."""
    notes = [f"# Note {n}: fees are rounded up to the next cent, and are never below zero; see what the auditors wrote." for n in range(32)]
    return "\n".join([*notes, f"def {module}_fee(order):", "    return order.fees[order.currency]"])


def step(n):
    """The agent reads a module, and has its tests run. Returns the index of what it read, and the context that the model sees next."""
    sidecar.append(conversation, call(f"r{n}", "read_file", path=f"shop/{modules[n]}.py"))
    read = sidecar.append(conversation, result(f"r{n}", "read_file", source(modules[n])))
    sidecar.append(conversation, call(f"t{n}", "run_tests", path=f"tests/test_{modules[n]}.py"))
    sidecar.append(conversation, result(f"t{n}", "run_tests", f"FAILED tests/test_{modules[n]}.py - KeyError: 'currency' (run {4170 + n})"))
    return read, *sidecar.build(conversation)


def in_view(index):
    message = sidecar.record.GetMessage(record.GetMessageRequest(conversation_id=conversation, message_index=index)).message
    return message.view


print("an agent with room for 6,000 tokens reads modules, one after the other")
# [budget]
sidecar.create(conversation, policy.Policy(fit=policy.FitPolicy(max_context_tokens=6000)))
# [/budget]
modules = ["orders", "refunds", "invoices", "shipping", "taxes", "baskets", "vouchers", "stock", "prices"]
sidecar.append(conversation, message_pb2.Message(role=message_pb2.ROLE_SYSTEM, parts=[message_pb2.Part(text="You fix bugs.")]))
rule = "You must never change the database schema."
task = sidecar.append(conversation, user(f"The tests of the shop fail since order ORD-20931. {rule}"))
read, largest, made = [], 0, []
while not made:
    at, built, shown = step(len(read))
    read.append(at)
    largest = max(largest, built.tokens.total)
    made = [e for e in built.events if e.type == events.EVENT_TYPE_SUMMARIZED]
check(largest <= 6000, f"after {len(read)} modules; no context was over its budget: the largest had {largest} tokens")

print(f"turn {built.turn}: the view outgrew its budget")
summary = made[0].summary_id
words = next(m["content"] for m in shown if f'expand_message("{summary}")' in (m["content"] or ""))
check(built.tokens.total <= 3300, f"a summary took the place of messages {made[0].message_index}-{made[0].end_index - 1}: {built.tokens.total} tokens are left")
check(built.prefix.broken_by == context.PREFIX_BREAK_SUMMARIZED, "the prefix report says why the provider reads anew")
check(rule in words, f"it says: {rule}")
check("shop/orders.py" in words and "tests/test_orders.py" in words, "it names the files")
check(shown[0]["content"] == "You fix bugs.", "the system's message stands where it stood, in full")
check((shown[1]["content"] or "").endswith(rule), "so does what the user said, before the summary")
if "--show" in sys.argv:
    print(words)

print("nothing is lost")
messages = list(originals(summary))
check([m.index for m in messages] == list(range(made[0].message_index, made[0].end_index)), f"{summary} expands to {len(messages)} messages")
check(all(text_of(m) == source(modules[read.index(m.index)]) for m in messages if m.index in read), "what was read is there, byte for byte")
sidecar.context.ExpandMessage(api.ExpandMessageRequest(conversation_id=conversation, message_index=read[0]))
built, shown = sidecar.build(conversation)
check(any(m["content"] == source("orders") for m in shown), "the first of them is put back into view, beside the summary")
check(built.compaction.summary_id == summary and built.tokens.total <= 6000, f"the summary stands: {built.tokens.total} tokens")

print("the user edits a question")
sidecar.append(conversation, assistant("The fees know no currency. Shall I go on?"))
question = sidecar.append(conversation, user("Yes, with the stock of shoes."))
before, _ = sidecar.build(conversation)
answer = sidecar.append(conversation, assistant("There is no module for shoes."))
rewound, question = ask_instead(question, "Yes, with the stock.")
check((rewound.start_index, rewound.end_index) == (answer - 1, answer + 1), f"messages {answer - 1} and {answer} are taken back")
check(not rewound.dissolved_summaries, "the summary does not speak of them, and stands")
built, shown = sidecar.build(conversation)
check(shown[-1]["content"] == "Yes, with the stock." and "shoes" not in str(shown), "the model sees the new question, and nothing of the old one")
check(in_view(answer).hidden, "on record both stay")
check(built.prefix.stable_blocks == before.rendered.blocks - 1, "the provider's cache holds all but the last message")

print("the user wants another answer")
answer = sidecar.append(conversation, assistant("I do not know."))
again, _ = take_back_answer(answer)
check(again.rendered.messages_json == built.rendered.messages_json, "the model sees what it saw before, byte for byte")
sidecar.append(conversation, assistant("I go on with the stock."))

print("the user goes back to the beginning")
rewound, question = ask_instead(read[1] - 1, "Start again with prices.")
check(list(rewound.dissolved_summaries) == [summary], "the summary spoke of what is taken back: it stands no longer")
built, shown = sidecar.build(conversation)
check(not built.compaction.summary_id and "refunds" not in str(shown), "and nothing of what was taken back lives on in it")
check(any(m["content"] == source("orders") for m in shown), "what it stood for and was not taken back is shown again")
