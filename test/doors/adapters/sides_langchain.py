"""LangChain's agents with and without the middleware: what each provider gets."""

from __future__ import annotations

import asyncio
import base64
import threading
from typing import Any, List

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import ToolException, tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command
from palimpsest_context.adapters.langchain import PalimpsestMiddleware
from pydantic import BaseModel
from side_by_side import IMAGE_SIZES, Rows, Side, pdf, png


rows = Rows(("openai", "responses", "anthropic", "gemini"))


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    rain: bool


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"Rain in {city}. " * 40


@tool
def fails(x: int) -> str:
    """Fails."""
    raise ToolException("the disk is full")


@tool
def shot(size: int) -> List[Any]:
    """Takes a picture of the screen."""
    return [{"type": "text", "text": "the screen"}, {"type": "image", "base64": encoded(png(size)), "mime_type": "image/png"}]


@tool("shot")
def shot_told(size: int) -> str:
    """Takes a picture of the screen, and tells where it is."""
    return f"screen-{size}.png"


@tool
def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


fails.handle_tool_error = True


def model(side: Side) -> Any:
    if side.api == "anthropic":
        thinking = {"type": "enabled", "budget_tokens": 1024}
        return ChatAnthropic(model=side.model, base_url=side.root, api_key="none", max_retries=0, max_tokens=4000, thinking=thinking)
    if side.api == "gemini":
        return ChatGoogleGenerativeAI(model=side.model, google_api_key="none", base_url=side.root, max_retries=0, include_thoughts=True)
    more: Any = {"use_responses_api": side.api == "responses"}
    if side.api == "responses":
        more |= {"store": False, "include": ["reasoning.encrypted_content"]}
    return ChatOpenAI(model=side.model, base_url=side.url, api_key="none", max_retries=0, stream_usage=True, **more)


class Ops:
    """An agent of a thread, and what is kept of its state when its process ends."""

    def __init__(self, side: Side, saver: Any = None, **options: Any) -> None:
        self.side, self.saver, self.options = side, saver or InMemorySaver(), options
        self.thread: Any = {"configurable": {"thread_id": side.thread}, "recursion_limit": 1000}
        self.make()

    def make(self) -> None:
        middleware = self.side.adapter(PalimpsestMiddleware)
        options = {"tools": [weather, fails, shot, pay], **self.options}
        more = options.pop("middleware", [])
        self.graph = create_agent(
            model(self.side), system_prompt="Be terse.", middleware=[*more, *([middleware] if middleware else [])], checkpointer=self.saver, **options
        )

    def restart(self) -> None:
        self.side.restart()
        self.make()

    def ask(self, said: Any, thread: Any = None) -> Any:
        return self.graph.invoke({"messages": [HumanMessage(said)]}, thread or self.thread)

    def messages(self) -> List[Any]:
        messages: List[Any] = self.graph.get_state(self.thread).values["messages"]
        return messages

    def before(self, n: int) -> Any:
        """The newest state in which so many messages stood, the last one being a user's."""
        states = [state for state in self.graph.get_state_history(self.thread) if len(state.values["messages"]) == n and state.next]
        return states[0]


def calls(*called: Any) -> Any:
    return {"thinking": "I look.", "calls": [{"name": name, "arguments": arguments} for name, arguments in called]}


@rows.run()
def text(side: Side) -> None:
    side.script({"text": "hello"}, {"text": "hello again"})
    ops = Ops(side)
    ops.ask("hi")
    ops.ask("and?")


