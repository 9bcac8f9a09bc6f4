"""LangChain's agents on Palimpsest, with LangChain's own model class."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import toy
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import OpenAIConnectionError
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.langchain import PalimpsestMiddleware


def openai(model: str) -> Any:
    return ChatOpenAI(model=model, base_url=toy.base_url(), api_key="none", max_retries=0, stream_usage=True)


def anthropic(model: str) -> Any:
    """One that reasons, and wants its reasoning back beside its calls."""
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return ChatAnthropic(model=model, base_url=toy.base_url(""), api_key="none", max_retries=0, max_tokens=4000, thinking=thinking)


def agent(palimpsest: Palimpsest, checkpointer: Any, model: str = "fake", kind: Any = openai, **options: Any) -> Any:
    middleware = PalimpsestMiddleware(palimpsest, policy=toy.POLICY, **options)
    return create_agent(kind(model), list(toy.TOOLS), system_prompt=toy.SYSTEM, middleware=[middleware], checkpointer=checkpointer)


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def before_the_last_call(graph: Any, config: Any) -> Any:
    return next(state.config for state in graph.get_state_history(config) if state.next == ("model",))


def whole(graph: Any, config: Any) -> None:
    for text in (toy.QUESTION, toy.AGAIN):
        graph.invoke(said(text), config)


def streamed(graph: Any, config: Any) -> None:
    for text in (toy.QUESTION, toy.AGAIN):
        assert sum(1 for _ in graph.stream(said(text), config, stream_mode="messages")) > 15


def awaited(graph: Any, config: Any) -> None:
    async def both() -> None:
        for text in (toy.QUESTION, toy.AGAIN):
            await graph.ainvoke(said(text), config)

    asyncio.run(both())


@pytest.mark.parametrize(("kind", "run"), [(openai, whole), (openai, streamed), (openai, awaited), (anthropic, whole), (anthropic, streamed)])
def test_toy_state_stays_whole(palimpsest: Palimpsest, name: str, kind: Any, run: Any) -> None:
    graph = agent(palimpsest, InMemorySaver(), kind=kind)
    run(graph, thread(name))
    toy.played()
    messages = graph.get_state(thread(name)).values["messages"]
    assert messages[-1].text.count(toy.FATAL) == 2
    assert sum(len(message.text) for message in messages) > 1_000_000
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, name) < toy.MOST_TOKENS


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    graph = agent(palimpsest, InMemorySaver())
    whole(graph, thread(name))
    graph.invoke(None, before_the_last_call(graph, thread(name)))
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    graph = agent(palimpsest, InMemorySaver())
    whole(graph, thread(name))
    messages = graph.get_state(thread(name)).values["messages"]
    question = next(message for message in messages if message.text == toy.AGAIN)
    asked = next(s for s in graph.get_state_history(thread(name)) if s.values["messages"] and s.values["messages"][-1].id == question.id)
    edited = graph.update_state(asked.config, said_again(question.id))
    graph.invoke(None, edited)
    assert toy.record(palimpsest, name) == [*toy.FOUND, "user", "assistant"]


def said_again(id: str) -> Any:
    return {"messages": [HumanMessage("Thank you.", id=id)]}


def test_regenerate_is_refused_on_demand(palimpsest: Palimpsest, name: str) -> None:
    graph = agent(palimpsest, InMemorySaver(), differs="refuse")
    whole(graph, thread(name))
    with pytest.raises(HistoryDivergedError):
        graph.invoke(None, before_the_last_call(graph, thread(name)))
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    toy.killed(__file__, str(tmp_path / "state.db"), name)
    with SqliteSaver.from_conn_string(str(tmp_path / "state.db")) as saver:
        graph = agent(palimpsest, saver)
        graph.invoke(None, thread(name))
        graph.invoke(said(toy.AGAIN), thread(name))
    toy.played()
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str) -> None:
    saver = InMemorySaver()
    with pytest.raises(OpenAIConnectionError):
        list(agent(palimpsest, saver, model="fake-abort").stream(said(toy.QUESTION), thread(name), stream_mode="messages"))
    assert toy.record(palimpsest, name) == ["user"]
    agent(palimpsest, saver).invoke(None, thread(name))
    assert toy.record(palimpsest, name) == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_run_without_a_thread_is_refused(palimpsest: Palimpsest) -> None:
    with pytest.raises(ValueError, match="thread_id"):
        agent(palimpsest, None).invoke(said(toy.QUESTION))


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run_example("langchain", tmp_path, monkeypatch, fetch_log=toy.fetch_log)


if __name__ == "__main__":
    database, conversation = sys.argv[1:]
    with toy.client() as client, SqliteSaver.from_conn_string(database) as state:
        agent(client, state).invoke(said(toy.QUESTION), thread(conversation), durability="sync")
