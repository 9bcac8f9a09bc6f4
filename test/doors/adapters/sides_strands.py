"""Strands' agents with and without the plugin: what each provider gets."""

from __future__ import annotations

import asyncio
import copy
import tempfile
from typing import Any, List

from palimpsest_context.adapters.strands import PalimpsestPlugin
from pydantic import BaseModel
from side_by_side import IMAGE_SIZES, Rows, Side, pdf, png
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import BeforeToolCallEvent, HookProvider
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.multiagent import GraphBuilder, Swarm
from strands.session.file_session_manager import FileSessionManager

# Where a call has no id of its provider's, the framework makes one up.
rows = Rows(("openai", "responses", "anthropic", "gemini"), made_up=r"tooluse_[0-9A-Za-z_-]{22}")


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    rain: bool


@tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"Rain in {city}. " * 40


@tool
def fails(x: int) -> str:
    """Fails."""
    raise ValueError("the disk is full")


@tool
def shot(size: int) -> dict:  # type: ignore[type-arg]
    """Takes a picture of the screen."""
    return {"status": "success", "content": [{"text": "the screen"}, {"image": {"format": "png", "source": {"bytes": png(size)}}}]}


@tool
def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


class Ask(HookProvider):
    """Payments wait for a person."""

    def register_hooks(self, registry: Any, **_: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self.ask)

    def ask(self, event: Any) -> None:
        if event.tool_use["name"] == "pay" and event.interrupt("approve", reason="?") != "yes":
            event.cancel_tool = "denied"


def model(side: Side) -> Any:
    if side.api == "anthropic":
        client = {"base_url": side.root, "api_key": "none", "max_retries": 0}
        return AnthropicModel(client_args=client, model_id=side.model, max_tokens=4000, params={"thinking": {"type": "enabled", "budget_tokens": 1024}})
    if side.api == "gemini":
        return GeminiModel(client_args={"api_key": "none", "http_options": {"base_url": side.root}}, model_id=side.model)
    kind = OpenAIModel if side.api == "openai" else OpenAIResponsesModel
    return kind(client_args={"base_url": side.url, "api_key": "none", "max_retries": 0}, model_id=side.model)


def agent(side: Side, name: str = "", tools: Any = (weather, fails, shot, pay), **options: Any) -> Agent:
    plugins = [] if side.palimpsest is None else [PalimpsestPlugin(side.palimpsest, "/".join(filter(None, (side.thread, name))))]
    options = {"system_prompt": "Be terse.", **options, **({"name": name} if name else {})}
    return Agent(
        model=model(side), tools=list(tools), plugins=plugins, conversation_manager=NullConversationManager(), callback_handler=None, **options
    )


def calls(*called: Any) -> Any:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


@rows.run()
async def text(side: Side) -> None:
    side.script({"text": "hello"}, {"text": "hello again"})
    ops = agent(side)
    await ops.invoke_async("hi")
    await ops.invoke_async("and?")


@rows.run()
async def parallel_calls(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."})
    ops = agent(side)
    await ops.invoke_async("weather?")
    await ops.invoke_async("sure?")


@rows.run()
async def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), calls(("fails", {"x": "no number"})), {"text": "it fails"})
    ops = agent(side)
    await ops.invoke_async("try")
    await ops.invoke_async("again?")


@rows.run()
async def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops = agent(side)
    for said in ("weather?", "sure?"):
        assert len([event async for event in ops.stream_async(said)]) > 3


@rows.run()
async def image_in(side: Side) -> None:
    side.script({"text": "a dot"})
    ops = agent(side)
    await ops.invoke_async([{"text": "what is it?"}, {"image": {"format": "png", "source": {"bytes": png(20_000)}}}])
    await ops.invoke_async("sure?")


@rows.run()
async def image_out_of_a_tool(side: Side) -> None:
    ops = agent(side)
    for size in IMAGE_SIZES:
        side.script(calls(("shot", {"size": size})), {"text": f"seen {size}", "thinking": "I see."})
        await ops.invoke_async(f"look at {size}")


