"""What docs/compare.md says of Strands."""

import json
from types import SimpleNamespace
from typing import Any, Dict, List

from strands.agent.conversation_manager import SlidingWindowConversationManager


def step(id: str, result: str) -> List[Dict[str, Any]]:
    use = {"toolUse": {"toolUseId": id, "name": "look", "input": {}}}
    answer = {"toolResult": {"toolUseId": id, "status": "success", "content": [{"text": result}]}}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]


def agent(*results: str) -> Any:
    said: List[Dict[str, Any]] = [{"role": "user", "content": [{"text": "Never delete anything. Why does billing fail?"}]}]
    for place, result in enumerate(results):
        said += step(str(place), result)
    return SimpleNamespace(messages=said)


def test_a_window_keeps_pairs_and_loses_the_request() -> None:
    it = agent(*["found"] * 30)
    SlidingWindowConversationManager(window_size=20).apply_management(it)
    assert len(it.messages) <= 20 and "toolUse" in it.messages[0]["content"][0]
    assert "Never delete anything" not in json.dumps(it.messages)


def test_a_window_keeps_a_large_result() -> None:
    it = agent("x " * 500_000)
    manager = SlidingWindowConversationManager(window_size=20)
    manager.apply_management(it)
    assert len(json.dumps(it.messages)) > 1_000_000
