"""An agent over OpenAI's Chat Completions.

    openai_agent.py FOLDER WORDS...      the conversation is kept in the folder
"""

# [agent]
import os
import sys

from openai import OpenAI

from palimpsest_context import Palimpsest
from tools import OPENAI, CITE, TOOLS

llm, model = OpenAI(), os.environ.get("MODEL", "gpt-5.1")
with Palimpsest.local(data_dir=sys.argv[1]) as palimpsest:
    conversation = palimpsest.conversation("agent", policy=CITE)
    conversation.answer(conversation.waiting(), TOOLS)  # what an agent that was killed had begun
    for words in sys.argv[2:]:
        conversation.user(words)
        while True:
            request = conversation.openai(model=model, system="You are terse.", tools=OPENAI)
            reply = llm.chat.completions.create(**request)
            calls = conversation.add(reply)
            if not calls:
                break
            conversation.answer(calls, TOOLS)
        print(reply.choices[0].message.content)
# [/agent]
