"""The agents of the examples, against providers that refuse what the real ones refuse."""

import ast
import signal
import subprocess
import sys

import pytest

from conftest import AGENTS, SIDECAR, WORDS
from palimpsest_context import Palimpsest

NAMES = sorted(path.stem for path in AGENTS.glob("*_*.py"))
CALLS = {"get_weather": 2, "web_search": 1, "fetch_log": 1, "retrieve_content": 1, "expand_message": 1, "search_conversation": 1}


def counted(source):
    """The lines of a program, but for imports, comments and what it says of itself."""
    tree = ast.parse(source)
    kept = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))][1:]
    lines = source.splitlines()
    return [lines[n - 1] for node in kept for n in range(node.lineno, node.end_lineno + 1) if lines[n - 1].strip().strip("#")]


@pytest.mark.parametrize("name", NAMES)
def test_agent_has_fifteen_lines(name):
    assert len(counted((AGENTS / f"{name}.py").read_text())) <= 15


def test_counted_lines_are_those_of_the_program():
    assert counted('"""Doc."""\nimport os\n\nx = 1\nfor y in x:\n    # why\n    print(y)\n') == ["x = 1", "for y in x:", "    # why", "    print(y)"]


@pytest.mark.parametrize("name", NAMES)
def test_agent_plays_to_its_end(agent, fakes, name):
    """Parallel calls, a megabyte, all tools that recall, a second question: seven calls of the model, none of them refused."""
    ran = agent(name, *WORDS)
    assert ran.returncode == 0, ran.stderr
    stats = fakes.stats()
    assert (stats["refusals"], stats["requests"], stats["calls"]) == ([], 7, CALLS)
    assert stats["largest_bytes"] < 64 << 10
    assert "certificate has expired" in ran.stdout


def replies(folder):
    """The messages on record after an agent has ended."""
    from palimpsest_context.v1 import conversation_service_pb2 as api

    with Palimpsest.local(SIDECAR, data_dir=str(folder)) as client:
        request = api.ListMessagesRequest(conversation_id="agent", max_reply_bytes=64 << 20)
        return list(client.raw.conversation.ListMessages(request).messages)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_stream")])
def test_stream_that_breaks_off_is_kept_and_the_next_run_goes_on(agent, fakes, tmp_path, name):
    broken = agent(name, WORDS[0], model="fake-abort")
    assert broken.returncode != 0
    kept = replies(tmp_path / "data")
    assert [list(message.tags) for message in kept] == [[], ["aborted"]]
    assert "search" not in [part.tool_call.name for part in kept[1].parts], "a call that broke off is no call"
    ran = agent(name, *WORDS)
    assert ran.returncode == 0, ran.stderr
    assert fakes.stats()["refusals"] == []
    assert "certificate has expired" in ran.stdout


SLOW = """
import os, sys, time
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import tools
def fetch_log(service):
    print("waiting", flush=True)
    time.sleep(60)
tools.TOOLS["fetch_log"] = fetch_log
sys.argv = sys.argv[1:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_agent")])
def test_agent_killed_between_reply_and_result_goes_on(agent, fakes, tmp_path, name):
    """The reply is on record before its tools run. Who comes after asks what waits, and runs it."""
    command = [sys.executable, "-c", SLOW, str(AGENTS / f"{name}.py"), str(tmp_path / "data"), WORDS[0]]
    killed = subprocess.Popen(command, env=fakes.environment(), stdout=subprocess.PIPE, text=True)
    assert killed.stdout.readline() == "waiting\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    asked = fakes.stats()["requests"]
    ran = agent(name, WORDS[1])
    assert ran.returncode == 0, ran.stderr
    stats = fakes.stats()
    assert stats["refusals"] == [] and stats["calls"]["fetch_log"] == 1, "the model is not asked for the call again"
    assert stats["requests"] > asked == 2
