"""What is large, what is refused, and what goes on while the sidecar is away."""

import json
import signal
import subprocess
import time
import uuid

import grpc
import pytest

import palimpsest_context
from conftest import SIDECAR, refusal
from palimpsest_context import LocalSidecarError, Palimpsest, PalimpsestError
from palimpsest_context import _sizes as sizes
from palimpsest_context.v1 import content_service_pb2
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import context_service_pb2 as api
from test_conversation import chat

CITE = {"citations": {"enabled": True}}
LINE = "a line of a log that says little\n"
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def fresh():
    return f"s-{uuid.uuid4()}"


def log(megabytes):
    return LINE * (megabytes * (1 << 20) // len(LINE))


def calls(n):
    return chat(None, *((f"c{i}", "log", {"n": i}) for i in range(n)))


def kept(client, id):
    return list(client.raw.conversation.ListMessages(record.ListMessagesRequest(conversation_id=id, max_reply_bytes=64 << 20)).messages)


@pytest.fixture
def small(monkeypatch):
    """Limits that a test reaches with less."""
    for name, size in {"REQUEST": 20_000, "LARGEST_ITEM": 40_000, "LONG": 4_000, "ITEMS": 7}.items():
        monkeypatch.setattr(sizes, name, size)


def test_what_waits_goes_in_parts_in_order(client, small):
    conversation = client.conversation(fresh())
    said = [f"{n} " + "x" * (n * 997 % 9000) for n in range(40)]
    for words in said:
        conversation.user(words)
    conversation.openai(model="m")
    assert [message.parts[0].text for message in kept(client, conversation.id)] == said


def test_results_of_any_size_go_on_record(client, small):
    """Of what is too large for a request the model sees a citation, from which it gets the text back."""
    conversation = client.conversation(fresh(), policy=CITE)
    conversation.user("Go.")
    conversation.openai(model="m")
    texts = [f"{n}\n" + LINE * 3000 for n in range(3)]
    conversation.answer(conversation.add(calls(3)), {"log": lambda n: texts[n]})
    request = conversation.openai(model="m")
    assert len(json.dumps(request)) < 20_000
    for n, message in enumerate(kept(client, conversation.id)[2:]):
        source = message.parts[0].tool_result.recalled_from.content_id
        stored = client.raw.content.StreamContent(content_service_pb2.StreamContentRequest(conversation_id=conversation.id, content_id=source))
        assert b"".join(piece.chunk for piece in stored).decode() == texts[n]


FORMS = {
    "openai": lambda text: {"role": "tool", "tool_call_id": "a", "content": text},
    "responses": lambda text: {"type": "function_call_output", "call_id": "a", "output": text},
    "anthropic": lambda text: {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": text}]}]},
    "gemini": lambda text: {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "log", "response": {"lines": [text, "end"]}}}]},
}
CALLS = {
    "openai": {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "log", "arguments": "{}"}}]},
    "responses": {"type": "function_call", "call_id": "a", "name": "log", "arguments": "{}"},
    "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "log", "input": {}}]},
    "gemini": {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "log", "args": {}}}]},
}


@pytest.mark.parametrize("format", FORMS)
def test_list_of_any_size_goes_on_after_a_restart(client, small, format):
    """Its large results are stored, the rest goes in parts, and who comes anew is answered as before."""
    first = {"role": "user", "parts": [{"text": "Go."}]} if format == "gemini" else {"role": "user", "content": "Go."}
    said = [first, CALLS[format], FORMS[format](LINE * 3000)]
    for n in range(30):
        said += [CALLS[format], FORMS[format](f"{n} " + "y" * 3000)]
    id = fresh()
    pieces = client.conversation(id, policy=CITE).view(said, format=format)
    assert [piece.kind for piece in pieces if 2 in piece.indexes] == ["changed"]
    shown = json.dumps([piece.shown for piece in pieces if 2 in piece.indexes])
    assert "retrieve_content" in shown and len(shown) < 6000
    recorded = len(kept(client, id))
    for _ in range(2):
        said += [CALLS[format], FORMS[format]("more")]
        again = client.conversation(id).view(said, format=format)
        assert sorted(index for piece in again for index in piece.indexes) == list(range(len(said)))
        recorded += 2
    messages = kept(client, id)
    assert len(messages) == recorded and not any(message.view.hidden for message in messages)


def test_what_is_refused_is_given_back_and_the_rest_goes_on(client):
    conversation = client.conversation(fresh())
    conversation.user("one")
    conversation.message({"content": "nobody's"}, format="openai")
    conversation.user("two")
    conversation.result("nobody", "asked")
    conversation.user("three")
    with pytest.raises(PalimpsestError) as caught:
        conversation.flush()
    refused = caught.value.refused
    assert [one.index for one in refused] == [1, 3] and all(one.message for one in refused)
    assert json.loads(refused[0].item.provider_input.json) == {"content": "nobody's"}
    assert refused[1].item.message.parts[0].tool_result.text == "asked"
    assert [message.parts[0].text for message in kept(client, conversation.id)] == ["one", "two", "three"]
    conversation.result("nobody", "asked")
    with pytest.raises(PalimpsestError) as caught:
        conversation.openai(model="m")
    assert [one.index for one in caught.value.refused] == [0]
    assert len(conversation.openai(model="m")["messages"]) >= 1


