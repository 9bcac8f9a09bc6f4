"""Agents of Google's Agent Development Kit with and without the plugin: what the provider gets."""

from __future__ import annotations

import asyncio
import copy
from typing import Any, Dict, List

from google import genai
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from palimpsest_context.adapters.google_adk import PalimpsestPlugin
from pydantic import BaseModel
from side_by_side import Rows, Side, pdf, png

# Where a call has no id of its provider's, the framework makes one up.
rows = Rows(("gemini",), made_up=r"adk-[0-9a-f-]{36}")


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    rain: bool


def weather(city: str) -> str:
    """Tells the weather."""
    return f"Rain in {city}. " * 40


def fails(x: int) -> Dict[str, Any]:
    """Fails."""
    return {"error": "the disk is full"}


def shot(size: int) -> str:
    """Takes a picture of the screen, and tells where it is."""
    return f"screen-{size}.png"


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def agent(side: Side, name: str = "ops", tools: Any = (weather, fails), **options: Any) -> LlmAgent:
    plugin = side.adapter(PalimpsestPlugin)
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=side.root))
    options = {"instruction": f"You are {name}.", **options}
    return LlmAgent(name=name, model=Gemini(model=side.model, client=client), tools=[*tools, *(plugin.tools if plugin else [])], **options)


class Ops:
    """An app in one session, which outlives the app's process."""

    def __init__(self, side: Side, make: Any = agent, name: str = "") -> None:
        self.side, self.make, self.sessions, self.session = side, make, InMemorySessionService(), name or side.thread
        self.begin()

    def begin(self) -> None:
        plugin = self.side.adapter(PalimpsestPlugin)
        resumable = ResumabilityConfig(is_resumable=True)
        app = App(name="toy", root_agent=self.make(self.side), plugins=[plugin] if plugin else [], resumability_config=resumable)
        self.runner = Runner(app=app, session_service=self.sessions, auto_create_session=True)

    def restart(self) -> None:
        self.side.restart()
        self.begin()

    async def ask(self, *said: Any, **options: Any) -> List[Any]:
        parts = [types.Part(text=part) if isinstance(part, str) else part for part in said]
        message = types.Content(role="user", parts=parts)
        run = self.runner.run_async(user_id="u", session_id=self.session, new_message=message, **options)
        return [event async for event in run]

    async def events(self) -> List[Any]:
        kept = await self.sessions.get_session(app_name="toy", user_id="u", session_id=self.session)
        return list(kept.events)

    async def rewind(self, n: int) -> None:
        """To before what the user said n-th."""
        begun = [event.invocation_id for event in await self.events() if event.author == "user"]
        await self.runner.rewind_async(user_id="u", session_id=self.session, rewind_before_invocation_id=begun[n])


def calls(*called: Any) -> Any:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


@rows.run()
async def text(side: Side) -> None:
    side.script({"text": "hello"}, {"text": "hello again"})
    ops = Ops(side)
    await ops.ask("hi")
    await ops.ask("and?")


@rows.run()
async def parallel_calls(side: Side) -> None:
    """Calls with the provider's ids, and without."""
    asked, rain = calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."}
    side.script({**asked, "ids": True}, rain, asked, rain)
    ops = Ops(side)
    for said in ("weather?", "sure?", "and now?"):
        await ops.ask(said)


@rows.run()
async def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), calls(("weather", {})), {"text": "it fails"})
    ops = Ops(side)
    await ops.ask("try")
    await ops.ask("again?")


@rows.run()
async def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops = Ops(side)
    for said in ("weather?", "sure?"):
        assert any(event.partial for event in await ops.ask(said, run_config=RunConfig(streaming_mode=StreamingMode.SSE)))


@rows.run()
async def image_in(side: Side) -> None:
    side.script({"text": "a dot"})
    ops = Ops(side)
    await ops.ask("what is it?", types.Part.from_bytes(data=png(20_000), mime_type="image/png"))
    await ops.ask("sure?")


