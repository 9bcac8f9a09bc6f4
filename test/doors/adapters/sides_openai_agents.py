"""The OpenAI Agents SDK with and without the adapter: what both of OpenAI's APIs get."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, List, Optional

import pytest
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, RunState, SQLiteSession
from agents import ToolOutputImage, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from palimpsest_context.adapters.openai_agents import PalimpsestRun
from pydantic import BaseModel
from side_by_side import IMAGE_SIZES, Body, Media, Rows, Side, pdf, png

set_tracing_disabled(True)
rows = Rows(("openai", "responses"))


class Weather(BaseModel):
    city: str
    rain: bool


@function_tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"Rain in {city}. " * 10


@function_tool
def fails(x: int) -> str:
    """Fails."""
    raise ValueError("the disk is full")


@function_tool
def shot(size: int) -> ToolOutputImage:
    """Takes a picture of the screen."""
    return ToolOutputImage(image_url=data_url(png(size), "image/png"))


@function_tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def data_url(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


class Ops:
    """An agent, and what its runs are given."""

    def __init__(self, side: Side, name: str = "ops", tools: Any = (weather, fails, pay, shot), thread: str = "", **options: Any) -> None:
        self.run = side.adapter(PalimpsestRun, thread or side.thread)
        client = AsyncOpenAI(base_url=side.url, api_key="none", max_retries=0)
        if side.api == "openai":
            model: Any = OpenAIChatCompletionsModel(side.model, client)
            settings = ModelSettings()
        else:
            model = OpenAIResponsesModel(side.model, client)
            settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"], reasoning=Reasoning(effort="low"))
        tools = [*tools, *(self.run.tools if self.run else ())]
        self.agent: Agent[Any] = Agent(name, instructions="Be terse.", tools=tools, model=model, model_settings=settings, **options)

    @property
    def given(self) -> Any:
        return {"hooks": self.run, "run_config": self.run.config()} if self.run else {"run_config": RunConfig()}

    async def ask(self, said: Any, history: Optional[List[Any]] = None, **more: Any) -> List[Any]:
        items = [*(history or ()), {"role": "user", "content": said}]
        return (await Runner.run(self.agent, items, **self.given, **more)).to_input_list()


def calls(*called: Any) -> Body:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


def answers(side: Side, count: int) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(count)))


@rows.run()
async def text(side: Side) -> None:
    answers(side, 2)
    ops = Ops(side)
    await ops.ask("and?", await ops.ask("hi"))


@rows.run()
async def parallel_calls(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."})
    ops = Ops(side)
    await ops.ask("sure?", await ops.ask("weather?"))


@rows.run()
async def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), {"text": "it fails"})
    ops = Ops(side)
    await ops.ask("again?", await ops.ask("try"))


@rows.run()
async def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops = Ops(side)
    stream = Runner.run_streamed(ops.agent, "weather?", **ops.given)
    async for _ in stream.stream_events():
        pass
    await ops.ask("sure?", stream.to_input_list())


@rows.run()
async def image_in(side: Side) -> None:
    answers(side, 2)
    image = {"type": "input_image", "image_url": data_url(png(20_000), "image/png"), "detail": "auto"}
    ops = Ops(side)
    await ops.ask("sure?", await ops.ask([{"type": "input_text", "text": "what is it?"}, image]))


@rows.run("responses")
async def image_out_of_a_tool(side: Side) -> None:
    ops, history = Ops(side), None
    for size in IMAGE_SIZES:
        side.script(calls(("shot", {"size": size})), {"text": f"seen {size}", "thinking": "I see."})
        history = await ops.ask(f"look at {size}", history)


rows.absent("image_out_of_a_tool", "the SDK's converter sends Chat Completions no images of tools", "openai")


@rows.run()
async def pdf_twice_with_the_same_words(side: Side) -> None:
    answers(side, 3)
    ops, history = Ops(side), None
    for seed in (1, 2):
        file = {"type": "input_file", "filename": "a.pdf", "file_data": data_url(pdf(seed), "application/pdf")}
        history = await ops.ask([{"type": "input_text", "text": "Read it."}, file], history)
    if side.api == "responses":
        file = {"type": "input_file", "file_url": "https://documents.example/a.pdf"}
        await ops.ask([{"type": "input_text", "text": "Read it."}, file], history)


@rows.run()
async def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    ops, history = Ops(side), None
    for _ in range(3):
        history = await ops.ask("Is it?", history)


@rows.run()
async def structured_output(side: Side) -> None:
    side.script({"text": '{"city": "A", "rain": true}'})
    ops = Ops(side, output_type=Weather)
    await ops.ask("and now?", await ops.ask("weather?"))


@rows.run()
async def handoff(side: Side) -> None:
    side.script(calls(("transfer_to_billing", {})), {"text": "What else?"})
    billing = side.beside("billing")
    billing.script({"text": "I bill."}, calls(("transfer_to_ops", {})), {"text": "I bill again."})
    ops, other = Ops(side), Ops(billing, "billing", thread=side.thread)
    ops.agent.handoffs, other.agent.handoffs = [other.agent], [ops.agent]
    result = await Runner.run(ops.agent, "refund?", **ops.given)
    items = [*result.to_input_list(), {"role": "user", "content": "back, please"}]
    await Runner.run(result.last_agent, items, **ops.given)


@rows.run()
async def nested_agent(side: Side) -> None:
    inner = side.beside("inner")
    side.script(calls(("ask_inner", {"input": "1"})), {"text": "done"}, calls(("ask_inner", {"input": "2"})), {"text": "done again"})
    inner.script({"text": "says inner"})
    ops, helper = Ops(side), Ops(inner, "inner", thread=side.thread)
    ops.agent.tools.insert(0, helper.agent.as_tool("ask_inner", "Asks another agent."))
    await ops.ask("more", await ops.ask("hi"))


@rows.run()
async def swarm(side: Side) -> None:
    """Agents that hand over to each other, and a second task with the same ones."""
    names = ("a", "b", "c")
    sides = [side.beside(name) for name in names]
    side.script({"text": "none"})
    agents = [Ops(own, name, thread=side.thread) for own, name in zip(sides, names)]
    for own, target in zip(sides, ("b", "c", "a")):
        own.script(calls((f"transfer_to_{target}", {})), {"text": "done"}) if target != "a" else own.script({"text": "done"})
    for one, other in zip(agents, agents[1:]):
        one.agent.handoffs = [other.agent]
    await agents[0].ask("task one")
    for own, target in zip(sides, ("b", "c", "a")):
        own.script(calls((f"transfer_to_{target}", {}))) if target != "a" else own.script({"text": "done"})
    await agents[0].ask("task two")


async def paused(side: Side) -> Any:
    side.script(calls(("pay", {"amount": 1}), ("weather", {"city": "A"})), {"text": "paid"}, {"text": "yes"})
    ops = Ops(side)
    result = await Runner.run(ops.agent, "pay 1", **ops.given)
    assert result.interruptions
    return result


@rows.run()
async def interrupt_and_resume(side: Side) -> None:
    """A run stops for an approval, and goes on in another process."""
    kept = (await paused(side)).to_state().to_json()
    side.restart()
    ops = Ops(side)
    state = await RunState.from_json(ops.agent, kept)
    state.approve(state.get_interruptions()[0])
    result = await Runner.run(ops.agent, state, **ops.given)
    await ops.ask("sure?", result.to_input_list())


@rows.run()
async def approval(side: Side) -> None:
    state = (await paused(side)).to_state()
    state.reject(state.get_interruptions()[0])
    ops = Ops(side)
    result = await Runner.run(ops.agent, state, **ops.given)
    await ops.ask("sure?", result.to_input_list())


@rows.run()
async def clear(side: Side) -> None:
    answers(side, 6)
    ops, session = Ops(side), SQLiteSession("s")
    for said in ("first", "second", "first"):
        for question in (said, "more"):
            await Runner.run(ops.agent, question, session=session, **ops.given)
        await session.clear_session()


@rows.run()
async def first_message_edited(side: Side) -> None:
    answers(side, 6)
    ops = Ops(side)
    history = await ops.ask("q0")
    edited = await ops.ask("q0 edited")
    await ops.ask("q1", edited)
    side.restart()
    ops = Ops(side)
    await ops.ask("q2", edited)
    await ops.ask("q1 of the old one", history)


@rows.run()
async def later_message_edited(side: Side) -> None:
    answers(side, 6)
    ops = Ops(side)
    first = await ops.ask("q0")
    await ops.ask("q2", await ops.ask("q1", first))
    await ops.ask("q2", await ops.ask("q1 edited", first))


@rows.run()
async def fork(side: Side) -> None:
    answers(side, 8)
    ops = Ops(side)
    trunk = await ops.ask("q0")
    left, right = await ops.ask("left", trunk), await ops.ask("right", trunk)
    for _ in range(2):
        left, right = await ops.ask("go on", left), await ops.ask("go on", right)


@rows.run()
async def user_trims(side: Side) -> None:
    answers(side, 8)
    ops, history = Ops(side), None
    for n in range(4):
        history = await ops.ask(f"q{n}", history)
    history = await ops.ask("q4", history[2:])
    history = await ops.ask("q5", history[:2] + history[4:])
    await ops.ask("q6", history)


@rows.run()
async def two_sessions(side: Side) -> None:
    async def one(own: Side) -> None:
        answers(own, 5)
        ops, history = Ops(own), None
        for n in range(5):
            history = await ops.ask(f"{n}", history)

    side.script({"text": "none"})
    await asyncio.gather(one(side.beside("a")), one(side.beside("b")))


@rows.run()
async def cancel(side: Side) -> None:
    side.script({"text": "zero"}, {"text": "slowly, word by word, goes this on and on", "slow": True}, {"text": "next"})
    ops = Ops(side)
    history = await ops.ask("q0")

    async def listen() -> None:
        stream = Runner.run_streamed(ops.agent, [*history, {"role": "user", "content": "q1"}], **ops.given)
        async for _ in stream.stream_events():
            pass

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.7)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ops.ask("q2", history)


@rows.run()
async def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end"})
    await Ops(side).ask("go", max_turns=300)


@rows.run()
async def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain"}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    history = await Ops(side).ask("weather?")
    side.restart()
    await Ops(side).ask("and in B?", history)


@rows.run()
async def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    ops = Ops(side)
    history = await ops.ask("q0")
    side.away()
    for n in (1, 2):
        history = await ops.ask(f"q{n}", history)
    side.back()
    for n in (3, 4):
        history = await ops.ask(f"q{n}", history)


def after_first_turn(history: List[Any]) -> List[Any]:
    said = [i for i, item in enumerate(history) if item.get("role") == "user"]
    return history[said[1] :] if len(said) > 1 else history


@rows.turns(trim=after_first_turn)
async def turn(side: Side, history: Any, said: Any) -> Any:
    tools = (weather, fails, pay, *([shot] if side.api == "responses" else [function_tool(lambda size: "a picture", name_override="shot")]))
    return await Ops(side, tools=tools).ask([{"type": "input_text", "text": said[0]}, *map(part, said[1:])], history)


def part(media: Media) -> Body:
    if media.media_type == "application/pdf":
        return {"type": "input_file", "filename": "a.pdf", "file_data": data_url(media.data, media.media_type)}
    return {"type": "input_image", "image_url": data_url(media.data, media.media_type), "detail": "auto"}


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
