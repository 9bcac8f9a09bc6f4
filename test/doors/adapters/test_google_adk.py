"""Agents of Google's Agent Development Kit on Palimpsest, with its own model class for Gemini."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import toy
from google import genai
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.google_adk import PalimpsestPlugin

OF = {"app_name": "toy", "user_id": "u"}


def runner(palimpsest: Palimpsest, sessions: BaseSessionService, model: str = "fake", **options: Any) -> Runner:
    plugin = PalimpsestPlugin(palimpsest, policy=toy.POLICY, **options)
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=toy.base_url().removesuffix("/v1")))
    ops = LlmAgent(name="ops", model=Gemini(model=model, client=client), instruction=toy.SYSTEM, tools=[*toy.TOOLS, *plugin.tools])
    app = App(name="toy", root_agent=ops, plugins=[plugin], resumability_config=ResumabilityConfig(is_resumable=True))
    return Runner(app=app, session_service=sessions, auto_create_session=True)


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


async def whole(ops: Runner, text: str, name: str, mode: StreamingMode = StreamingMode.NONE) -> list[Any]:
    config = RunConfig(streaming_mode=mode)
    events = [event async for event in ops.run_async(user_id="u", session_id=name, new_message=said(text), run_config=config)]
    return [event for event in events if event.content]


async def streamed(ops: Runner, text: str, name: str) -> list[Any]:
    events = await whole(ops, text, name, StreamingMode.SSE)
    assert any(event.partial for event in events)
    return events


async def both(ops: Runner, name: str, play: Any = whole) -> list[Any]:
    await play(ops, toy.QUESTION, name)
    return await play(ops, toy.AGAIN, name)


def conversation(name: str) -> str:
    return f"toy/u/{name}/ops"


@pytest.mark.parametrize("play", [whole, streamed])
def test_toy_session_stays_whole(palimpsest: Palimpsest, name: str, play: Any) -> None:
    sessions = InMemorySessionService()
    events = asyncio.run(both(runner(palimpsest, sessions), name, play))
    assert events[-1].content.parts[-1].text.count(toy.FATAL) == 2
    toy.played()
    session = asyncio.run(sessions.get_session(**OF, session_id=name))
    assert toy.fetch_log("billing") in [answer.response["result"] for event in session.events for answer in event.get_function_responses()]
    assert toy.record(palimpsest, conversation(name)) == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, conversation(name)) < toy.MOST_TOKENS


async def edited(palimpsest: Palimpsest, name: str, text: str, **options: Any) -> None:
    ops = runner(palimpsest, InMemorySessionService(), **options)
    events = await both(ops, name)
    await ops.rewind_async(user_id="u", session_id=name, rewind_before_invocation_id=events[-1].invocation_id)
    await whole(ops, text, name)


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    asyncio.run(edited(palimpsest, name, toy.AGAIN))
    assert toy.record(palimpsest, conversation(name)) == toy.FOUND + toy.REPEATED


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    asyncio.run(edited(palimpsest, name, "Thank you."))
    assert toy.record(palimpsest, conversation(name)) == [*toy.FOUND, "user", "assistant"]


def test_edit_is_refused_on_demand(palimpsest: Palimpsest, name: str) -> None:
    with pytest.raises(RuntimeError) as refused:
        asyncio.run(edited(palimpsest, name, "Thank you.", differs="refuse"))
    assert isinstance(refused.value.__cause__, HistoryDivergedError)
    assert toy.record(palimpsest, conversation(name)) == toy.FOUND + toy.REPEATED


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    database = str(tmp_path / "state.db")
    toy.killed(__file__, database, name)

    async def play() -> None:
        sessions = SqliteSessionService(database)
        left = await sessions.get_session(**OF, session_id=name)
        ops = runner(palimpsest, sessions)
        async for _ in ops.run_async(user_id="u", session_id=name, invocation_id=left.events[-1].invocation_id):
            pass
        await whole(ops, toy.AGAIN, name)

    asyncio.run(play())
    toy.played()
    assert toy.record(palimpsest, conversation(name)) == toy.FOUND + toy.REPEATED


def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str) -> None:
    async def play() -> None:
        sessions = InMemorySessionService()
        with pytest.raises(httpx.RemoteProtocolError):
            await streamed(runner(palimpsest, sessions, "fake-abort"), toy.QUESTION, name)
        assert toy.record(palimpsest, conversation(name)) == ["user"]
        session = await sessions.get_session(**OF, session_id=name)
        ops = runner(palimpsest, sessions)
        await ops.rewind_async(user_id="u", session_id=name, rewind_before_invocation_id=session.events[0].invocation_id)
        await whole(ops, toy.QUESTION, name)

    asyncio.run(play())
    assert toy.record(palimpsest, conversation(name)) == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", toy.base_url().removesuffix("/v1"))
    monkeypatch.setenv("GOOGLE_API_KEY", "none")
    toy.run_example("google_adk", tmp_path, monkeypatch, fetch_log=toy.fetch_log)


if __name__ == "__main__":
    state, agent = sys.argv[1:]
    with toy.client() as client:
        asyncio.run(whole(runner(client, SqliteSessionService(state)), toy.QUESTION, agent))