rows.absent("image_out_of_a_tool", "what a tool returns is JSON: an image goes to the model as a user's part or an artifact")


@rows.run()
async def pdf_twice_with_the_same_words(side: Side) -> None:
    side.script({"text": "read"})
    ops = Ops(side)
    for seed in (1, 2):
        await ops.ask("Read it.", types.Part.from_bytes(data=pdf(seed), mime_type="application/pdf"))
    await ops.ask("Read it.", types.Part.from_uri(file_uri="https://documents.example/a.pdf", mime_type="application/pdf"))
    await ops.ask("which?")


@rows.run()
async def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    ops = Ops(side)
    for _ in range(3):
        await ops.ask("Is it?")


@rows.run()
async def structured_output(side: Side) -> None:
    side.script(calls(("set_model_response", {"city": "A", "rain": True})))
    ops = Ops(side, lambda own: agent(own, output_schema=Weather, output_key="found"))
    await ops.ask("weather?")
    await ops.ask("and now?")


def transferring(side: Side) -> LlmAgent:
    billing = agent(side.beside("billing"), "billing", [weather], description="bills")
    return agent(side, "triage", [weather], sub_agents=[billing])


@rows.run()
async def handoff(side: Side) -> None:
    """An agent hands over to another, which hands back."""
    to = [calls(("transfer_to_agent", {"agent_name": name})) for name in ("billing", "triage")]
    side.script(to[0], {"text": "triage says"})
    side.beside("billing").script(calls(("weather", {"city": "A"})), {"text": "billed"}, to[1])
    ops = Ops(side, transferring)
    for said in ("refund?", "and now?"):
        await ops.ask(said)
    ops.restart()
    await ops.ask("more")


@rows.run()
async def nested_agent(side: Side) -> None:
    """An agent is another one's tool: each call is a session of its own."""
    inner, asked = side.beside("inner"), calls(("inner", {"request": "1"}))
    side.script(asked, {"text": "done"}, asked, {"text": "done again"})
    inner.script({"text": "says inner"})

    def main(own: Side) -> LlmAgent:
        return agent(own, "main", [AgentTool(agent(own.beside("inner"), "inner", [weather], description="helps"))])

    ops = Ops(side, main)
    await ops.ask("hi")
    await ops.ask("more")


@rows.run()
async def swarm(side: Side) -> None:
    """Agents of one session: side by side, where none sees the others, and one behind the other in a loop."""
    side.script({"text": "none"})
    for name in ("left", "right", "write", "review"):
        side.beside(name).script(calls(("weather", {"city": name})), *({"text": f"{name} says {n}"} for n in range(4)))

    def members(own: Side, *names: str) -> Any:
        return [agent(own.beside(name), name, [weather]) for name in names]

    both = Ops(side, lambda own: ParallelAgent(name="both", sub_agents=members(own, "left", "right")))
    loop = Ops(side, lambda own: LoopAgent(name="loop", sub_agents=members(own, "write", "review"), max_iterations=2), side.thread + "-loop")
    for said in ("task one", "task two"):
        await both.ask(said)
        await loop.ask(said)


def paying(side: Side) -> LlmAgent:
    tools: List[BaseTool] = [FunctionTool(pay, require_confirmation=True)]
    return agent(side, tools=[*tools, weather])


async def paused(side: Side) -> Any:
    side.script(calls(("pay", {"amount": 1}), ("weather", {"city": "A"})), {"text": "so it is"}, {"text": "yes"})
    ops = Ops(side, paying)
    events = await ops.ask("pay 1")
    asked = [call for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"]
    return ops, asked[0], events[-1].invocation_id


def answered(asked: Any, confirmed: bool) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed}))


@rows.run()
async def interrupt_and_resume(side: Side) -> None:
    """A run ends with a call that waits, and goes on in another process."""
    ops, asked, invocation = await paused(side)
    ops.restart()
    await ops.ask(answered(asked, True), invocation_id=invocation)
    await ops.ask("sure?")


