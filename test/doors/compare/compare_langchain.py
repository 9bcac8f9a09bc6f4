"""What docs/compare.md says of LangChain."""

from typing import Any, List

import pytest
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately


def turn(steps: int = 6) -> List[AnyMessage]:
    """One long turn: a request, and steps of two calls side by side."""
    said: List[AnyMessage] = [SystemMessage("You are terse."), HumanMessage("Never delete anything. Why does billing fail?")]
    for step in range(steps):
        ids = [f"{step}-{call}" for call in range(2)]
        said.append(AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": id} for id in ids]))
        said.extend(ToolMessage("word " * 300, tool_call_id=id) for id in ids)
    return said


def cut(said: List[AnyMessage], tokens: int, **how: Any) -> List[AnyMessage]:
    return trim_messages(said, max_tokens=tokens, token_counter=count_tokens_approximately, strategy="last", include_system=True, **how)


def orphans(said: List[AnyMessage]) -> int:
    """How many results answer no call."""
    called = {call["id"] for message in said if isinstance(message, AIMessage) for call in message.tool_calls}
    return sum(isinstance(message, ToolMessage) and message.tool_call_id not in called for message in said)


def test_trim_leaves_results_without_their_calls() -> None:
    assert any(orphans(cut(turn(), tokens)) for tokens in range(300, 4000, 100))


def test_trim_to_a_human_message_loses_the_turn() -> None:
    for tokens in range(300, 4000, 100):
        left = cut(turn(), tokens, start_on="human")
        assert orphans(left) == 0 and [type(message) for message in left] == [SystemMessage]


def test_trim_loses_all_to_a_large_result() -> None:
    large = [AIMessage("", tool_calls=[{"name": "log", "args": {}, "id": "log"}]), ToolMessage("x " * 500_000, tool_call_id="log")]
    assert [type(message) for message in cut(turn(1) + large, 100_000)] == [SystemMessage]


def test_a_summary_that_fails_ends_the_run() -> None:
    class Down(GenericFakeChatModel):
        def _generate(self, *args: Any, **options: Any) -> Any:
            raise ConnectionError("down")

    summarizer = SummarizationMiddleware(model=Down(messages=iter([])), trigger=("tokens", 1000), keep=("messages", 4))
    said = turn()
    for place, message in enumerate(said):
        message.id = str(place)
    with pytest.raises(ConnectionError):
        summarizer.before_model({"messages": said}, None)  # type: ignore[arg-type]
