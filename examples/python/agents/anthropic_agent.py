"""An agent over Anthropic's Messages.

    anthropic_agent.py FOLDER WORDS...      the conversation is kept in the folder
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
            reply = llm.messages.create(**request)
            calls = conversation.add(reply)
            if not calls:
                break
            conversation.answer(calls, TOOLS)
        print("".join(block.text for block in reply.content if block.type == "text"))
