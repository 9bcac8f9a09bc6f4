"""A sidecar for each test, and the fakes' counts from zero."""

import uuid

import pytest
import toy
from palimpsest_context import Palimpsest


@pytest.fixture
def palimpsest():
    toy.reset()
    with Palimpsest.local() as client:
        yield client


@pytest.fixture
def name():
    """A conversation of the test's own."""
    return f"toy-{uuid.uuid4()}"
