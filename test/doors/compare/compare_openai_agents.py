"""What docs/compare.md says of the OpenAI Agents SDK."""

import asyncio
from typing import Any, List

from agents import SQLiteSession


async def newest(limit: int) -> List[Any]:
    session = SQLiteSession("compared")
    items: List[Any] = [{"role": "user", "content": "Why does billing fail?"}]
    for step in range(6):
        ids = [f"{step}-{call}" for call in range(2)]
        items.extend({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"} for id in ids)
        items.extend({"type": "function_call_output", "call_id": id, "output": "found"} for id in ids)
    await session.add_items(items)
    return await session.get_items(limit=limit)


def test_a_limit_leaves_results_without_their_calls() -> None:
    orphans = 0
    for limit in range(3, 20):
        items = asyncio.run(newest(limit))
        called = {item["call_id"] for item in items if item.get("type") == "function_call"}
        orphans += any(item.get("type") == "function_call_output" and item["call_id"] not in called for item in items)
    assert orphans


def test_a_limit_loses_the_request() -> None:
    assert all(item.get("role") != "user" for item in asyncio.run(newest(20)))
