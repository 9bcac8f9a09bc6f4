"""The fakes and a sidecar that the tests of one framework share, and a conversation of each test's own.

PALIMPSEST_TEST_SIDECAR and PALIMPSEST_TEST_FAKES name the binaries.
"""

import os
import subprocess
import tempfile
import uuid
from collections.abc import Iterator

import pytest
import toy
from palimpsest_context import Palimpsest
from side_by_side import Sidecars


@pytest.fixture(scope="session")
def fakes() -> Iterator[None]:
    with subprocess.Popen([os.environ["PALIMPSEST_TEST_FAKES"], "-listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        os.environ[toy.FAKES] = process.stdout.readline().rpartition(" ")[2].strip()
        yield
        process.kill()


@pytest.fixture(scope="session")
def sidecar() -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-") as folder:
        os.environ[toy.SIDECAR] = f"unix://{folder}/p.sock"
        arguments = ["serve", "--store", "memory", "--listen", os.environ[toy.SIDECAR]]
        with subprocess.Popen([os.environ["PALIMPSEST_TEST_SIDECAR"], *arguments], stderr=subprocess.DEVNULL) as process:
            yield
            process.terminate()


@pytest.fixture(scope="session")
def sidecars() -> Iterator[Sidecars]:
    running = Sidecars()
    yield running
    running.end()


@pytest.fixture
def palimpsest(fakes: None, sidecar: None) -> Iterator[Palimpsest]:
    """A client, and the fakes' counts from zero."""
    toy.reset()
    with toy.client() as client:
        yield client


@pytest.fixture
def name() -> str:
    return f"toy-{uuid.uuid4()}"