@rows.run()
async def approval(side: Side) -> None:
    ops, asked, invocation = await paused(side)
    await ops.ask(answered(asked, False), invocation_id=invocation)
    await ops.ask("sure?")


@rows.run()
async def clear(side: Side) -> None:
    """The session is deleted, and begins anew under its name, twice."""
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    for said in ("first", "second", "first"):
        await ops.sessions.delete_session(app_name="toy", user_id="u", session_id=ops.session)
        await ops.ask(said)
        await ops.ask("more")


@rows.run()
async def first_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    await ops.ask("q0")
    await ops.rewind(0)
    await ops.ask("q0 edited")
    await ops.ask("q1")
    ops.restart()
    await ops.ask("q2")


@rows.run()
async def later_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    for n in range(3):
        await ops.ask(f"q{n}")
    await ops.rewind(1)
    await ops.ask("q1 edited")
    await ops.ask("q2")


async def replaced(ops: Ops, events: List[Any]) -> None:
    """The session with these events alone."""
    await ops.sessions.delete_session(app_name="toy", user_id="u", session_id=ops.session)
    session = await ops.sessions.create_session(app_name="toy", user_id="u", session_id=ops.session)
    for event in events:
        await ops.sessions.append_event(session, copy.deepcopy(event))


@rows.run()
async def fork(side: Side) -> None:
    """Two branches of a session go on in turns."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = Ops(side)
    await ops.ask("q0")
    branches = [await ops.events() for _ in range(2)]
    for _ in range(2):
        for n in range(2):
            await replaced(ops, branches[n])
            await ops.ask(f"go on, branch {n}")
            branches[n] = await ops.events()


@rows.run()
async def user_trims(side: Side) -> None:
    """What the program took out of the session stays out: at the front, and in the middle."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = Ops(side)
    for n in range(4):
        await ops.ask(f"q{n}")
    for gone in (0, 1):
        events = [event for event in await ops.events() if event.content and event.content.parts]
        begun = [n for n, event in enumerate(events) if event.author == "user"]
        await replaced(ops, events[: begun[gone]] + events[begun[gone + 1] :])
        await ops.ask(f"without {gone}")
    await ops.ask("the end")


@rows.run()
async def two_sessions(side: Side) -> None:
    async def one(own: Side) -> None:
        own.script(*({"text": f"answer {n}"} for n in range(5)))
        ops = Ops(own)
        for n in range(5):
            await ops.ask(f"{n}")

    side.script({"text": "none"})
    await asyncio.gather(one(side.beside("a")), one(side.beside("b")))


@rows.run()
async def cancel(side: Side) -> None:
    side.script({"text": "zero"}, {"text": "slowly, word by word, goes this on and on", "slow": True}, {"text": "next"})
    ops = Ops(side)
    await ops.ask("q0")
    task = asyncio.create_task(ops.ask("q1", run_config=RunConfig(streaming_mode=StreamingMode.SSE)))
    await asyncio.sleep(0.7)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    await ops.ask("q2")


@rows.run()
async def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end"})
    await Ops(side).ask("go", run_config=RunConfig(max_llm_calls=500))


@rows.run()
async def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain"}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    ops = Ops(side)
    await ops.ask("weather?")
    ops.restart()
    await ops.ask("and in B?")


@rows.run()
async def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    ops = Ops(side)
    await ops.ask("q0")
    side.away()
    for n in (1, 2):
        await ops.ask(f"q{n}")
    side.back()
    for n in (3, 4):
        await ops.ask(f"q{n}")


@rows.turns()
async def turn(side: Side, history: Any, said: Any) -> Any:
    ops = Ops(side, lambda own: agent(own, tools=(weather, fails, shot)))
    await replaced(ops, history or [])
    await ops.ask(said[0], *(types.Part.from_bytes(data=media.data, mime_type=media.media_type) for media in said[1:]))
    return await ops.events()


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
