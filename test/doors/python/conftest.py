"""A sidecar, the providers' fakes, and a sidecar that does as a test says.

PALIMPSEST_TEST_SIDECAR and PALIMPSEST_TEST_FAKES name the binaries, PALIMPSEST_TEST_WHEEL the package.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import grpc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
AGENTS = ROOT / "examples" / "python" / "agents"
WORDS = ("Find out why billing fails, and tell me the weather.", "Say that twice.")  # the toy answers these
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


class Scripted:
    """A sidecar that does as a test says: `behaves` gives what each of its methods answers, and may refuse."""

    def __init__(self, version="dev"):
        self.version, self.behaves, self.requests = version, {}, []
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers((self,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, details):
        method = details.method.rpartition("/")[2]

        def answer(request, context):
            context.send_initial_metadata((("palimpsest-version", self.version),))
            if method == "Check":
                return b"\x08\x01"
            self.requests.append((method, request, dict(context.invocation_metadata())))
            return self.behaves[method](request, context)

        return grpc.unary_unary_rpc_method_handler(answer)

    def close(self):
        self._server.stop(None).wait()


def refusal(code, reason="", metadata=None, violations=()):
    """What a sidecar that refuses does: the details are Google's own, under the names that they have on the wire."""
    from palimpsest_context.v1 import status_pb2

    status = status_pb2.Status(code=code.value[0], message="no")
    if reason:
        info = status_pb2.ErrorInfo(reason=reason, domain="palimpsest.dev", metadata=metadata or {})
        status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=info.SerializeToString())
    if violations:
        faults = [status_pb2.BadRequest.FieldViolation(field=field, description=words) for field, words in violations]
        bad = status_pb2.BadRequest(field_violations=faults)
        status.details.add(type_url="type.googleapis.com/google.rpc.BadRequest", value=bad.SerializeToString())

    def refuse(_, context):
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(code, "no")

    return refuse


@pytest.fixture
def scripted():
    server = Scripted()
    yield server
    server.close()
