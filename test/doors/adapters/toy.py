"""The toy that every framework plays: its tools, what it is asked, what the strict fakes saw of it, and what is on record of it."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Dict, List

from palimpsest_context import Palimpsest
from palimpsest_context.v1 import context_pb2, context_service_pb2, conversation_service_pb2, message_pb2

# Where the fakes and the sidecar of the tests are: the program that is killed is told too.
FAKES, SIDECAR = "PALIMPSEST_TEST_FAKES_AT", "PALIMPSEST_TEST_SIDECAR_AT"
# A process that has this set is killed by its first long tool: between the model's reply and the tool's result.
FRAIL = "PALIMPSEST_TEST_FRAIL"

POLICY = {"citations": {"enabled": True, "threshold_chars": 3000}}
SYSTEM = "You are terse."
QUESTION = "Find out why billing fails, and tell me the weather."
AGAIN = "Say that twice."
FATAL = "FATAL payment gateway refused certificate 7731"
MOST_TOKENS = 3000  # of a context that cites 1 MB of log, before usage is reported by which tokens are counted better
# What is on record of the first question, and then of the second.
FOUND = [
    "user",
    *("assistant", "call get_weather", "call web_search", "result", "result"),
    *("call fetch_log", "result"),
    *("call retrieve_content", "result"),
    *("call expand_message", "call search_conversation", "result", "result"),
    "assistant",
]
REPEATED = ["user", "assistant", "call get_weather", "result", "assistant"]


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"{city}: 14 degrees, light rain."


def web_search(q: str) -> str:
    """Searches the web."""
    return f"Nothing new about {q!r}."


def fetch_log(service: str) -> str:
    """Returns the log of a service."""
    if os.environ.get(FRAIL):
        os.kill(os.getpid(), signal.SIGKILL)
    lines = [f"2026-11-23T10:{i // 60 % 60:02}:{i % 60:02}Z INFO {service} worker {i} settled invoice {i * 7919}" for i in range(15_000)]
    lines[9_000] = f"2026-11-23T10:30:00Z {FATAL}"
    return "\n".join(lines)


TOOLS = (get_weather, web_search, fetch_log)


def base_url(path: str = "/v1") -> str:
    """Of the fakes, for OpenAI's APIs; Anthropic's has no path."""
    return f"http://{os.environ[FAKES]}{path}"


def client() -> Palimpsest:
    return Palimpsest(os.environ[SIDECAR])


def stats() -> Dict[str, Any]:
    """What the fakes counted since the last reset."""
    with urllib.request.urlopen(f"http://{os.environ[FAKES]}/stats", timeout=10) as answer:
        return json.load(answer)


def reset() -> None:
    urllib.request.urlopen(urllib.request.Request(f"http://{os.environ[FAKES]}/reset", method="POST"), timeout=10).close()


def played() -> None:
    """Checks that the fakes saw the whole toy, and refused nothing."""
    seen = stats()
    assert (seen["refused"], seen["refusals"]) == (0, [])
    once = ("web_search", "fetch_log", "retrieve_content", "expand_message", "search_conversation")
    assert (seen["requests"], seen["calls"]) == (7, {"get_weather": 2, **{tool: 1 for tool in once}})


def record(palimpsest: Palimpsest, conversation: str) -> List[str]:
    """What is on record and was not taken back, a word or two for each part but reasoning."""
    request = conversation_service_pb2.ListMessagesRequest(conversation_id=conversation, page_size=1000)
    messages = palimpsest.raw.conversation.ListMessages(request).messages
    shown = [message for message in messages if not message.view.hidden]
    return [told(message, part) for message in shown for part in message.parts if part.WhichOneof("content") not in ("reasoning", "opaque")]


def tokens(palimpsest: Palimpsest, conversation: str) -> int:
    """How much the model would be shown now."""
    request = context_service_pb2.BuildContextRequest(conversation_id=conversation, format=context_pb2.CONTEXT_FORMAT_OPENAI_CHAT, dry_run=True)
    return palimpsest.raw.context.BuildContext(request).tokens.total


def told(message: Any, part: Any) -> str:
    kind = part.WhichOneof("content")
    if kind == "tool_call":
        return f"call {part.tool_call.name}"
    if kind == "tool_result":
        return "result"
    return message_pb2.Role.Name(message.role)[len("ROLE_") :].lower()


def run_example(adapter: str, folder: Path, monkeypatch: Any, **names: Any) -> None:
    """Runs the example of an adapter's README as it stands there, in a folder, with a sidecar of its own."""
    readme = Path(__file__).parents[3] / "clients" / "adapters" / adapter / "README.md"
    example = re.search(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    assert example
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PALIMPSEST_BINARY", os.environ["PALIMPSEST_TEST_SIDECAR"])
    monkeypatch.setenv("OPENAI_BASE_URL", base_url())
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exec(compile(example[1], str(readme), "exec"), names)
    assert (stats()["calls"].get("fetch_log"), stats()["refused"]) == (1, 0)


def killed(program: str, *arguments: str) -> None:
    """Runs a program that its own tool kills."""
    died = subprocess.run([sys.executable, program, *arguments], env={**os.environ, FRAIL: "yes"}, capture_output=True, text=True, timeout=60)
    assert died.returncode == -signal.SIGKILL, died.stdout + died.stderr
