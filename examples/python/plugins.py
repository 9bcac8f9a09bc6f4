"""Plugins add the time, a memory and a hint to what the user says. Each is shown for as long as it is of use.

    plugins.py [ADDRESS]      127.0.0.1:7171 by default
"""

import sys
import uuid

from agent import Sidecar, assistant, check, user
from palimpsest_context.v1 import context_service_pb2 as api
from palimpsest_context.v1 import event_pb2 as events
from palimpsest_context.v1 import message_pb2
from palimpsest_context.v1 import retention_pb2 as retention

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"plugins-{uuid.uuid4()}"


def text(words):
    return [message_pb2.Part(text=words)]


# [additions]
def additions(n):
    return [
        # For the model's next answer alone.
        retention.AdditionalContent(plugin="clock", parts=text(f"It is 12:0{n}."), display_on_current_message=True, never=retention.Never()),
        # From the next answer on, while fewer than two newer messages carry something like it.
        retention.AdditionalContent(plugin="memory", header="What is known of the user:", parts=text(f"Fact {n}."),
                                    display_on_current_message=True, keep_last=2),
        # Not for the next answer, but for ever after.
        retention.AdditionalContent(plugin="journal", parts=text(f"Entry {n}."), always=retention.Always()),
    ]


def say(n):
    """Appends what the user says, and returns the two variants of it."""
    reply = sidecar.context.AppendMessage(api.AppendMessageRequest(
        conversation_id=conversation,
        message=user(f"Question {n}?"),
        additional_content=additions(n),
        return_variants=True,
    ))
    return reply.display_message, reply.persistent_message
# [/additions]


def blocks(message):
    return [part.text for part in message.parts if part.text != "\n\n"]


def shown(built, index):
    return next((blocks(m) for m in built.messages if m.origin.message_index == index), [])


def build():
    return sidecar.context.BuildContext(api.BuildContextRequest(conversation_id=conversation))


print("the first question")
display, persistent = say(1)
first = display.index
check(blocks(display) == ["Question 1?", "It is 12:01.", "What is known of the user:", "Fact 1."], f"the display variant: {blocks(display)}")
check(blocks(persistent) == ["Question 1?", "What is known of the user:", "Fact 1.", "Entry 1."], f"the persistent variant: {blocks(persistent)}")
built = build()
check(shown(built, first) == blocks(display), "turn 1 shows the display variant")
sidecar.append(conversation, assistant("Answer 1."))

print("the second question")
second = say(2)[0].index
built = build()
check(shown(built, first) == blocks(persistent), "turn 2 shows the persistent variant of the first")
check([(e.type, e.message_index) for e in built.events] == [(events.EVENT_TYPE_RETENTION_APPLIED, first)], "an event says so")
check("It is 12:02." in shown(built, second), "and the display variant of the second")
sidecar.append(conversation, assistant("Answer 2."))

print("the third question")
third = say(3)[0].index
built = build()
check(shown(built, first) == ["Question 1?", "Entry 1."], "turn 3: two newer messages carry additions, so fact 1 and its header have gone")
check(shown(built, second) == ["Question 2?", "What is known of the user:", "Fact 2.", "Entry 2."], "fact 2 is still there")

print("on record, everything is kept")
whole = sidecar.context.ExpandMessage(api.ExpandMessageRequest(
    conversation_id=conversation, message_index=first, mode=api.EXPAND_MODE_RETURN_ONLY)).message
check([p.text for p in whole.parts if p.plugin == "clock"] == ["It is 12:01.", "\n\n"], "the time too")
