"""Agents of Microsoft's Agent Framework on Palimpsest, with its own client for OpenAI."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import toy
from agent_framework import Agent, AgentSession, ChatMiddleware, ChatResponse, Content, ContextProvider, FileHistoryProvider, Message
from agent_framework.exceptions import ChatClientException
from agent_framework.openai import OpenAIChatCompletionClient
from openai import APIConnectionError, AsyncOpenAI
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.agent_framework import PalimpsestProvider


@asynccontextmanager
async def agent(palimpsest: Palimpsest, model: str = "fake", history: Any = (), behind: Any = (), **options: Any) -> AsyncIterator[Agent]:
    async with AsyncOpenAI(base_url=toy.base_url(), api_key="none", max_retries=0) as openai:
        client = OpenAIChatCompletionClient(model=model, async_client=openai)
        provider = PalimpsestProvider(palimpsest, policy=toy.POLICY, **options)
        yield Agent(client=client, instructions=toy.SYSTEM, tools=toy.TOOLS, context_providers=[*history, provider, *behind])


async def whole(ops: Agent, said: Any, session: AgentSession) -> str:
    return (await ops.run(said, session=session)).text


async def streamed(ops: Agent, said: Any, session: AgentSession) -> str:
    stream = ops.run(said, session=session, stream=True)
    updates = [update async for update in stream]
    assert len(updates) > 15
    return (await stream.get_final_response()).text


def kept(session: AgentSession) -> list[Message]:
    return session.state["in_memory"]["messages"]


async def both(palimpsest: Palimpsest, session: AgentSession, play: Any = whole) -> str:
    async with agent(palimpsest) as ops:
        await play(ops, toy.QUESTION, session)
        return await play(ops, toy.AGAIN, session)


@pytest.mark.parametrize("play", [whole, streamed])
def test_toy_session_stays_whole(palimpsest: Palimpsest, name: str, play: Any) -> None:
    session = AgentSession(session_id=name)
    assert asyncio.run(both(palimpsest, session, play)).count(toy.FATAL) == 2
    toy.played()
    assert toy.fetch_log("billing") in [content.result for message in kept(session) for content in message.contents]
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, name) < toy.MOST_TOKENS


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    async def play() -> None:
        session = AgentSession(session_id=name)
        await both(palimpsest, session)
        kept(session).pop()
        async with agent(palimpsest) as ops:
            await whole(ops, None, session)

    asyncio.run(play())
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


async def edited(palimpsest: Palimpsest, name: str, **options: Any) -> None:
    session = AgentSession(session_id=name)
    await both(palimpsest, session)
    while kept(session).pop().text != toy.AGAIN:
        pass
    async with agent(palimpsest, **options) as ops:
        await whole(ops, "Thank you.", session)


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    asyncio.run(edited(palimpsest, name))
    assert toy.record(palimpsest, name) == [*toy.FOUND, "user", "assistant"]


def test_edit_is_refused_where_that_is_asked_for(palimpsest: Palimpsest, name: str) -> None:
    with pytest.raises(HistoryDivergedError):
        asyncio.run(edited(palimpsest, name, differs="refuse"))
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


async def answered(palimpsest: Palimpsest, name: str, said: Any, folder: Path) -> None:
    async with agent(palimpsest, history=[FileHistoryProvider(folder)]) as ops:
        await whole(ops, said, AgentSession(session_id=name))


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    """The framework keeps a run when it is over: the question is asked again."""
    toy.killed(__file__, str(tmp_path), name)
    assert toy.record(palimpsest, name) == toy.FOUND[:7]
    asyncio.run(answered(palimpsest, name, toy.QUESTION, tmp_path))
    asyncio.run(answered(palimpsest, name, toy.AGAIN, tmp_path))
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED
    assert toy.stats()["refused"] == 0


def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str) -> None:
    session = AgentSession(session_id=name)

    async def play() -> None:
        async with agent(palimpsest, "fake-abort") as ops:
            with pytest.raises(ChatClientException):
                await streamed(ops, toy.QUESTION, session)
        assert toy.record(palimpsest, name) == ["user"]
        async with agent(palimpsest) as ops:
            await whole(ops, toy.QUESTION, session)

    asyncio.run(play())
    assert toy.record(palimpsest, name) == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_view_keeps_what_chat_has_no_place_for(palimpsest: Palimpsest, name: str) -> None:
    seen: list[Message] = []
    reasoned = Content.from_text_reasoning(text="Hm.", protected_data=json.dumps([{"type": "reasoning.encrypted", "data": "x"}]))
    call = Content.from_function_call("of-the-provider", "fetch_log", arguments={"service": "billing"})
    history = [
        Message("user", ["Read it.", Content.from_data(b"%PDF", media_type="application/pdf")]),
        Message("assistant", [reasoned, call]),
        Message("tool", [Content.from_function_result("of-the-provider", result=toy.fetch_log("billing"))]),
    ]

    class Spy(ChatMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            seen.extend(context.messages)
            context.result = ChatResponse(messages=Message("assistant", ["I did."]))

    class Behind(ContextProvider):
        async def before_run(self, *, context: Any, **others: Any) -> None:
            context.extend_middleware(self.source_id, Spy())

    async def play() -> None:
        async with agent(palimpsest, behind=[Behind("spy")]) as ops:
            await ops.run(history, session=AgentSession(session_id=name))

    asyncio.run(play())
    assert [message.contents for message in seen[:2]] == [message.contents for message in history[:2]]
    shown = seen[2].contents[0]
    assert shown.call_id == "of-the-provider" and len(shown.result) < 3000


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run_example("agent_framework", tmp_path, monkeypatch, fetch_log=toy.fetch_log)


if __name__ == "__main__":
    state, conversation = sys.argv[1:]
    with toy.client() as client:
        asyncio.run(answered(client, conversation, toy.QUESTION, Path(state)))
