"""pydantic-ai's agents on Palimpsest, with its own model class."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import toy
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.pydantic_ai import PalimpsestCapability
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent(palimpsest: Palimpsest, model: str = "fake", **options: Any) -> Agent:
    provider = OpenAIProvider(base_url=toy.base_url(), api_key="none")
    capability = PalimpsestCapability(palimpsest, policy=toy.POLICY, **options)
    return Agent(OpenAIChatModel(model, provider=provider), name="ops", instructions=toy.SYSTEM, tools=toy.TOOLS, capabilities=[capability])


async def whole(ops: Agent, said: Any, history: Any, name: str) -> list[ModelMessage]:
    return (await ops.run(said, message_history=history, conversation_id=name)).all_messages()


async def streamed(ops: Agent, said: Any, history: Any, name: str) -> list[ModelMessage]:
    async with ops.run_stream_events(said, message_history=history, conversation_id=name) as stream:
        events = [event async for event in stream]
    assert len(events) > 15
    return events[-1].result.all_messages()


async def both(ops: Agent, name: str, play: Any = whole) -> list[ModelMessage]:
    return await play(ops, toy.AGAIN, await play(ops, toy.QUESTION, None, name), name)


@pytest.mark.parametrize("play", [whole, streamed])
def test_toy_history_stays_whole(palimpsest: Palimpsest, name: str, play: Any) -> None:
    history = asyncio.run(both(agent(palimpsest), name, play))
    toy.played()
    assert history[-1].text.count(toy.FATAL) == 2
    assert toy.fetch_log("billing") in [part.content for message in history for part in message.parts if isinstance(part, ToolReturnPart)]
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, f"{name}/ops") < toy.MOST_TOKENS


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    async def play() -> None:
        ops = agent(palimpsest)
        await whole(ops, None, (await both(ops, name))[:-1], name)

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED


async def edited(ops: Agent, name: str) -> None:
    found = await whole(ops, toy.QUESTION, None, name)
    await whole(ops, toy.AGAIN, found, name)
    await whole(ops, "Thank you.", found, name)


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    asyncio.run(edited(agent(palimpsest), name))
    assert toy.record(palimpsest, f"{name}/ops") == [*toy.FOUND, "user", "assistant"]


def test_edit_is_refused_where_that_is_asked_for(palimpsest: Palimpsest, name: str) -> None:
    with pytest.raises(HistoryDivergedError):
        asyncio.run(edited(agent(palimpsest, differs="refuse"), name))
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED


async def saved(ops: Agent, name: str, file: Path) -> None:
    async with ops.iter(toy.QUESTION, conversation_id=name) as run:
        async for _ in run:
            file.write_bytes(ModelMessagesTypeAdapter.dump_json(run.all_messages()))


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    toy.killed(__file__, str(tmp_path / "state.json"), name)

    async def play() -> None:
        history = ModelMessagesTypeAdapter.validate_json((tmp_path / "state.json").read_bytes())
        found = await whole(agent(palimpsest), None, history, name)
        await whole(agent(palimpsest), toy.AGAIN, found, name)

    asyncio.run(play())
    toy.played()
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED


def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str) -> None:
    async def play() -> None:
        with pytest.raises(ModelAPIError):
            await streamed(agent(palimpsest, "fake-abort"), toy.QUESTION, None, name)
        assert toy.record(palimpsest, f"{name}/ops") == ["user"]
        await whole(agent(palimpsest), toy.QUESTION, None, name)

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_view_keeps_what_chat_has_no_place_for(palimpsest: Palimpsest, name: str) -> None:
    seen: list[ModelMessage] = []
    history = [
        ModelRequest([UserPromptPart(["Read it.", BinaryContent(b"%PDF", media_type="application/pdf")])]),
        ModelResponse([ThinkingPart("Hm.", signature="s", provider_name="p"), ToolCallPart("fetch_log", {"service": "billing"}, "of-the-provider")]),
        ModelRequest([ToolReturnPart("fetch_log", toy.fetch_log("billing"), "of-the-provider")]),
    ]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(messages)
        return ModelResponse([TextPart("I did.")])

    capability = PalimpsestCapability(palimpsest, policy=toy.POLICY)
    ops = Agent(FunctionModel(model), instructions=toy.SYSTEM, tools=toy.TOOLS, capabilities=[capability])
    asyncio.run(whole(ops, None, history, name))
    assert [seen[0].parts, seen[1]] == [history[0].parts, history[1]]
    shown = seen[2].parts[0]
    assert (shown.tool_name, shown.tool_call_id) == ("fetch_log", "of-the-provider") and len(shown.content) < 3000


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run_example("pydantic_ai", tmp_path, monkeypatch, fetch_log=toy.fetch_log)


if __name__ == "__main__":
    state, conversation = sys.argv[1:]
    with toy.client() as client:
        asyncio.run(saved(agent(client), conversation, Path(state)))