@rows.run()
async def pdf_twice_with_the_same_words(side: Side) -> None:
    side.script({"text": "read"})
    ops = agent(side)
    for seed in (1, 2):
        await ops.invoke_async([{"text": "Read it."}, {"document": {"format": "pdf", "name": "a", "source": {"bytes": pdf(seed)}}}])
    await ops.invoke_async([{"text": "Read it."}, {"document": {"format": "md", "name": "b", "source": {"bytes": b"# Bills"}}}])
    await ops.invoke_async("which?")


@rows.run()
async def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    ops = agent(side)
    for _ in range(3):
        await ops.invoke_async("Is it?")


@rows.run()
async def structured_output(side: Side) -> None:
    side.script(calls(("Weather", {"city": 1})), calls(("Weather", {"city": "A", "rain": True})))
    ops = agent(side)
    for said in ("weather?", "and now?"):
        await ops.invoke_async(said, structured_output_model=Weather)


def swarm_of(side: Side) -> Swarm:
    agents = [agent(side.beside(name), name, [weather], description=f"does {name}") for name in ("research", "write")]
    return Swarm(agents)


@rows.run()
async def handoff(side: Side) -> None:
    """One agent hands over to another, which hands back."""
    side.script({"text": "none"})
    to = [calls(("handoff_to_agent", {"agent_name": name, "message": "go on"})) for name in ("write", "research")]
    side.beside("research").script(to[0], {"text": "found"})
    side.beside("write").script(to[1], {"text": "written"})
    await swarm_of(side).invoke_async("the task")


@rows.run()
async def swarm(side: Side) -> None:
    """Two tasks for one swarm, whose agents begin anew each time."""
    side.script({"text": "none"})
    side.beside("research").script(calls(("handoff_to_agent", {"agent_name": "write", "message": "go on"})), {"text": "found"})
    side.beside("write").script(calls(("weather", {"city": "A"})), {"text": "written"})
    both = swarm_of(side)
    await both.invoke_async("task one")
    await both.invoke_async("task two")
    # A graph visits an agent again, which begins anew.
    visits = {"left": 2}

    def again(_: Any) -> bool:
        visits["left"] -= 1
        return visits["left"] > 0

    graph = GraphBuilder()
    for name in ("first", "second"):
        side.beside(name).script({"text": f"{name} says"})
        graph.add_node(agent(side.beside(name), name, [weather]), name)
    graph.add_edge("first", "second")
    graph.add_edge("second", "first", condition=again)
    graph.set_entry_point("first")
    graph.reset_on_revisit(True)
    graph.set_max_node_executions(10)
    await graph.build().invoke_async("go")


@rows.run()
async def nested_agent(side: Side) -> None:
    """An agent is another one's tool."""
    inner = side.beside("inner")
    asked = calls(("inner", {"input": "1"}))
    side.script(asked, {"text": "done"}, asked, {"text": "done again"})
    inner.script({"text": "says inner"})
    ops = agent(side, tools=[agent(inner, "inner", [weather], description="helps").as_tool()])
    await ops.invoke_async("hi")
    await ops.invoke_async("more")


async def paused(side: Side, folder: str) -> Any:
    side.script(calls(("weather", {"city": "A"}), ("pay", {"amount": 1})), {"text": "paid"}, {"text": "yes"})
    result = await kept(side, folder).invoke_async("pay 1")
    assert result.stop_reason == "interrupt"
    return result


def kept(side: Side, folder: str) -> Agent:
    return agent(side, agent_id="ops", hooks=[Ask()], session_manager=FileSessionManager("s", folder))


@rows.run()
async def interrupt_and_resume(side: Side) -> None:
    """A run ends with a call that waits, and goes on in another process."""
    with tempfile.TemporaryDirectory() as folder:
        result = await paused(side, folder)
        side.restart()
        ops = kept(side, folder)
        await ops.invoke_async([{"interruptResponse": {"interruptId": waiting.id, "response": "yes"}} for waiting in result.interrupts])
        await ops.invoke_async("sure?")


@rows.run()
async def approval(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("pay", {"amount": 1})), {"text": "not paid"}, {"text": "yes"})
    ops = agent(side, hooks=[Ask()])
    result = await ops.invoke_async("pay 1")
    await ops.invoke_async([{"interruptResponse": {"interruptId": waiting.id, "response": "no"}} for waiting in result.interrupts])
    await ops.invoke_async("sure?")


