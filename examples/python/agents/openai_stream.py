"""An agent over OpenAI's Chat Completions that prints while the model speaks.

    openai_stream.py FOLDER WORDS...      the conversation is kept in the folder
"""

import os
import sys

from openai import OpenAI

from palimpsest_context import Palimpsest
from tools import OPENAI, CITE, TOOLS

llm, model = OpenAI(), os.environ.get("MODEL", "gpt-5.1")
with Palimpsest.local(data_dir=sys.argv[1]) as palimpsest:
    conversation = palimpsest.conversation("agent", policy=CITE)
    conversation.answer(conversation.waiting(), TOOLS)
    for words in sys.argv[2:]:
        conversation.user(words)
        while True:
            request = conversation.openai(model=model, system="You are terse.", tools=OPENAI, stream=True)
            with conversation.stream(llm.chat.completions.create(**request)) as events:
                for event in events:
                    print(event.choices[0].delta.content or "" if event.choices else "", end="")
            if not events.calls:
                break
            conversation.answer(events.calls, TOOLS)