@rows.run()
def parallel_calls(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"}), ("weather", {"city": "B"})), {"text": "rain", "thinking": "So it rains."})
    ops = Ops(side)
    ops.ask("weather?")
    ops.ask("sure?")


@rows.run()
def tool_error(side: Side) -> None:
    side.script(calls(("fails", {"x": 1}), ("weather", {"city": "A"})), calls(("fails", {"x": "no number"})), {"text": "it fails"})
    ops = Ops(side)
    ops.ask("try")
    ops.ask("again?")


@rows.run()
def streaming(side: Side) -> None:
    side.script({"text": "I look it up.", **calls(("weather", {"city": "A"}))}, {"text": "It rains in A.", "thinking": "Rain."})
    ops = Ops(side)
    assert sum(1 for _ in ops.graph.stream({"messages": [HumanMessage("weather?")]}, ops.thread, stream_mode="messages")) > 3
    ops.ask("sure?")


@rows.run()
def image_in(side: Side) -> None:
    side.script({"text": "a dot"})
    ops = Ops(side)
    ops.ask([{"type": "text", "text": "what is it?"}, {"type": "image", "base64": encoded(png(20_000)), "mime_type": "image/png"}])
    ops.ask("sure?")


rows.absent("image_out_of_a_tool", "the framework sends such an image in a message of the tool, which Chat Completions refuses", "openai")


@rows.run("responses", "anthropic", "gemini")
def image_out_of_a_tool(side: Side) -> None:
    ops = Ops(side)
    for size in IMAGE_SIZES:
        side.script(calls(("shot", {"size": size})), {"text": f"seen {size}", "thinking": "I see."})
        ops.ask(f"look at {size}")


@rows.run()
def pdf_twice_with_the_same_words(side: Side) -> None:
    side.script({"text": "read"})
    ops = Ops(side)
    files = [{"base64": encoded(pdf(seed)), "mime_type": "application/pdf", "filename": "a.pdf"} for seed in (1, 2)]
    if side.api in ("responses", "anthropic"):
        files.append({"url": "https://documents.example/a.pdf", "mime_type": "application/pdf"})
    for file in files:
        ops.ask([{"type": "text", "text": "Read it."}, {"type": "file", **file}])


@rows.run()
def equal_replies_with_other_reasoning(side: Side) -> None:
    side.script(*({"text": "OK", "thinking": f"thought {n}"} for n in range(3)))
    ops = Ops(side)
    for _ in range(3):
        ops.ask("Is it?")


@rows.run()
def structured_output(side: Side) -> None:
    wrong, right = calls(("Weather", {"city": 1})), calls(("Weather", {"city": "A", "rain": True}))
    side.script(wrong, right, right)
    ops = Ops(side, response_format=ToolStrategy(Weather))
    ops.ask("weather?")
    ops.ask("and now?")


def graph(side: Side, saver: Any, *names: str) -> Any:
    """Agents that share one state, one after the other."""
    middleware = side.adapter(PalimpsestMiddleware)
    built = StateGraph(MessagesState)
    for name in names:
        options = {"middleware": [middleware] if middleware else [], "name": name}
        built.add_node(name, create_agent(model(side), [weather], system_prompt=f"You are {name}.", **options))
        built.add_node(f"to {name}", lambda _: {"messages": [HumanMessage("Go on.")]})
    for name, before in zip(names, (START, *names)):
        built.add_edge(before, f"to {name}")
        built.add_edge(f"to {name}", name)
    return built.compile(checkpointer=saver)


@rows.run()
def handoff(side: Side) -> None:
    """Two agents go on with one state in turns."""
    side.script(calls(("weather", {"city": "A"})), *({"text": f"answer {n}"} for n in range(4)))
    saver = InMemorySaver()
    both = graph(side, saver, "triage", "billing")
    thread = {"configurable": {"thread_id": side.thread}}
    both.invoke({"messages": [HumanMessage("refund?")]}, thread)
    side.restart()
    graph(side, saver, "triage", "billing").invoke({"messages": [HumanMessage("and now?")]}, thread)


@rows.run()
def nested_agent(side: Side) -> None:
    """An agent runs another within a tool, twice side by side: a list of its own each time, in the same thread."""
    inner = side.beside("inner")
    asked = calls(("ask_inner", {"q": "1"}))
    side.script(asked, {"text": "done"}, asked, {"text": "done again"})
    inner.script({"text": "says inner"})
    middleware = side.adapter(PalimpsestMiddleware)
    helper = create_agent(model(inner), [weather], system_prompt="Help.", middleware=[middleware] if middleware else [], name="helper")

    @tool
    def ask_inner(q: str) -> str:
        """Asks another agent."""
        return str(helper.invoke({"messages": [HumanMessage(q)]})["messages"][-1].text)

    ops = Ops(side, tools=[ask_inner])
    ops.ask("hi")
    ops.ask("more")


@rows.run()
def swarm(side: Side) -> None:
    """Agents of one thread, each with a list of its own that begins anew for each task."""
    side.script({"text": "none"})
    middleware = side.adapter(PalimpsestMiddleware)
    agents = {}
    for name in ("research", "write"):
        side.beside(name).script(calls(("weather", {"city": "A"})), *({"text": f"{name} says {n}"} for n in range(4)))
        options = {"middleware": [middleware] if middleware else [], "name": name}
        agents[name] = create_agent(model(side.beside(name)), [weather], system_prompt=f"You {name}.", **options)

    def node(name: str) -> Any:
        def run(state: Any) -> Any:
            task = HumanMessage(f"Your task: {state['messages'][-1].text}")
            return {"messages": [AIMessage(agents[name].invoke({"messages": [task]})["messages"][-1].text)]}

        return run

    built = StateGraph(MessagesState)
    for name, before in (("research", START), ("write", "research")):
        built.add_node(name, node(name))
        built.add_edge(before, name)
    both = built.compile(checkpointer=InMemorySaver())
    for task in ("task one", "task two"):
        both.invoke({"messages": [HumanMessage(task)]}, {"configurable": {"thread_id": side.thread}})


def paused(side: Side) -> Ops:
    side.script(calls(("pay", {"amount": 1}), ("weather", {"city": "A"})), {"text": "paid"}, {"text": "yes"})
    ops = Ops(side, middleware=[HumanInTheLoopMiddleware(interrupt_on={"pay": True})])
    assert "__interrupt__" in ops.ask("pay 1")
    return ops


@rows.run()
def interrupt_and_resume(side: Side) -> None:
    """A run ends with a call that waits, and goes on in another process."""
    ops = paused(side)
    ops.restart()
    ops.graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), ops.thread)
    ops.ask("sure?")


