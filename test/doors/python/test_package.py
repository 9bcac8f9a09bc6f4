"""The package as it is built: what is in it, and what it runs beside."""

import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

import palimpsest_context
from conftest import ROOT, SIDECAR
from palimpsest_context import aio

WHEEL = os.environ["PALIMPSEST_TEST_WHEEL"]
# The oldest versions that the package runs with, and the protoc that its stubs were made with.
OLDEST = str(ROOT / "bin" / "python-gen-venv" / "bin" / "python")


def test_wheel_is_small_and_whole():
    assert os.path.getsize(WHEEL) <= 150_000
    names = zipfile.ZipFile(WHEEL).namelist()
    tools = {os.path.basename(name) for name in os.listdir(ROOT / "clients" / "tools") if name.endswith(".json")}
    assert {os.path.basename(name) for name in names if name.startswith("palimpsest_context/tools/")} == tools
    assert "palimpsest_context/py.typed" in names and any(name.endswith("licenses/LICENSE") for name in names)


def test_sources_are_of_python_3_9():
    for name in zipfile.ZipFile(WHEEL).namelist():
        if name.endswith(".py") and "/adapters/" not in name:
            ast.parse(zipfile.ZipFile(WHEEL).read(name), name, feature_version=(3, 9))


def test_signatures_name_no_stubs():
    for module in (palimpsest_context, aio):
        for kind in (module.Palimpsest, module.Conversation, module.Stream):
            for name, member in inspect.getmembers(kind, inspect.isfunction):
                assert "pb2" not in str(inspect.signature(member)), name


def test_tools_are_those_of_the_clients(client):
    for format in ("openai", "responses", "anthropic", "gemini"):
        assert len(client.tools(format)) == 3 and len(client.tools(format, memory=True)) == 4
    with pytest.raises(ValueError):
        client.tools("neutral")


SMALL = """
import sys
from palimpsest_context import Palimpsest, InvalidFieldError
with Palimpsest.local(sys.argv[1]) as p:
    c = p.conversation("c", policy={"citations": {"enabled": True}})
    c.user("Kraków?")
    assert c.openai(model="m", system="s")["messages"][-1] == {"role": "user", "content": "Kraków?"}
    try:
        p.conversation("", title="x").waiting()
    except InvalidFieldError as error:
        assert error.violations
"""
BESIDE = """
from palimpsest.v1 import message_pb2, context_service_pb2, context_service_pb2_grpc
assert message_pb2.Message(id="x").id == "x"
"""


def stubs(folder, change=lambda text: text):
    """What a program generates for itself from the protos, as they are or as they once were."""
    protos = folder / "protos" / "palimpsest" / "v1"
    protos.mkdir(parents=True)
    for file in (ROOT / "proto" / "palimpsest" / "v1").glob("*.proto"):
        (protos / file.name).write_text(change(file.read_text()))
    out = folder / "stubs"
    out.mkdir()
    command = [OLDEST, "-W", "ignore", "-m", "grpc_tools.protoc", "-I", str(folder / "protos"), f"--python_out={out}", f"--grpc_python_out={out}"]
    subprocess.run([*command, *map(str, protos.glob("*.proto"))], check=True)
    return str(out)


def older(text):
    return re.sub(r"(?m)^  (string name = 19|string request_json = 6);\n", "", text)


@pytest.mark.parametrize("python", [OLDEST, sys.executable], ids=["oldest", "newest"])
def test_runs_beside_stubs_of_the_programs_own(tmp_path, python):
    """Of the same protos and of older ones, imported before the package and after it."""
    for name, change in {"same": lambda text: text, "older": older}.items():
        path = os.pathsep.join([WHEEL, stubs(tmp_path / name, change)])
        for program in (SMALL + BESIDE, BESIDE + SMALL):
            subprocess.run([python, "-c", program, SIDECAR], env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}, check=True)


TYPED = """
from typing import List
from palimpsest_context import Call, Conversation, Palimpsest, PalimpsestError
from palimpsest_context import aio

def run(conversation: Conversation, reply: object) -> List[Call]:
    try:
        return conversation.add(reply)
    except PalimpsestError as error:
        print(error.reason.lower(), [violation.field for violation in error.violations])
        raise

async def loop(conversation: aio.Conversation) -> str:
    return str((await conversation.openai(model="m"))["messages"])

with Palimpsest("unix:///s.sock", token="t", timeout=5) as client:
    run(client.conversation("c", policy={"citations": {"enabled": True}}), {})
"""
WRONG = 'from palimpsest_context import Palimpsest\nPalimpsest("x").conversation("c").openai(system="no model")\n'


def test_types_hold(tmp_path):
    """Those of the package; a strict program that uses it passes, and one that is wrong does not."""
    package = ROOT / "clients" / "python"
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(TYPED)
    wrong.write_text(WRONG)
    sources = [str(file) for file in (package / "src" / "palimpsest_context").glob("*.py")]
    installed = [str(file) for file in pathlib.Path(palimpsest_context.__file__).parent.glob("*.py")]
    cache = str(ROOT / "bin" / "doors-venv" / "mypy-cache")
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", cache]
    checks = {
        "mypy of programs": [*mypy, "--strict", str(right), str(wrong)],
        "mypy of the package": [*mypy, "--config-file", str(package / "pyproject.toml"), *sources],
        "pyright": [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--pythonversion", "3.9", *installed, str(right), str(wrong)],
    }
    for name, command in checks.items():
        said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
        faults = [line for line in said.splitlines() if " error: " in line or " - error" in line]
        assert all("wrong.py" in fault for fault in faults), f"{name}: {said}"
        assert bool(faults) == (name != "mypy of the package"), f"{name}: {said}"
