"""Agents of Strands on Palimpsest, with Strands' own model class."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import toy
from httpx import RemoteProtocolError
from palimpsest_context import HistoryDivergedError, Palimpsest
from palimpsest_context.adapters.strands import PalimpsestPlugin
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
from strands.middleware import InvokeModelStage, ModelStopReason
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from strands.vended_plugins.context_injector import ContextInjector


def openai(model: str) -> Any:
    return OpenAIModel(client_args={"base_url": toy.base_url(), "api_key": "none", "max_retries": 0}, model_id=model)


def anthropic(model: str) -> Any:
    """One that reasons, and wants its reasoning back beside its calls."""
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    client = {"base_url": toy.base_url(""), "api_key": "none", "max_retries": 0}
    return AnthropicModel(client_args=client, model_id=model, max_tokens=4000, params=thinking)


def agent(palimpsest: Palimpsest, name: str, *, model: str = "fake", kind: Any = openai, **settings: Any) -> Agent:
    return Agent(
        model=kind(model),
        system_prompt=toy.SYSTEM,
        tools=[tool(function) for function in toy.TOOLS],
        callback_handler=None,
        **{
            "plugins": [PalimpsestPlugin(palimpsest, name, policy=toy.POLICY)],
            "conversation_manager": NullConversationManager(),
            **settings,
        },
    )


def played(palimpsest: Palimpsest, name: str, **settings: Any) -> Agent:
    ops = agent(palimpsest, name, **settings)
    ops(toy.QUESTION)
    ops(toy.AGAIN)
    return ops


def streamed(palimpsest: Palimpsest, name: str, **settings: Any) -> Agent:
    ops = agent(palimpsest, name, **settings)

    async def both() -> None:
        for said in (toy.QUESTION, toy.AGAIN):
            assert len([event async for event in ops.stream_async(said)]) > 20

    asyncio.run(both())
    return ops


def asked(ops: Agent) -> int:
    """Where the second question is."""
    return next(i for i, message in enumerate(ops.messages) if message["content"] == [{"text": toy.AGAIN}])


@pytest.mark.parametrize(("kind", "play"), [(openai, played), (openai, streamed), (anthropic, streamed)])
def test_toy_state_stays_whole(palimpsest: Palimpsest, name: str, kind: Any, play: Any) -> None:
    ops = play(palimpsest, name, kind=kind)
    toy.played()
    assert ops.messages[-1]["content"][-1]["text"].count(toy.FATAL) == 2
    assert len(json.dumps(ops.messages)) > 1_000_000
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED
    assert toy.tokens(palimpsest, name) < toy.MOST_TOKENS


def test_regenerate_takes_the_reply_back(palimpsest: Palimpsest, name: str) -> None:
    ops = played(palimpsest, name)
    del ops.messages[-1]
    ops()
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_edit_takes_back_what_followed(palimpsest: Palimpsest, name: str) -> None:
    ops = played(palimpsest, name)
    del ops.messages[asked(ops) :]
    ops("Thank you.")
    assert toy.record(palimpsest, name) == [*toy.FOUND, "user", "assistant"]


def test_edit_is_refused_on_demand(palimpsest: Palimpsest, name: str) -> None:
    ops = played(palimpsest, name, plugins=[PalimpsestPlugin(palimpsest, name, differs="refuse", policy=toy.POLICY)])
    del ops.messages[asked(ops) :]
    with pytest.raises(HistoryDivergedError):
        ops("Thank you.")
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_killed_between_reply_and_result_goes_on(palimpsest: Palimpsest, name: str, tmp_path: Path) -> None:
    toy.killed(__file__, str(tmp_path), name)
    ops = agent(palimpsest, name, session_manager=FileSessionManager(name, str(tmp_path)))
    ops()
    ops(toy.AGAIN)
    toy.played()
    assert toy.record(palimpsest, name) == toy.FOUND + toy.REPEATED


def test_aborted_stream_leaves_nothing_and_goes_on(palimpsest: Palimpsest, name: str) -> None:
    ops = agent(palimpsest, name, model="fake-abort")
    with pytest.raises(RemoteProtocolError):
        ops(toy.QUESTION)
    assert toy.record(palimpsest, name) == ["user"]
    ops.model.update_config(model_id="fake")
    ops()
    assert toy.record(palimpsest, name) == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_injected_blocks_are_shown_and_not_on_record(palimpsest: Palimpsest, name: str) -> None:
    injected = ContextInjector(lambda context: "The time is noon.", trigger="everyTurn")
    ops = agent(palimpsest, name, plugins=[PalimpsestPlugin(palimpsest, name, policy=toy.POLICY), injected])
    shown: list[Any] = []

    async def see(context: Any, model: Any) -> Any:
        shown.append(json.dumps(context.messages[-1]))
        async for event in model(context):
            yield event

    ops.add_middleware(InvokeModelStage, see)
    ops(toy.QUESTION)
    assert all("noon" in message for message in shown)
    assert "noon" not in json.dumps(ops.messages)
    assert toy.record(palimpsest, name) == toy.FOUND
    assert toy.stats()["refused"] == 0


def test_what_the_format_lacks_is_shown_as_it_was(palimpsest: Palimpsest, name: str) -> None:
    ops = agent(palimpsest, name)
    thought = {"reasoningContent": {"reasoningText": {"text": "A cat, I think.", "signature": "c2lnbmVk"}}}
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n"}}}
    document = {"document": {"format": "pdf", "name": "cats", "source": {"bytes": b"%PDF-1.4"}}}
    ops.messages += [
        {"role": "user", "content": [{"text": "What is it?"}, image, document]},
        {"role": "assistant", "content": [thought, {"toolUse": {"toolUseId": "tooluse_1", "name": "web_search", "input": {"q": "cat"}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "status": "success", "content": [{"text": "A cat."}]}}]},
        {"role": "assistant", "content": [thought, {"text": "A cat."}]},
    ]
    shown: list[Any] = []

    async def model(context: Any, _: Any) -> Any:
        shown.extend(context.messages)
        usage = {"inputTokens": 9, "outputTokens": 1, "totalTokens": 10}
        yield ModelStopReason("end_turn", {"role": "assistant", "content": [{"text": "Purr."}]}, usage, {"latencyMs": 1})

    ops.add_middleware(InvokeModelStage, model)
    ops("Thank you.")
    assert [message["content"] for message in shown] == [message["content"] for message in ops.messages[:5]]
    said = ["user", "user", "user", "call web_search", "result", "assistant", "user", "assistant"]
    assert toy.record(palimpsest, name) == said


def test_manager_that_edits_messages_is_refused(palimpsest: Palimpsest, name: str) -> None:
    with pytest.raises(ValueError, match="NullConversationManager"):
        agent(palimpsest, name, conversation_manager=SlidingWindowConversationManager())


def test_readme_example_runs(palimpsest: Palimpsest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run_example("strands", tmp_path, monkeypatch, fetch_log=tool(toy.fetch_log), model=openai("fake"))


if __name__ == "__main__":
    folder, conversation = sys.argv[1:]
    with toy.client() as client:
        agent(client, conversation, session_manager=FileSessionManager(conversation, folder))(toy.QUESTION)