@rows.run()
def approval(side: Side) -> None:
    """A call is edited by a person, and then one is refused."""
    ops = paused(side)
    edited = {"name": "pay", "args": {"amount": 2}}
    ops.graph.invoke(Command(resume={"decisions": [{"type": "edit", "edited_action": edited}]}), ops.thread)
    side.script(calls(("pay", {"amount": 3})), {"text": "so not"})
    ops.ask("and 3")
    ops.graph.invoke(Command(resume={"decisions": [{"type": "reject", "message": "no"}]}), ops.thread)
    ops.ask("sure?")


@rows.run()
def clear(side: Side) -> None:
    """The state is emptied, and the same thread begins anew, twice."""
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    for said in ("first", "second", "first"):
        ops.graph.invoke({"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage(said)]}, ops.thread)
        ops.ask("more")


def edited(ops: Ops, n: int, said: str) -> Any:
    """Goes on from where so many messages stood, the last of them in other words; the thread from then on."""
    state = ops.before(n)
    thread = ops.graph.update_state(state.config, {"messages": [HumanMessage(said, id=state.values["messages"][-1].id)]})
    ops.graph.invoke(None, thread)
    return thread


@rows.run()
def first_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    ops.ask("q0")
    edited(ops, 1, "q0 edited")
    ops.ask("q1")
    ops.restart()
    ops.ask("q2")


@rows.run()
def later_message_edited(side: Side) -> None:
    side.script(*({"text": f"answer {n}"} for n in range(6)))
    ops = Ops(side)
    for n in range(3):
        ops.ask(f"q{n}")
    edited(ops, 3, "q1 edited")
    ops.ask("q2")


@rows.run()
def fork(side: Side) -> None:
    """Two branches of a thread go on in turns."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = Ops(side)
    ops.ask("q0")
    trunk = ops.graph.get_state(ops.thread).config
    ends = [trunk, trunk]
    for _ in range(2):
        for branch in (0, 1):
            ops.ask(f"go on, branch {branch}", ends[branch])
            ends[branch] = next(iter(ops.graph.get_state_history(ops.thread))).config


@rows.run()
def user_trims(side: Side) -> None:
    """What the program took out of the state stays out: at the front, and in the middle."""
    side.script(*({"text": f"answer {n}"} for n in range(8)))
    ops = Ops(side)
    for n in range(4):
        ops.ask(f"q{n}")
    for removed in (slice(0, 2), slice(2, 4)):
        ops.graph.update_state(ops.thread, {"messages": [RemoveMessage(id=message.id) for message in ops.messages()[removed]]})
        ops.ask(f"without {removed.start}")
    ops.ask("the end")


@rows.run()
def two_sessions(side: Side) -> None:
    def one(own: Side) -> None:
        own.script(*({"text": f"answer {n}"} for n in range(5)))
        ops = Ops(own)
        for n in range(5):
            ops.ask(f"{n}")

    side.script({"text": "none"})
    threads = [threading.Thread(target=one, args=(side.beside(name),)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@rows.run()
async def cancel(side: Side) -> None:
    side.script({"text": "zero"}, {"text": "slowly, word by word, goes this on and on", "slow": True}, {"text": "next"})
    ops = Ops(side)
    await ops.graph.ainvoke({"messages": [HumanMessage("q0")]}, ops.thread)

    async def listen() -> None:
        async for _ in ops.graph.astream({"messages": [HumanMessage("q1")]}, ops.thread, stream_mode="messages"):
            pass

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.7)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ops.graph.ainvoke({"messages": [HumanMessage("q2")]}, ops.thread)


@rows.run()
def two_hundred_steps(side: Side) -> None:
    side.script(*(calls(("weather", {"city": f"c{n}"})) for n in range(side.steps)), {"text": "end"})
    Ops(side).ask("go")


@rows.run()
def restart_of_both(side: Side) -> None:
    side.script(calls(("weather", {"city": "A"})), {"text": "rain"}, calls(("weather", {"city": "B"})), {"text": "rain too"})
    ops = Ops(side)
    ops.ask("weather?")
    ops.restart()
    ops.ask("and in B?")


@rows.run()
def away_and_back(side: Side) -> None:
    side.script(*({"text": f"answer {n}", "thinking": f"thought {n}"} for n in range(6)))
    ops = Ops(side)
    ops.ask("q0")
    side.away()
    for n in (1, 2):
        ops.ask(f"q{n}")
    side.back()
    for n in (3, 4):
        ops.ask(f"q{n}")


def after_first_turn(history: List[Any]) -> List[Any]:
    said = [i for i, message in enumerate(history) if isinstance(message, HumanMessage)]
    return history[said[1] :] if len(said) > 1 else history


@rows.turns(trim=after_first_turn)
async def turn(side: Side, history: Any, said: Any) -> Any:
    kinds = {"image/png": {"type": "image"}, "application/pdf": {"type": "file", "filename": "a.pdf"}}
    media = [{**kinds[media.media_type], "base64": encoded(media.data), "mime_type": media.media_type} for media in said[1:]]
    # In Chat Completions, an image of a tool's is refused: see image_out_of_a_tool.
    ops = Ops(side, tools=[weather, fails, shot_told if side.api == "openai" else shot])
    asked = [*(history or ()), HumanMessage([{"type": "text", "text": said[0]}, *media] if media else said[0])]
    return ops.graph.invoke({"messages": asked}, ops.thread)["messages"]


test_side_by_side = rows.test()
test_drawn = rows.test_drawn()
test_speed = rows.test_speed()
