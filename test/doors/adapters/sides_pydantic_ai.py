"""pydantic-ai with and without the adapter: what each provider gets."""

from __future__ import annotations

import asyncio
from typing import Any, List

import pytest
from anthropic import AsyncAnthropic
from palimpsest_context.adapters.pydantic_ai import PalimpsestCapability
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, DeferredToolResults, DocumentUrl, ModelRetry, RunContext, UsageLimits
from pydantic_ai.messages import ModelMessagesTypeAdapter, UserPromptPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from side_by_side import IMAGE_SIZES, Rows, Side, pdf, png

# Where a call has no id of its provider's, the framework makes one up.
rows = Rows(("openai", "responses", "anthropic", "gemini"), made_up=r"pyd_ai_[0-9a-f]{32}")


class Weather(BaseModel):
    city: str
    rain: bool


def model(side: Side) -> Any:
    if side.api == "anthropic":
        client = AsyncAnthropic(base_url=side.root, api_key="none", max_retries=0)
        thinking = {"type": "enabled", "budget_tokens": 1024}
        return AnthropicModel(side.model, provider=AnthropicProvider(anthropic_client=client), settings={"anthropic_thinking": thinking, "max_tokens": 2000})
    if side.api == "gemini":
        return GoogleModel(side.model, provider=GoogleProvider(api_key="none", base_url=side.root))
    provider = OpenAIProvider(base_url=side.url, api_key="none")
    if side.api == "openai":
        return OpenAIChatModel(side.model, provider=provider)
    return OpenAIResponsesModel(side.model, provider=provider, settings={"openai_store": False, "openai_include_encrypted_reasoning": True})


def agent(side: Side, name: str = "ops", **options: Any) -> Agent[Any, Any]:
    capability = side.adapter(PalimpsestCapability)
    made: Agent[Any, Any] = Agent(model(side), name=name, instructions="Be terse.", capabilities=[capability] if capability else [], **options)

    @made.tool_plain
    def weather(city: str) -> str:
        """Tells the weather."""
        return f"Rain in {city}. " * 40

    @made.tool_plain
    def fails(x: int) -> str:
        """Fails."""
        raise ModelRetry("the disk is full")

    @made.tool_plain
    def shot(size: int) -> BinaryContent:
        """Takes a picture of the screen."""
        return BinaryContent(png(size), media_type="image/png")

    @made.tool_plain(requires_approval=True)
    def pay(amount: int) -> str:
        """Pays."""
        return f"paid {amount}"

    return made


async def ask(ops: Agent[Any, Any], said: Any, history: Any = None, **options: Any) -> List[Any]:
    run = await ops.run(said, message_history=history, **options)
    return run.all_messages()


def calls(*called: Any) -> Any:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


@rows.run()
async def text(side: Side) -> None:
    side.script({"text": "hello"}, {"text": "hello again"})
    history = await ask(agent(side), "hi", conversation_id=side.thread)
    await ask(agent(side), "and?", history)


@rows.run()
async def parallel_calls(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."})
    history = await ask(agent(side), "weather?", conversation_id=side.thread)
    await ask(agent(side), "sure?", history)


@rows.run()
async def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), calls(("fails", {"x": "no number"})), {"text": "it fails"})
    ops = agent(side, retries=5)
    await ask(ops, "again?", await ask(ops, "try", conversation_id=side.thread))


@rows.run()
async def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops = agent(side)
    async with ops.run_stream_events("weather?", conversation_id=side.thread) as stream:
        events = [event async for event in stream]
    await ask(ops, "sure?", events[-1].result.all_messages())


@rows.run()
async def image_in(side: Side) -> None:
    side.script({"text": "a dot"})
    ops = agent(side)
    history = await ask(ops, ["what is it?", BinaryContent(png(20_000), media_type="image/png")], conversation_id=side.thread)
    await ask(ops, "sure?", history)


@rows.run()
async def image_out_of_a_tool(side: Side) -> None:
    ops, history = agent(side), None
    for size in IMAGE_SIZES:
        side.script(calls(("shot", {"size": size})), {"text": f"seen {size}", "thinking": "I see."})
        history = await ask(ops, f"look at {size}", history, **({} if history else {"conversation_id": side.thread}))


