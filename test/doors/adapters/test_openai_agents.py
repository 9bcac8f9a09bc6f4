"""Agents of OpenAI's SDK on Palimpsest, with the SDK's own model classes for both of OpenAI's APIs."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import toy
from agents import Agent, Model, ModelResponse, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession
from agents import Usage, function_tool, set_tracing_disabled
from agents.tool_context import ToolContext
from openai import APIConnectionError, AsyncOpenAI
from openai.types.responses import ResponseFunctionToolCall
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.openai_agents import PalimpsestRun

set_tracing_disabled(True)


@asynccontextmanager
async def agent(run: PalimpsestRun, kind: Any = OpenAIResponsesModel, model: str = "fake") -> AsyncIterator[Any]:
    tools = [*map(function_tool, toy.TOOLS), *run.tools]
    settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"] if kind is OpenAIResponsesModel else None)
    async with AsyncOpenAI(base_url=toy.base_url(), api_key="none", max_retries=0) as client:
        yield Agent("ops", instructions=toy.SYSTEM, tools=tools, model=kind(model, client), model_settings=settings)


def of(palimpsest: Palimpsest, name: str, **options: Any) -> PalimpsestRun:
    return PalimpsestRun(palimpsest, name, policy=toy.POLICY, **options)


async def whole(run: PalimpsestRun, said: Any, session: Any, **model: Any) -> str:
    async with agent(run, **model) as ops:
        result = await Runner.run(ops, said, session=session, hooks=run, run_config=run.config())
    return str(result.final_output)


async def streamed(run: PalimpsestRun, said: Any, session: Any, **model: Any) -> str:
    async with agent(run, **model) as ops:
        result = Runner.run_streamed(ops, said, session=session, hooks=run, run_config=run.config())
        events = [event async for event in result.stream_events()]
    assert len(events) > 20
    return str(result.final_output)


async def both(play: Any, run: PalimpsestRun, session: Any, **model: Any) -> str:
    await play(run, toy.QUESTION, session, **model)
    return str(await play(run, toy.AGAIN, session, **model))


@pytest.mark.parametrize("play", [whole, streamed])
@pytest.mark.parametrize("kind", [OpenAIChatCompletionsModel, OpenAIResponsesModel])
def test_toy_state_stays_whole(palimpsest: Palimpsest, name: str, play: Any, kind: Any) -> None:
    session = SQLiteSession(name)
    assert asyncio.run(both(play, of(palimpsest, name), session, kind=kind)).count(toy.FATAL) == 2
    toy.played()
    assert len(json.dumps(asyncio.run(session.get_items()))) > 1_000_000
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, f"{name}/ops") < toy.MOST_TOKENS


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    async def play() -> None:
        run, session = of(palimpsest, name), SQLiteSession(name)
        await both(whole, run, session)
        await session.pop_item()
        await whole(run, [], session)

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED


async def edited(run: PalimpsestRun, session: Any) -> None:
    await both(whole, run, session)
    while (await session.pop_item()).get("content") != toy.AGAIN:
        pass
    await whole(run, "Thank you.", session)


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    asyncio.run(edited(of(palimpsest, name), SQLiteSession(name)))
    assert toy.record(palimpsest, f"{name}/ops") == [*toy.FOUND, "user", "assistant"]


def test_edit_is_refused_where_that_is_asked_for(palimpsest: Palimpsest, name: str) -> None:
    with pytest.raises(HistoryDivergedError):
        asyncio.run(edited(of(palimpsest, name, differs="refuse"), SQLiteSession(name)))
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    database = str(tmp_path / "state.db")
    toy.killed(__file__, database, name)
    session = SQLiteSession(name, database)

    async def play() -> None:
        await whole(of(palimpsest, name), [], session)
        await whole(of(palimpsest, name), toy.AGAIN, session)

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND + toy.REPEATED
    assert toy.stats()["refused"] == 0


@pytest.mark.parametrize("kind", [OpenAIChatCompletionsModel, OpenAIResponsesModel])
def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str, kind: Any) -> None:
    async def play() -> None:
        run, session = of(palimpsest, name), SQLiteSession(name)
        with pytest.raises(APIConnectionError):
            await streamed(run, toy.QUESTION, session, kind=kind, model="fake-abort")
        assert toy.record(palimpsest, f"{name}/ops") == ["user"]
        await whole(run, [], session, kind=kind)

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_agent_as_a_tool_has_its_own_list(palimpsest: Palimpsest, name: str) -> None:
    run = of(palimpsest, name)

    @function_tool
    async def web_search(context: ToolContext[Any], q: str) -> str:
        """Asks another agent, as `Agent.as_tool` does."""
        async with agent(run) as other:
            asked = other.clone(name="searcher", tools=[])
            return str((await Runner.run(asked, q, run_config=context.run_config)).final_output)

    async def play() -> None:
        async with agent(run) as ops:
            ops.tools = [web_search, *(tool for tool in ops.tools if tool.name != "web_search")]
            await Runner.run(ops, toy.QUESTION, hooks=run, run_config=run.config())

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == toy.FOUND
    assert (toy.stats()["requests"], toy.stats()["refused"]) == (6, 0)


class Triage(Model):
    """Hands everything over."""

    async def get_response(self, *arguments: Any, **more: Any) -> ModelResponse:
        call = ResponseFunctionToolCall(call_id="call_t", name="transfer_to_ops", arguments="{}", type="function_call")
        return ModelResponse([call], Usage(), None)

    def stream_response(self, *arguments: Any, **more: Any) -> Any:
        raise NotImplementedError


def test_handoff_goes_on_with_the_whole_list(palimpsest: Palimpsest, name: str) -> None:
    run = of(palimpsest, name)

    async def play() -> None:
        async with agent(run) as ops:
            # The fakes refuse calls of tools that are not offered, which a handoff leaves in every run.
            ops.tools.append(function_tool(toy.get_weather, name_override="transfer_to_ops"))
            await Runner.run(Agent("triage", model=Triage(), handoffs=[ops]), toy.QUESTION, hooks=run, run_config=run.config())

    asyncio.run(play())
    assert toy.record(palimpsest, f"{name}/ops") == ["user", "call transfer_to_ops", "result", *toy.FOUND[1:]]
    assert toy.record(palimpsest, f"{name}/triage") == ["user", "call transfer_to_ops"]
    assert toy.stats()["refused"] == 0


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run_example("openai_agents", tmp_path, monkeypatch, fetch_log=function_tool(toy.fetch_log))


if __name__ == "__main__":
    state, conversation = sys.argv[1:]
    with toy.client() as client:
        asyncio.run(whole(of(client, conversation), toy.QUESTION, SQLiteSession(conversation, state)))