@rows.run()
async def clear(side: Side) -> None:
    """The messages are emptied, and the same conversation begins anew, twice."""
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    for said in ("first", "second", "first"):
        ops.messages.clear()
        await ops.invoke_async(said)
        await ops.invoke_async("more")


@rows.run()
async def first_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    await ops.invoke_async("q0")
    old = copy.deepcopy(ops.messages)
    ops.messages.clear()
    await ops.invoke_async("q0 edited")
    await ops.invoke_async("q1")
    new = copy.deepcopy(ops.messages)
    side.restart()
    await agent(side, messages=new).invoke_async("q2")
    await agent(side, messages=old).invoke_async("q1 of the old one")


@rows.run()
async def later_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = agent(side)
    for n in range(3):
        await ops.invoke_async(f"q{n}")
    del ops.messages[2:]
    await ops.invoke_async("q1 edited")
    await ops.invoke_async("q2")


@rows.run()
async def fork(side: Side) -> None:
    """Two branches of a conversation go on in turns."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = agent(side)
    await ops.invoke_async("q0")
    branches: List[Any] = [copy.deepcopy(ops.messages) for _ in range(2)]
    for _ in range(2):
        for n in range(2):
            ops.messages[:] = branches[n]
            await ops.invoke_async(f"go on, branch {n}")
            branches[n] = copy.deepcopy(ops.messages)


@rows.run()
async def user_trims(side: Side) -> None:
    """What the program took out of the messages stays out: at the front, and in the middle."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = agent(side)
    for n in range(4):
        await ops.invoke_async(f"q{n}")
    for removed in (slice(0, 2), slice(2, 4)):
        del ops.messages[removed]
        await ops.invoke_async(f"without {removed.start}")
    await ops.invoke_async("the end")


@rows.run()
async def two_sessions(side: Side) -> None:
    async def one(own: Side) -> None:
        own.script(*({"text": f"answer {n}"} for n in range(5)))
        ops = agent(own)
        for n in range(5):
            await ops.invoke_async(f"{n}")

    side.script({"text": "none"})
    await asyncio.gather(one(side.beside("a")), one(side.beside("b")))


@rows.run()
async def cancel(side: Side) -> None:
    """By the task, and by the agent's own means."""
    slow = {"text": "slowly, word by word, goes this on and on", "slow": True}
    side.script({"text": "zero"}, slow, {"text": "next"}, slow, {"text": "the end"})
    ops = agent(side)
    await ops.invoke_async("q0")
    task = asyncio.create_task(ops.invoke_async("q1"))
    await asyncio.sleep(0.7)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    if ops.messages[-1]["role"] == "user":
        ops.messages.pop()
    await ops.invoke_async("q2")
    task = asyncio.create_task(ops.invoke_async("q3"))
    await asyncio.sleep(0.7)
    ops.cancel()
    await task
    await ops.invoke_async("q4")


@rows.run()
async def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end"})
    await agent(side).invoke_async("go")


@rows.run()
async def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain"}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    with tempfile.TemporaryDirectory() as folder:
        await kept(side, folder).invoke_async("weather?")
        side.restart()
        await kept(side, folder).invoke_async("and in B?")


@rows.run()
async def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    ops = agent(side)
    await ops.invoke_async("q0")
    side.away()
    for n in (1, 2):
        await ops.invoke_async(f"q{n}")
    side.back()
    for n in (3, 4):
        await ops.invoke_async(f"q{n}")


def after_first_turn(history: List[Any]) -> List[Any]:
    said = [i for i, message in enumerate(history) if message["role"] == "user" and "toolResult" not in message["content"][0]]
    return history[said[1] :] if len(said) > 1 else history


@rows.turns(trim=after_first_turn)
async def turn(side: Side, history: Any, said: Any) -> Any:
    kinds = {"image/png": ("image", {"format": "png"}), "application/pdf": ("document", {"format": "pdf", "name": "a"})}
    media = [(*kinds[media.media_type], media.data) for media in said[1:]]
    ops = agent(side, messages=copy.deepcopy(history or []))
    await ops.invoke_async([{"text": said[0]}, *({kind: {**named, "source": {"bytes": data}}} for kind, named, data in media)])
    return ops.messages


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
