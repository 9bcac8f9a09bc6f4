"""An agent over Anthropic's Messages that prints while the model speaks.

    anthropic_stream.py FOLDER WORDS...      the conversation is kept in the folder
"""

import os
import sys

from anthropic import Anthropic

from palimpsest_context import Palimpsest
from tools import ANTHROPIC, CITE, TOOLS

llm, model = Anthropic(), os.environ.get("MODEL", "claude-opus-4-8")
with Palimpsest.local(data_dir=sys.argv[1]) as palimpsest:
    conversation = palimpsest.conversation("agent", policy=CITE)
    conversation.answer(conversation.waiting(), TOOLS)
    for words in sys.argv[2:]:
        conversation.user(words)
        while True:
            request = conversation.anthropic(model=model, system="You are terse.", tools=ANTHROPIC, max_tokens=4096)
            with llm.messages.stream(**request) as reply, conversation.stream(reply) as events:
                for event in events:
                    print(event.text if event.type == "text" else "", end="")
            if not events.calls:
                break
            conversation.answer(events.calls, TOOLS)
