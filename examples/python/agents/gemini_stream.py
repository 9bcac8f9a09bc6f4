"""An agent over Gemini that prints while the model speaks.

    gemini_stream.py FOLDER WORDS...      the conversation is kept in the folder
"""

import os
import sys

from google.genai import Client

from palimpsest_context import Palimpsest
from tools import GEMINI, CITE, TOOLS

llm, model = Client(), os.environ.get("MODEL", "gemini-3.1-pro")
with Palimpsest.local(data_dir=sys.argv[1]) as palimpsest:
    conversation = palimpsest.conversation("agent", policy=CITE)
    conversation.answer(conversation.waiting(), TOOLS)
    for words in sys.argv[2:]:
        conversation.user(words)
        while True:
            request = conversation.gemini(model=model, system="You are terse.", tools=GEMINI)
            with conversation.stream(llm.models.generate_content_stream(**request)) as events:
                for event in events:
                    print(event.text or "", end="")
            if not events.calls:
                break
            conversation.answer(events.calls, TOOLS)
