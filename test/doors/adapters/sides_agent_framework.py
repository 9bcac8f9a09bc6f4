"""Microsoft's Agent Framework with and without the adapter: what each provider gets."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

import pytest
from agent_framework import Agent, AgentSession, Content, Message, tool
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from agent_framework.orchestrations import HandoffBuilder, SequentialBuilder
from agent_framework_anthropic import AnthropicClient
from agent_framework_gemini import GeminiChatClient
from anthropic import AsyncAnthropic
from google import genai
from palimpsest_context.adapters.agent_framework import PalimpsestProvider
from pydantic import BaseModel
from side_by_side import IMAGE_SIZES, Body, Rows, Side, pdf, png

# Where Gemini's calls have no id, the framework makes one up.
rows = Rows(("openai", "responses", "anthropic", "gemini"), made_up=r"tool-call-[0-9a-f]{32}")


class Weather(BaseModel):
    city: str
    rain: bool


@tool(approval_mode="never_require")
def weather(city: str) -> str:
    """Tells the weather."""
    return f"Rain in {city}. " * 10


@tool(approval_mode="never_require")
def fails(x: int) -> str:
    """Fails."""
    raise ValueError("the disk is full")


@tool(approval_mode="never_require")
def shot(size: int) -> list[Content]:
    """Takes a picture of the screen."""
    return [Content.from_text("the screen"), Content.from_data(png(size), "image/png")]


@tool(approval_mode="always_require")
def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def client(side: Side) -> Any:
    if side.api == "openai":
        return OpenAIChatCompletionClient(model=side.model, base_url=side.url, api_key="none")
    if side.api == "responses":
        return OpenAIChatClient(model=side.model, base_url=side.url, api_key="none")
    if side.api == "anthropic":
        return AnthropicClient(model=side.model, anthropic_client=AsyncAnthropic(base_url=side.root, api_key="none", max_retries=0))
    return GeminiChatClient(model=side.model, client=genai.Client(api_key="none", http_options={"base_url": side.root}))


OPTIONS: dict[str, Any] = {
    "openai": {},
    "responses": {"store": False, "include": ["reasoning.encrypted_content"]},
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
    "gemini": {},
}


def agent(side: Side, name: str = "ops", **options: Any) -> Agent:
    provider = side.adapter(PalimpsestProvider)
    tools = options.pop("tools", [weather, fails, shot, pay])
    defaults = {**OPTIONS[side.api], **options.pop("default_options", {})}
    providers = [provider] if provider else []
    return Agent(client=client(side), name=name, instructions="Be terse.", tools=tools, context_providers=providers, default_options=defaults, **options)


def session(side: Side, kept: Optional[AgentSession] = None) -> AgentSession:
    """The thread's session: a new one, or one that goes on from what was kept."""
    return AgentSession.from_dict(kept.to_dict()) if kept else AgentSession(session_id=side.thread)


def history(kept: AgentSession) -> list[Message]:
    messages: list[Message] = kept.state["in_memory"]["messages"]
    return messages


def calls(*called: Any) -> Body:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


def answers(side: Side, count: int) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(count)))


async def asked(side: Side, *said: Any, **options: Any) -> AgentSession:
    ops, kept = agent(side, **options), session(side)
    for words in said:
        await ops.run(words, session=kept)
    return kept


@rows.run()
async def text(side: Side) -> None:
    answers(side, 2)
    await asked(side, "hi", "and?")


@rows.run()
async def parallel_calls(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."})
    await asked(side, "weather?", "sure?")


@rows.run()
async def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), {"text": "it fails", "thinking": "Hm."})
    await asked(side, "try", "again?")


@rows.run()
async def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops, kept = agent(side), session(side)
    stream = ops.run("weather?", session=kept, stream=True)
    async for _ in stream:
        pass
    await stream.get_final_response()
    await ops.run("sure?", session=kept)


@rows.run()
async def image_in(side: Side) -> None:
    answers(side, 2)
    await asked(side, Message("user", [Content.from_text("what is it?"), Content.from_data(png(20_000), "image/png")]), "sure?")


@rows.run()
async def image_out_of_a_tool(side: Side) -> None:
    ops, kept = agent(side), session(side)
    for size in IMAGE_SIZES:
        side.script(calls(("shot", {"size": size})), {"text": f"seen {size}", "thinking": "I see."})
        await ops.run(f"look at {size}", session=kept)


@rows.run()
async def pdf_twice_with_the_same_words(side: Side) -> None:
    answers(side, 3)
    await asked(side, *(Message("user", [Content.from_text("Read it."), Content.from_data(pdf(seed), "application/pdf")]) for seed in (1, 2)), "and?")


@rows.run()
async def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    await asked(side, "Is it?", "Is it so?", "Is it still?")  # the framework leaves equal messages out


@rows.run()
async def structured_output(side: Side) -> None:
    side.script({"text": '{"city": "A", "rain": true}', "thinking": "So."})
    await asked(side, "weather?", "and now?", default_options={"response_format": Weather})


async def handed_over(side: Side) -> None:
    triage, billing = side.beside("triage"), side.beside("billing")
    side.script({"text": "none"})
    triage.script(calls(("handoff_to_billing", {})), {"text": "what else?"})
    billing.script({"text": "I bill."}, {"text": "I bill again."})
    more = {"require_per_service_call_history_persistence": True, "tools": [weather]}
    first, second = agent(triage, "triage", **more), agent(billing, "billing", **more)
    workflow = HandoffBuilder(participants=[first, second]).with_start_agent(first).build()
    result = await workflow.run("refund?")
    for words in ("and?", "and now?"):
        waiting = result.get_request_info_events()
        result = await workflow.run(responses={event.request_id: [Message("user", [Content.from_text(words)])] for event in waiting})