@rows.run("responses", "anthropic", "gemini")
async def pdf_twice_with_the_same_words(side: Side) -> None:
    side.script({"text": "read"})
    ops, history = agent(side), None
    for seed in (1, 2):
        said = ["Read it.", BinaryContent(pdf(seed), media_type="application/pdf")]
        history = await ask(ops, said, history, **({} if history else {"conversation_id": side.thread}))
    if side.api != "gemini":
        await ask(ops, ["Read it.", DocumentUrl("https://documents.example/a.pdf", force_download=False)], history)


@rows.run("openai", name="pdf_twice_with_the_same_words")
async def pdf_twice_in_chat(side: Side) -> None:
    side.script({"text": "read"})
    ops, history = agent(side), None
    for seed in (1, 2):
        said = ["Read it.", BinaryContent(pdf(seed), media_type="application/pdf")]
        history = await ask(ops, said, history, **({} if history else {"conversation_id": side.thread}))


@rows.run()
async def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    ops, history = agent(side), None
    for _ in range(3):
        history = await ask(ops, "Is it?", history, **({} if history else {"conversation_id": side.thread}))


@rows.run()
async def structured_output(side: Side) -> None:
    wrong, right = calls(("final_result", {"city": 1})), calls(("final_result", {"city": "A", "rain": True}))
    if side.api == "anthropic":  # a model that thinks is not made to call: it answers in JSON
        wrong, right = {"text": '{"city": 1}', "thinking": "Hm."}, {"text": '{"city": "A", "rain": true}', "thinking": "So."}
    side.script(wrong, right, right)
    ops = agent(side, output_type=Weather, retries=4)
    await ask(ops, "and now?", await ask(ops, "weather?", conversation_id=side.thread))


@rows.run()
async def handoff(side: Side) -> None:
    """One agent's history goes to another, in the same conversation."""
    billing = side.beside("billing")
    side.script({"text": "That is billing's."})
    billing.script({"text": "I bill."})
    history = await ask(agent(side), "refund?", conversation_id=side.thread)
    history = await ask(agent(billing, "billing"), "go on", history)
    await ask(agent(side), "and back?", history)


@rows.run()
async def nested_agent(side: Side) -> None:
    """An agent runs another within a tool: a list of its own, in the same conversation."""
    inner = side.beside("inner")
    side.script(calls(("ask_inner", {"q": "1"})), {"text": "done"}, calls(("ask_inner", {"q": "2"})), {"text": "done again"})
    inner.script({"text": "says inner"})
    ops, helper = agent(side), agent(inner, "inner")

    @ops.tool
    async def ask_inner(ctx: RunContext[Any], q: str) -> str:
        """Asks another agent."""
        return str((await helper.run(q, conversation_id=ctx.conversation_id)).output)

    await ask(ops, "more", await ask(ops, "hi", conversation_id=side.thread))


rows.absent("swarm", "the framework has no swarms: agents hand over by the program's own code, as in handoff and nested_agent")


async def paused(side: Side, ops: Agent[Any, Any]) -> Any:
    side.script(calls(("pay", {"amount": 1}), ("weather", {"city": "A"})), {"text": "paid"}, {"text": "yes"})
    run = await ops.run("pay 1", conversation_id=side.thread)
    assert isinstance(run.output, DeferredToolRequests)
    return run


@rows.run()
async def interrupt_and_resume(side: Side) -> None:
    """A run ends with calls that wait, and goes on in another process."""
    run = await paused(side, agent(side, output_type=[str, DeferredToolRequests]))
    kept, waiting = run.all_messages_json(), run.output.approvals[0].tool_call_id
    side.restart()
    ops = agent(side, output_type=[str, DeferredToolRequests])
    results = DeferredToolResults(approvals={waiting: True})
    history = await ask(ops, None, ModelMessagesTypeAdapter.validate_json(kept), deferred_tool_results=results)
    await ask(ops, "sure?", history)


