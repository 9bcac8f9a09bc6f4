"""A client of the sidecar that the tests share, a conversation of each test's own, and the fakes' counts from zero."""

import uuid
from typing import Iterator

import pytest
import toy
from palimpsest_context import Palimpsest


@pytest.fixture
def palimpsest() -> Iterator[Palimpsest]:
    toy.reset()
    with Palimpsest(toy.ADDRESS) as client:
        yield client


@pytest.fixture
def name() -> str:
    return f"toy-{uuid.uuid4()}"