rows.run("openai", "responses", "anthropic", name="handoff")(handed_over)
rows.absent("handoff", "the framework's client for Gemini refuses what its handoffs set", "gemini")


@rows.run()
async def nested_agent(side: Side) -> None:
    inner = side.beside("inner")
    side.script(calls(("inner", {"task": "1"})), {"text": "done", "thinking": "Hm."}, calls(("inner", {"task": "2"})), {"text": "more", "thinking": "Hm."})
    inner.script({"text": "says inner", "thinking": "Hm."})
    helper = agent(inner, "inner").as_tool(name="inner", description="Asks another agent.", arg_name="task", approval_mode="never_require")
    await asked(side, "hi", "more", tools=[weather, helper])


rows.absent("swarm", "an agent that goes on behind another one's reply is refused by Gemini, with the framework alone too", "gemini")


@rows.run("openai", "responses", "anthropic")
async def swarm(side: Side) -> None:
    """A workflow of agents one after the other, twice."""
    sides = [side.beside(name) for name in ("a", "b")]
    side.script({"text": "none"})
    for own in sides:
        answers(own, 4)
    agents = [agent(own, own.thread.rpartition("-")[2]) for own in sides]
    for task in ("task one", "task two"):
        await SequentialBuilder(participants=agents).build().run(task)


async def paused(side: Side) -> Any:
    side.script(calls(("pay", {"amount": 1})), {"text": "paid", "thinking": "Hm."}, {"text": "yes", "thinking": "Hm."})
    kept = session(side)
    result = await agent(side).run("pay 1", session=kept)
    assert result.user_input_requests
    return kept, result.user_input_requests[0]


@rows.run()
async def interrupt_and_resume(side: Side) -> None:
    """A run stops for an approval, and goes on in another process."""
    kept, request = await paused(side)
    side.restart()
    ops, kept = agent(side), session(side, kept)
    await ops.run(Message("user", [request.to_function_approval_response(True)]), session=kept)
    await ops.run("sure?", session=kept)


@rows.run()
async def approval(side: Side) -> None:
    kept, request = await paused(side)
    ops = agent(side)
    await ops.run(Message("user", [request.to_function_approval_response(False)]), session=kept)
    await ops.run("sure?", session=kept)


@rows.run()
async def clear(side: Side) -> None:
    answers(side, 6)
    ops, kept = agent(side), session(side)
    for said in ("first", "second", "first"):
        for question in (said, "more"):
            await ops.run(question, session=kept)
        history(kept).clear()


@rows.run()
async def first_message_edited(side: Side) -> None:
    answers(side, 6)
    ops = agent(side)
    old, edited = session(side), session(side)
    await ops.run("q0", session=old)
    await ops.run("q0 edited", session=edited)
    await ops.run("q1", session=edited)
    side.restart()
    ops = agent(side)
    await ops.run("q2", session=session(side, edited))
    await ops.run("q1 of the old one", session=session(side, old))


@rows.run()
async def later_message_edited(side: Side) -> None:
    answers(side, 6)
    ops, kept = agent(side), session(side)
    for words in ("q0", "q1", "q2"):
        await ops.run(words, session=kept)
    del history(kept)[2:]
    for words in ("q1 edited", "q2"):
        await ops.run(words, session=kept)


@rows.run()
async def fork(side: Side) -> None:
    answers(side, 8)
    ops, trunk = agent(side), session(side)
    await ops.run("q0", session=trunk)
    left, right = session(side, trunk), session(side, trunk)
    for words in ("left", "go on", "go on"):
        await ops.run(words, session=left)
        await ops.run("not " + words, session=right)


@rows.run()
async def user_trims(side: Side) -> None:
    answers(side, 8)
    kept = await asked(side, "q0", "q1", "q2", "q3")
    ops = agent(side)
    del history(kept)[:2]
    await ops.run("q4", session=kept)
    del history(kept)[2:4]
    await ops.run("q5", session=kept)
    await ops.run("q6", session=kept)


@rows.run()
async def two_sessions(side: Side) -> None:
    async def one(own: Side) -> None:
        answers(own, 5)
        await asked(own, *"01234")

    side.script({"text": "none"})
    await asyncio.gather(one(side.beside("a")), one(side.beside("b")))


@rows.run()
async def cancel(side: Side) -> None:
    side.script({"text": "zero"}, {"text": "slowly, word by word, goes this on and on", "slow": True}, {"text": "next"})
    kept, ops = await asked(side, "q0"), agent(side)

    async def listen() -> None:
        async for _ in ops.run("q1", session=kept, stream=True):
            pass

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.7)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ops.run("q2", session=kept)


@rows.run()
async def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end", "thinking": "Hm."})
    ops = agent(side)
    ops.client.function_invocation_configuration["max_iterations"] = 300
    await ops.run("go", session=session(side))


@rows.run()
async def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain", "thinking": "Hm."}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    kept = await asked(side, "weather?")
    side.restart()
    await agent(side).run("and in B?", session=session(side, kept))


@rows.run()
async def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    kept, ops = await asked(side, "q0"), agent(side)
    side.away()
    for n in (1, 2):
        await ops.run(f"q{n}", session=kept)
    side.back()
    for n in (3, 4):
        await ops.run(f"q{n}", session=kept)


@rows.turns()
async def turn(side: Side, kept: Any, said: Any) -> AgentSession:
    kept = session(side, kept)
    contents = [Content.from_text(said[0]), *(Content.from_data(media.data, media.media_type) for media in said[1:])]
    await agent(side).run(Message("user", contents), session=kept)
    return kept


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