class Served:
    """A sidecar that a test ends and starts again."""

    def __init__(self, folder):
        self.address = f"unix://{folder}/p.sock"
        self._command = [SIDECAR, "serve", "--listen", self.address, "--until-stdin-ends"]
        self._folder = folder

    def start(self, keeps=True):
        store = ["--data-dir", str(self._folder / "data")] if keeps else ["--store", "memory"]
        self._process = subprocess.Popen([*self._command, *store], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self

    def end(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()


@pytest.fixture
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("s")).start()
    yield server
    server.end()


def test_reply_that_came_while_the_sidecar_was_away_is_kept(served):
    client = Palimpsest(served.address, timeout=2)
    conversation = client.conversation("c")
    conversation.user("Go.")
    conversation.openai(model="m")
    served.end()
    asked = conversation.add(calls(2))
    assert [call.id for call in asked] == ["c0", "c1"], "its tools can run"
    conversation.answer(asked, {"log": lambda n: "ok"})
    served.start()
    conversation.openai(model="m")
    assert [message.role for message in kept(client, "c")] == [2, 3, 4, 4]
    listed = client.conversation("listed")
    said = [{"role": "user", "content": "q"}]
    listed.view(said)
    served.end()
    assert listed.add(chat("a")) == []
    served.start()
    said += [{"role": "assistant", "content": "a"}, {"role": "user", "content": "q2"}]
    assert [piece.indexes for piece in listed.view(said)] == [(0, 1, 2)]
    assert len(kept(client, "listed")) == 3, "nothing is doubled"
    client.close()


def test_list_whose_record_was_lost_begins_anew(served, caplog):
    served.end()
    served.start(keeps=False)
    with Palimpsest(served.address, timeout=5) as client:
        conversation = client.conversation("c")
        said = [{"role": "user", "content": "q"}]
        conversation.sync(said)
        served.end()
        served.start(keeps=False)
        conversation.add(chat("a"))
        said += [{"role": "assistant", "content": "a"}, {"role": "user", "content": "q2"}]
        assert [message["content"] for message in conversation.sync(said)["messages"]] == ["q", "a", "q2"]
        assert conversation.id != "c" and "has lost" in caplog.text
        assert len(conversation.sync(said, differs="rewind")["messages"]) == 3


def test_list_passes_while_the_sidecar_is_away(served):
    with Palimpsest(served.address) as waits:
        waits.conversation("first").sync([{"role": "user", "content": "q"}])  # until it serves
    with Palimpsest(served.address, on_unavailable="pass") as client:
        shaped, whole = client.conversation("shaped", policy=CITE), client.conversation("whole")
        said = [{"role": "user", "content": "q"}, CALLS["openai"], FORMS["openai"](log(1))]
        first = shaped.view(said)
        whole.sync(said[:1])
        whole.view(said[:1])
        served.end()
        more = [*said, {"role": "assistant", "content": "a"}, {"role": "user", "content": "q2"}]
        begun = time.monotonic()
        passed = shaped.view(more)
        assert time.monotonic() - begun < 2
        assert [(piece.kind, piece.indexes) for piece in passed[len(first) :]] == [("whole", (3, 4))]
        assert [piece.shown for piece in passed[: len(first)]] == [piece.shown for piece in first] and not all(piece.whole for piece in first)
        new = client.conversation("new").sync(said[:1], system="Be brief.")
        assert new["messages"] == [{"role": "system", "content": "Be brief."}, *said[:1]], "nobody has seen anything of it"
        assert [piece.shown for piece in client.conversation("shaped").view(more)] == [piece.shown for piece in passed], "of another run"
        later = Palimpsest(served.address, on_unavailable="pass").conversation("shaped")
        for unknown in (lambda: later.view(more), lambda: shaped.view(more[1:]), lambda: client.conversation("shaped", on_unavailable="raise").view(said[:1])):
            with pytest.raises(PalimpsestError):
                unknown()
    with pytest.raises(ValueError):
        client.conversation("c", on_unavailable="wait")


def test_local_over_a_folder_that_is_taken_names_who_has_it(tmp_path):
    with Palimpsest.local(SIDECAR, data_dir=str(tmp_path)) as client:
        with pytest.raises(LocalSidecarError, match=f"process {client._core.local.pid}"):
            Palimpsest.local(SIDECAR, data_dir=str(tmp_path))


def test_local_that_never_listens_says_what_it_said_last(tmp_path):
    program = tmp_path / "sidecar"
    program.write_text("#!/bin/sh\necho it is still thinking >&2\nexec cat\n")
    program.chmod(0o700)
    with pytest.raises(LocalSidecarError, match="does not listen(.|\n)*still thinking"):
        Palimpsest.local(str(program), timeout=0.5)


def test_refusal_for_size_alone_takes_the_item_out(scripted):
    scripted.behaves["BatchAppendMessages"] = refusal(grpc.StatusCode.RESOURCE_EXHAUSTED)
    with Palimpsest(scripted.address) as client:
        conversation = client.conversation("c")
        conversation.user("large")
        with pytest.raises(PalimpsestError) as caught:
            conversation.flush()
        assert [one.item.message.parts[0].text for one in caught.value.refused] == ["large"]
        conversation.flush()
    assert len(scripted.requests) == 1 and api.BatchAppendMessagesRequest.FromString(scripted.requests[0][1]).request_id
    assert palimpsest_context.Refused is type(caught.value.refused[0])