@rows.run()
async def approval(side: Side) -> None:
    ops = agent(side, output_type=[str, DeferredToolRequests])
    run = await paused(side, ops)
    results = DeferredToolResults(approvals={run.output.approvals[0].tool_call_id: False})
    await ask(ops, "sure?", await ask(ops, None, run.all_messages(), deferred_tool_results=results))


@rows.run()
async def clear(side: Side) -> None:
    """The history is emptied, and the same conversation begins anew, twice."""
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    for said in ("first", "second", "first"):
        await ask(ops, "more", await ask(ops, said, conversation_id=side.thread))


@rows.run()
async def first_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    history = await ask(ops, "q0", conversation_id=side.thread)
    edited = await ask(ops, "q0 edited", conversation_id=side.thread)
    await ask(ops, "q1", edited)
    side.restart()
    ops = agent(side)
    await ask(ops, "q2", edited)
    await ask(ops, "q1 of the old one", history)


@rows.run()
async def later_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    first = await ask(ops, "q0", conversation_id=side.thread)
    await ask(ops, "q2", await ask(ops, "q1", first))
    await ask(ops, "q2", await ask(ops, "q1 edited", first))


@rows.run()
async def fork(side: Side) -> None:
    """Two branches of a history go on in turns."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = agent(side)
    trunk = await ask(ops, "q0", conversation_id=side.thread)
    left, right = await ask(ops, "left", trunk), await ask(ops, "right", trunk)
    for _ in range(2):
        left, right = await ask(ops, "go on", left), await ask(ops, "go on", right)


@rows.run()
async def user_trims(side: Side) -> None:
    """What the program took out of the history stays out: at the front, and in the middle."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = agent(side)
    history = await ask(ops, "q0", conversation_id=side.thread)
    for n in (1, 2, 3):
        history = await ask(ops, f"q{n}", history)
    history = await ask(ops, "q4", history[2:])
    history = await ask(ops, "q5", history[:2] + history[4:])
    await ask(ops, "q6", history)


@rows.run()
async def two_sessions(side: Side) -> None:
    async def one(own: Side) -> None:
        own.script(*({"text": f"answer {n}"} for n in range(5)))
        ops, history = agent(own), None
        for n in range(5):
            history = await ask(ops, f"{n}", history, conversation_id=own.thread)

    side.script({"text": "none"})
    await asyncio.gather(one(side.beside("a")), one(side.beside("b")))


@rows.run()
async def cancel(side: Side) -> None:
    side.script({"text": "zero"}, {"text": "slowly, word by word, goes this on and on", "slow": True}, {"text": "next"})
    ops = agent(side)
    history = await ask(ops, "q0", conversation_id=side.thread)

    async def listen() -> None:
        async with ops.run_stream_events("q1", message_history=history) as stream:
            async for _ in stream:
                pass

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.7)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ask(ops, "q2", history)


@rows.run()
async def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end"})
    await ask(agent(side), "go", conversation_id=side.thread, usage_limits=UsageLimits(request_limit=300))


@rows.run()
async def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain"}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    history = await ask(agent(side), "weather?", conversation_id=side.thread)
    kept = ModelMessagesTypeAdapter.dump_json(history)
    side.restart()
    await ask(agent(side), "and in B?", ModelMessagesTypeAdapter.validate_json(kept))


@rows.run()
async def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    ops = agent(side)
    history = await ask(ops, "q0", conversation_id=side.thread)
    side.away()
    for n in (1, 2):
        history = await ask(ops, f"q{n}", history)
    side.back()
    for n in (3, 4):
        history = await ask(ops, f"q{n}", history)


def after_first_turn(history: List[Any]) -> List[Any]:
    said = [i for i, message in enumerate(history) if any(isinstance(part, UserPromptPart) for part in message.parts)]
    return history[said[1] :] if len(said) > 1 else history


@rows.turns(trim=after_first_turn)
async def turn(side: Side, history: Any, said: Any) -> Any:
    content = [said[0], *(BinaryContent(media.data, media_type=media.media_type) for media in said[1:])]
    return await ask(agent(side, retries=9), content, history, conversation_id=side.thread)


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
