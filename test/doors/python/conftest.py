"""A sidecar, the providers' fakes, and a sidecar that does as a test says.

PALIMPSEST_TEST_SIDECAR and PALIMPSEST_TEST_FAKES name the binaries, PALIMPSEST_TEST_WHEEL the package.
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
AGENTS = ROOT / "examples" / "python" / "agents"
SIDECAR = os.environ.get("PALIMPSEST_TEST_SIDECAR", str(ROOT / "bin" / "test-sidecar"))


class Fakes:
    """The fake providers, at an address."""

    def __init__(self, address):
        self.url = "http://" + address

    def stats(self):
        with urllib.request.urlopen(self.url + "/stats", timeout=10) as reply:
            return json.load(reply)

    def environment(self, model="fake"):
        """What the SDKs and the agents are told by the environment."""
        return {
            **os.environ,
            "PALIMPSEST_BINARY": SIDECAR,
            "MODEL": model,
            "OPENAI_BASE_URL": self.url + "/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "none",
            "PYTHONUTF8": "1",
        }


@pytest.fixture
def fakes():
    """Fakes of this test alone, so that what they counted is its own."""
    process = subprocess.Popen([os.environ["PALIMPSEST_TEST_FAKES"], "-listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        yield Fakes(process.stdout.readline().rpartition(" ")[2].strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def client():
    """A client of a sidecar that the tests share, each with conversations of its own."""
    from palimpsest_context import Palimpsest

    with Palimpsest.local(SIDECAR) as opened:
        yield opened


@pytest.fixture
def agent(fakes, tmp_path):
    """Runs an agent of the examples to its end."""

    def run(name, *words, model="fake", **more):
        command = [sys.executable, str(AGENTS / (name + ".py")), str(tmp_path / "data"), *words]
        return subprocess.run(command, env=fakes.environment(model), capture_output=True, text=True, timeout=60, **more)

    return run
