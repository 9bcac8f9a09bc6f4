"""An agent over Gemini.

    gemini_agent.py FOLDER WORDS...      the conversation is kept in the folder
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
            reply = llm.models.generate_content(**request)
            calls = conversation.add(reply)
            if not calls:
                break
            conversation.answer(calls, TOOLS)
        print(reply.text)
