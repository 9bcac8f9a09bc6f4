"""A scenario is played twice, plain and with the adapter, each against a session of its own in the fakes, and what the provider got is compared
member by member.

    rows = Rows(("openai", "responses"), made_up=r"pyd_ai_[0-9a-f]{32}")

    @rows.run()  # under its name, for all of the adapter's APIs
    async def text(side: Side) -> None:
        side.script({"text": "hello"})
        await agent(side).run("hi")

    rows.absent("swarm", "the framework has none")
    test_side_by_side = rows.test()  # fails to be made while a scenario lacks its row
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, TypeVar

import pytest
import toy
from palimpsest_context import Palimpsest

T = TypeVar("T")
Body = Dict[str, Any]

SCENARIOS = (
    "text",
    "parallel_calls",
    "tool_error",
    "streaming",
    "image_in",
    "image_out_of_a_tool",  # of IMAGE_SIZES
    "pdf_twice_with_the_same_words",
    "equal_replies_with_other_reasoning",
    "structured_output",
    "handoff",
    "nested_agent",
    "swarm",
    "interrupt_and_resume",
    "approval",
    "clear",
    "first_message_edited",
    "later_message_edited",
    "fork",
    "user_trims",
    "two_sessions",
    "cancel",
    "two_hundred_steps",
    "restart_of_both",
    "away_and_back",
)
POLICIES = ("none", "balanced")
LONG = ("two_hundred_steps", "none")  # which takes long, and shows nothing that the other policy does not
# How the client is made for a scenario. In all others it raises, so that no list passes as it is unseen.
SETTINGS = {"away_and_back": {"on_unavailable": "pass"}}
IMAGE_SIZES = (10_000, 100_000, 400_000, 4_000_000)
# A model of each provider, of which the sidecar has a profile.
MODELS = {"openai": "gpt-6-sol", "responses": "gpt-6-sol", "anthropic": "claude-haiku-4-5", "gemini": "gemini-4-argon"}
LISTS = {"openai": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
RECALL = ("expand_message", "retrieve_content", "search_conversation")
MOST_ADDED = 10.0  # milliseconds a step
# What `two_hundred_steps` takes beside other tests: the time of frameworks grows with its square.
FEW_STEPS = 60
SHOWN = 200  # characters of a value that differs

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000" "1f15c4890000000d49444154789c6360f8cf500f0003060180" "5a347d6b0000000049454e44ae426082")


def png(size: int, seed: int = 0) -> bytes:
    """An image of about so many bytes: one pixel, and what no reader of images reads."""
    return PNG + bytes((i * 7919 + seed) % 251 for i in range(251)) * max(0, (size - len(PNG)) // 251)


def pdf(seed: int) -> bytes:
    return b"%PDF-1.4\n% document " + str(seed).encode() * 50 + b"\n%%EOF"


@dataclass(frozen=True)
class Media:
    media_type: str
    seed: int

    @property
    def data(self) -> bytes:
        return pdf(self.seed) if self.media_type == "application/pdf" else png(5_000, self.seed)


def drawn_calls(draw: random.Random, name: str) -> Body:
    """What a model asks of tools at once."""
    tools: List[Tuple[str, Body]] = [("weather", {"city": name}), ("fails", {"x": 1}), ("shot", {"size": 5_000})]
    called = [draw.choice(tools) for _ in range(draw.randint(1, 3))]
    return {
        "text": draw.choice(("", "I look.")),
        "thinking": draw.choice(("thought", f"thought {name}")),
        "calls": [{"name": tool, "arguments": arguments} for tool, arguments in called],
    }


class Sidecar:
    """A sidecar that keeps what it has on disk, so that it can go away and come back."""

    def __init__(self, policy: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="palimpsest-")
        self.address = f"unix://{self._folder.name}/p.sock"
        self._command = [os.environ["PALIMPSEST_TEST_SIDECAR"], "serve", "--store", "bolt", "--data-dir", self._folder.name + "/data"]
        self._command += ["--listen", self.address, "--default-policy", policy]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not self._listens():
            assert time.monotonic() < end, "the sidecar does not listen"
            time.sleep(0.005)

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(self.address[len("unix://") :]) == 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self.kill()
        self._folder.cleanup()


class Sidecars:
    """One for each policy, started when it is first wanted."""

    def __init__(self) -> None:
        self._running: Dict[str, Sidecar] = {}

    def __getitem__(self, policy: str) -> Sidecar:
        if policy not in self._running:
            self._running[policy] = Sidecar(policy)
        return self._running[policy]

    def end(self) -> None:
        for sidecar in self._running.values():
            sidecar.end()


class Side:
    """One run of a scenario: plain, where `palimpsest` is None, or with the adapter.

    `thread` is what the framework's thread, session or run is to be named by. `url` is the base of OpenAI's APIs, `root` that of the others'.
    """

    def __init__(self, api: str, sidecar: Optional[Sidecar], **settings: Any) -> None:
        self.api, self.model = api, MODELS[api]
        self.thread = f"side-{uuid.uuid4().hex}"
        self._sidecar, self._settings = sidecar, settings
        self.steps = 200 if os.environ.get("PALIMPSEST_TEST_SPEED") else FEW_STEPS
        # What all models of the run share.
        self._made: Dict[Any, Any] = {}
        self._ids = "n"
        self._names: List[str] = [self.thread]
        self._connected: List[Palimpsest] = []
        self._connect()

    def _connect(self) -> None:
        if self._sidecar:
            self._connected[:] = [Palimpsest(self._sidecar.address, **self._settings)]

    @property
    def palimpsest(self) -> Optional[Palimpsest]:
        return self._connected[0] if self._connected else None

    @property
    def plain(self) -> bool:
        return self._sidecar is None

    @property
    def root(self) -> str:
        return fakes(self.thread)

    @property
    def url(self) -> str:
        return self.root + "/v1"

    def script(self, *answers: Body) -> None:
        """What the model answers from now on, one request after the other; the last one to all that come then. An answer has text, thinking,
        calls (name and arguments), ids (Gemini's calls have ids), slow, cut, status: see `line` of the fakes."""
        posted(f"{self.root}?ids={self._ids}", "PUT", answers)

    def beside(self, name: str) -> Side:
        """Another model for this run, with a script and requests of its own, on the same sidecar: another agent's, or another session's."""
        other = Side.__new__(Side)
        other.__dict__.update(self.__dict__)
        other.thread, other._ids = f"{self._names[0]}-{name}", name
        if other.thread not in self._names:
            self._names.append(other.thread)
        return other

    def adapter(self, make: Callable[..., T], *arguments: str) -> Optional[T]:
        """The adapter of this run: made once with these arguments, and again after a restart. None where the run is plain."""
        if self.palimpsest is None:
            return None
        if (make, arguments) not in self._made:
            self._made[make, arguments] = make(self.palimpsest, *arguments)
        made: T = self._made[make, arguments]
        return made

    def restart(self) -> None:
        """Both begin anew: the sidecar is killed, and what the agent's process held is gone."""
        self._made.clear()
        self.away()
        self.back()
        if self.palimpsest:
            self.palimpsest.close()
        self._connect()

    def away(self) -> None:
        if self._sidecar:
            self._sidecar.kill()

    def back(self) -> None:
        if self._sidecar:
            self._sidecar.start()

    def requests(self) -> List[List[Body]]:
        """What the provider was sent, model by model: path, body, faults, at."""
        return [answered(fakes(name) + "/requests") for name in self._names]

    def end(self) -> None:
        for name in self._names:
            posted(fakes(name), "DELETE", None)
        if self.palimpsest:
            self.palimpsest.close()


def fakes(session: str) -> str:
    return f"http://{os.environ[toy.FAKES]}/s/{session}"


def answered(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def posted(url: str, method: str, value: Any) -> None:
    body = json.dumps(value).encode()
    urllib.request.urlopen(urllib.request.Request(url, body, method=method), timeout=60).close()


class Rows:
    """The table of an adapter: for each scenario and each API that it speaks, how it is run, or why there is no such thing.

    `made_up` is what the framework draws by chance, such as ids of calls that their provider gave none: the same on both sides in the order of
    first appearance. `but` are further differences that are allowed, each a function over both bodies whose comment tells why.
    """

    def __init__(self, apis: Sequence[str], made_up: str = "", but: Sequence[Callable[[str, Body, Body], None]] = ()) -> None:
        self.apis = tuple(apis)
        self._made_up, self._but = made_up, (*ALLOWED, *but)
        self._runs: Dict[Tuple[str, str], Callable[[Side], Any]] = {}
        self._absent: Dict[Tuple[str, str], str] = {}
        self._turn: Any = None
        self._trim: Any = None

    def run(self, *apis: str, name: str = "") -> Callable[[Callable[[Side], Any]], Callable[[Side], Any]]:
        """The scenario of a function's name, for some of the APIs or for all."""

        def add(function: Callable[[Side], Any]) -> Callable[[Side], Any]:
            self._runs.update({(scenario_of(name or function.__name__), api): function for api in apis or self.apis})
            return function

        return add

    def absent(self, scenario: str, reason: str, *apis: str) -> None:
        """Nobody who uses the framework can do that."""
        self._absent.update({(scenario_of(scenario), api): reason for api in apis or self.apis})

    def lacking(self) -> List[Tuple[str, str]]:
        wanted = [(scenario, api) for scenario in SCENARIOS for api in self.apis]
        return [row for row in wanted if row not in self._runs and not self._absent.get(row)]

    def test(self) -> Callable[..., None]:
        assert not self.lacking(), f"scenarios without a row: {self.lacking()}"
        rows = [(scenario, api, policy) for scenario, api in self._runs for policy in POLICIES if (scenario, policy) != LONG]

        @pytest.mark.parametrize("scenario, api, policy", rows)
        def side_by_side(scenario: str, api: str, policy: str, fakes: None, sidecars: Sidecars) -> None:
            self.compared(self._runs[scenario, api], api, policy, sidecars, **SETTINGS.get(scenario, {}))

        return side_by_side

    def turns(self, trim: Optional[Callable[[Any], Any]] = None) -> Callable[[T], T]:
        """How a drawn run goes on: `turn(side, history, said)` has the user say something, by what was kept of a history or None, with the tools
        weather, fails and shot, and returns the history then; one that went on before may go on again. `said` is a text, and Media behind it.
        `trim` takes a turn out of a history's front."""

        def add(function: T) -> T:
            self._turn, self._trim = function, trim
            return function

        return add

    def test_drawn(self) -> Callable[..., None]:
        """So many runs as PALIMPSEST_DRAWN says, from PALIMPSEST_SEED on: mixed, on all APIs and policies in turn."""

        def drawn(fakes: None, sidecars: Sidecars) -> None:
            first, count = int(os.environ.get("PALIMPSEST_SEED", "0")), int(os.environ.get("PALIMPSEST_DRAWN", "4"))
            failed = []
            for seed in range(first, first + count):
                api, policy = self.apis[seed % len(self.apis)], POLICIES[seed // len(self.apis) % len(POLICIES)]
                try:
                    self.compared(lambda side: self._drawn(side, seed), api, policy, sidecars)
                except Exception as failure:
                    failed.append(f"PALIMPSEST_SEED={seed} ({api}, {policy}): {type(failure).__name__}: {str(failure)[:600]}")
            print(f"{count} drawn runs, {len(failed)} with a request that was refused, changed or lost")
            assert not failed, f"{len(failed)} of {count} drawn runs:\n" + "\n".join(failed[:20])

        return drawn

    async def _drawn(self, side: Side, seed: int) -> None:
        draw = random.Random(seed)
        histories: List[Any] = [None]
        for n in range(draw.randint(3, 9)):
            rounds = [drawn_calls(draw, f"{n}.{i}") for i in range(draw.choice((0, 0, 1, 1, 2)))]
            side.script(*rounds, {"text": draw.choice(("OK", f"answer {n}")), "thinking": draw.choice((f"thought {n}", "thought"))})
            said: List[Any] = [draw.choice(("Read it.", f"question {n}"))]
            said += [Media(draw.choice(("image/png", "application/pdf")), draw.randint(1, 3)) for _ in range(draw.choice((0, 0, 0, 1, 2)))]
            # Mostly the newest goes on; or it is edited, forked, or begun again.
            history = histories[-1] if draw.random() < 0.7 else draw.choice(histories)
            if history is not None and self._trim and draw.random() < 0.1:
                history = self._trim(history)
            if draw.random() < 0.15:
                side.restart()
            histories.append(await self._turn(side, history, said))

    def test_speed(self) -> Callable[..., None]:
        """What a step takes longer, at two hundred steps; and what the provider gets then."""

        @pytest.mark.skipif(not os.environ.get("PALIMPSEST_TEST_SPEED"), reason="bars of milliseconds mean nothing beside other work")
        @pytest.mark.parametrize("api", self.apis)
        def speed(api: str, fakes: None, sidecars: Sidecars) -> None:
            self.compared(self._runs["two_hundred_steps", api], api, "balanced", sidecars)
            plain, ours = added_per_step(self._runs["two_hundred_steps", api], api, "balanced", sidecars)
            print(f"{api}: a step takes {plain:.1f} ms plain, {ours:.1f} ms with the adapter (p50)")
            assert ours - plain <= MOST_ADDED

        return speed

    def compared(self, function: Callable[[Side], Any], api: str, policy: str, sidecars: Sidecars, **settings: Any) -> None:
        """Plays both sides, and holds them together."""
        plain = played(function, Side(api, None))
        ours = played(function, Side(api, sidecars[policy], **settings))
        assert [len(requests) for requests in ours] == [len(requests) for requests in plain], "the model is not asked as often"
        for ours_of_one, plain_of_one in zip(ours, plain):
            for n, (our, their) in enumerate(zip(self.named(ours_of_one), self.named(plain_of_one))):
                assert not their["faults"], f"request {n} is refused even plain: {their['faults']}"
                assert not our["faults"], f"request {n} is refused: {our['faults']}"
                assert our["path"].split("/", 3)[3] == their["path"].split("/", 3)[3]
                self.same(n, api, policy, their["body"], our["body"])

    def named(self, requests: List[Body]) -> List[Body]:
        """The requests with what is drawn by chance named by when it first appears."""
        if not self._made_up:
            return requests
        names: Dict[str, str] = {}
        told = re.sub(self._made_up, lambda found: names.setdefault(found[0], f"drawn-{len(names)}"), json.dumps(requests))
        read: List[Body] = json.loads(told)
        return read

    def same(self, n: int, api: str, policy: str, plain: Body, ours: Body) -> None:
        for allowed in self._but:
            allowed(api, plain, ours)
        if policy == "none":
            found = list(differences(plain, ours, ""))
        else:
            theirs, mine = plain.pop(LISTS[api], []), ours.pop(LISTS[api], [])
            found = [*differences(plain, ours, ""), *shrunk(api, theirs, mine)]
        assert not found, f"request {n} differs:\n" + "\n".join(found[:20])


def scenario_of(name: str) -> str:
    assert name in SCENARIOS, f"there is no scenario {name}"
    return name


def played(function: Callable[[Side], Any], side: Side) -> List[List[Body]]:
    try:
        outcome = function(side)
        if inspect.isawaitable(outcome):
            asyncio.run(awaited(outcome))
        return side.requests()
    finally:
        side.end()


async def awaited(outcome: Any) -> None:
    await outcome


# Differences that are allowed. Each takes what it allows out of both bodies.


def recall_tools(api: str, plain: Body, ours: Body) -> None:
    """The tools by which the model gets text back stand behind the agent's own; behind them only what a framework puts last by itself."""
    if api == "gemini":
        for tool in ours.get("tools", ()):
            if "functionDeclarations" in tool:
                tool["functionDeclarations"] = own_tools(tool["functionDeclarations"])
        ours["tools"] = [tool for tool in ours.get("tools", ()) if tool.get("functionDeclarations") != []]
        calling = ours.get("toolConfig", {}).get("functionCallingConfig", {})
        if "allowedFunctionNames" in calling:
            calling["allowedFunctionNames"] = [name for name in calling["allowedFunctionNames"] if name not in RECALL]
    else:
        ours["tools"] = own_tools(ours.get("tools", []))
    if not ours["tools"]:  # What frameworks say of tools where there are any.
        for member in ("tools", "tool_choice", "parallel_tool_calls", "toolConfig"):
            ours.pop(member, None)


def own_tools(tools: List[Any]) -> List[Any]:
    return [tool for tool in tools if (tool.get("function") or tool).get("name") not in RECALL]


def cache_marks(api: str, plain: Body, ours: Body) -> None:
    """Marks for the provider's cache say nothing to the model, and move with what they mark."""
    for body in (plain, ours):
        unmarked(body)


ALLOWED = (recall_tools, cache_marks)


def unmarked(value: Any) -> None:
    if isinstance(value, dict):
        value.pop("cache_control", None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        unmarked(inner)


def differences(plain: Any, ours: Any, at: str) -> Iterator[str]:
    """Where two values differ: the way there, and the beginnings of both."""
    if isinstance(plain, dict) and isinstance(ours, dict):
        for key in [*plain, *(key for key in ours if key not in plain)]:
            yield from differences(plain.get(key, ...), ours.get(key, ...), f"{at}.{key}")
    elif isinstance(plain, list) and isinstance(ours, list) and len(plain) == len(ours):
        for i, (one, other) in enumerate(zip(plain, ours)):
            yield from differences(one, other, f"{at}[{i}]")
    elif plain != ours:
        yield f"{at}: plain {told(plain)}, ours {told(ours)}"


def told(value: Any) -> str:
    text = "nothing" if value is ... else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ({len(text)} characters)"


def shrunk(api: str, plain: List[Any], ours: List[Any]) -> Iterator[str]:
    """What is not whole is smaller, and what a user said is there, or in a summary."""
    one, other = ([json.dumps(element, sort_keys=True) for element in elements] for elements in (plain, ours))
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind != "equal" and sum(map(len, other[c:d])) >= sum(map(len, one[a:b])):
            yield from differences(plain[a:b], ours[c:d], f"elements from {a} on, which are not smaller")
    made = [element for element in other if element not in one]  # a word of one's own text is no summary
    lost = [words for words in said(api, plain) if words not in said(api, ours) and not told_of(words, made)]
    yield from (f"a user's words are lost: {told(words)}" for words in lost)


def told_of(words: Any, elements: List[str]) -> bool:
    """Whether a summary has the words."""
    text = words if isinstance(words, str) else words.get("text")
    return bool(text) and any(json.dumps(text)[1:-1] in element for element in elements)


def said(api: str, elements: List[Any]) -> List[Any]:
    """What users said: texts, images, files."""
    parts = []
    for element in elements:
        if isinstance(element, dict) and element.get("role") == "user":
            content = element.get("parts" if api == "gemini" else "content") or []
            parts += [content] if isinstance(content, str) else content
    return [part for part in parts if isinstance(part, str) or part.get("type") != "tool_result" and "functionResponse" not in part]


def duplicates(api: str, body: Body) -> List[str]:
    """Ids of items that are there twice, in a request to Responses."""
    ids = [item["id"] for item in body.get("input", ()) if isinstance(item, dict) and item.get("id")] if api == "responses" else []
    return [id for id in ids if ids.count(id) > 1]


def step_times(requests: List[Body]) -> List[float]:
    """Milliseconds from each request to the next."""
    at = [request["at"] for request in requests]
    return [(later - earlier) / 1e6 for earlier, later in zip(at, at[1:])]


def added_per_step(function: Callable[[Side], Any], api: str, policy: str, sidecars: Sidecars, rounds: int = 3) -> Tuple[float, float]:
    """The median of a step's milliseconds, plain and with the adapter, in turns within the same minute."""
    begun, times = time.monotonic(), {True: [], False: []}  # type: Tuple[float, Dict[bool, List[float]]]
    for _ in range(rounds):
        for sidecar in (None, sidecars[policy]):
            times[sidecar is None] += step_times(played(function, Side(api, sidecar))[0])
        if time.monotonic() - begun > 60:
            break
    plain, ours = (sorted(times[key])[len(times[key]) // 2] for key in (True, False))
    return plain, ours
