"""A result of a megabyte and a book stay outside of the model's view, and it reads what it needs of them; then the run ends.

    citations.py [ADDRESS]      127.0.0.1:7171 by default

The model's part is a script that reads what a model would read.
"""

import hashlib
import json
import pathlib
import re
import sys
import uuid

from google.protobuf import duration_pb2

from agent import Sidecar, check
from palimpsest_context.v1 import content_pb2, content_service_pb2 as contents

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
content = sidecar.client.raw.content
run = f"run-{uuid.uuid4()}"
prompt = (pathlib.Path(__file__).resolve().parents[1] / "expand_message.prompt.md").read_text()
cited = []

# [policy]
# Citations are off until a policy asks for them.
conversation = sidecar.client.conversation(f"citations-{uuid.uuid4()}", policy={"citations": {"enabled": True}})
# [/policy]


# [loop]
def ask(model, words):
    """Answers the user: the model is called until it calls no tool any more."""
    conversation.user(words, run_id=run)
    while True:
        request = conversation.openai(model="scripted", system=prompt)
        cited.extend(citation for receipt in conversation.built.receipts for citation in receipt.citations)
        reply = model(request["messages"])  # your provider's SDK, with all of the request: the tools that recall are in it
        calls = conversation.add(reply, run_id=run)
        if not calls:
            return
        conversation.answer(calls, own_tools, run_id=run)
# [/loop]


# [store]
def store(url, text):
    """Keeps what the agent holds itself for the length of its run, and returns the citation that stands for it."""
    data = text.encode()

    def pieces():
        yield contents.StoreContentRequest(header=contents.StoreContentHeader(
            conversation_id=conversation.id,
            run_id=run,
            source_type=content_pb2.SOURCE_TYPE_WEB,
            source_url=url,
            request_id=str(uuid.uuid4()),
            sha256=hashlib.sha256(data).hexdigest(),
        ))
        for at in range(0, len(data), 1 << 20):
            yield contents.StoreContentRequest(chunk=data[at:at + (1 << 20)])

    return content.StoreContent(pieces()).citation
# [/store]


def read_back(content_id):
    """The whole of a content, for the agent's own program."""
    request = contents.StreamContentRequest(conversation_id=conversation.id, content_id=content_id)
    return b"".join(piece.chunk for piece in content.StreamContent(request)).decode()


def sources():
    """What contents came from, oldest first."""
    return content.ListSources(contents.ListSourcesRequest(conversation_id=conversation.id)).sources


def script(*steps):
    """A model that takes one step a call. A step sees the newest message, and says something or calls a tool."""
    rest = iter(steps)

    def model(shown):
        assert shown[0] == {"role": "system", "content": prompt}, "the system prompt stands first"
        return next(rest)(shown[-1]["content"])

    return model


def says(words):
    return {"role": "assistant", "content": words}


def calls(name, **arguments):
    called = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": called}]}


def handle(text):
    return re.search(r"c\d+-[a-z0-9]{8}", text)[0]


cities = ["Kraków", "Lyon", "Porto", "Graz", "Turku"]
notes = ["left at the door", "handed to a neighbour", "signed for"]
orders = [{"order": f"ORD-{20000 + n}", "city": cities[n % 5], "cents": n * 7919 % 90001, "note": notes[n % 3]} for n in range(12000)]
orders[9311]["note"] = "refused, the box was wet: sent back to the depot in Lyon"
listing = json.dumps({"region": "eu", "orders": orders}, ensure_ascii=False)
own_tools = {"list_orders": lambda region: listing}
chapters = "".join(f"第{n}章\n荷物は通常、翌営業日に届きます。お届け先の表札と住所をご確認ください。受取人が不在の場合は、不在票を入れます。\n\n" for n in range(1, 15000))
rule = "水に濡れて返送された荷物は、三十日以内に全額返金します。"
handbook = chapters.replace("第8001章\n", f"第8001章\n{rule}\n")


def finds_order():
    """Citations first, then excerpts, then the entries around one."""
    def sees_citation(newest):
        check(len(newest) < 1600 and "12000 items" in newest and "wet" not in newest, f"the model sees {len(newest)} characters of {len(listing)}")
        return calls("retrieve_content", content_id=handle(newest), search_terms=["box was wet", "refused"])

    def sees_excerpts(newest):
        places = re.search(r"/orders/(\d+)(?: to /orders/(\d+))?", newest)
        first, last = int(places[1]), int(places[2] or places[1])
        check("the box was wet" in newest and 9311 in range(first, last + 1), f"one call for excerpts, and it knows the place: orders {first} to {last}")
        return calls("retrieve_content", content_id=handle(newest), unit="items", start=first, end=last + 1)

    def sees_entries(newest):
        check(orders[9311] in json.loads(newest.split("\n")[1]), f"a range brings these entries whole, {orders[9311]['order']} with them")
        return says("ORD-29311 came back wet.")

    return script(lambda _: calls("list_orders", region="eu"), sees_citation, sees_excerpts, sees_entries)


def finds_rule():
    """What the agent stored is read in the same way, in the language that it is written in."""
    def sees_citation(newest):
        check(rule not in newest, "the model sees a citation of the book")
        return calls("retrieve_content", content_id=handle(newest), search_terms=["濡れて返送", "返金"])

    def sees_excerpts(newest):
        check(rule in newest, f"one call, and it reads: {rule}")
        return says("It is paid back in full, within thirty days.")

    return script(sees_citation, sees_excerpts)


def reads_again(gone, kept):
    """Asks for what has gone with the run, and for what has not."""
    def sees_it_is_gone(newest):
        check("do not retry" in newest.lower(), f"of the book it is told once: {newest}")
        return calls("retrieve_content", content_id=kept, search_terms=["ORD-29311"])

    def sees_order(newest):
        check("ORD-29311" in newest, "what a message cites lives as long as the message")
        return says("The book is gone, the orders are there.")

    return script(lambda _: calls("retrieve_content", content_id=gone, search_terms=["返金"]), sees_it_is_gone, sees_order)


print("the user asks for an order, and the model lists all 12,000")
ask(finds_order(), "Which order came back wet?")
check([c.total_chars for c in cited] == [len(listing)], f"one result was cited, as {cited[0].content_id}; no answer of the sidecar's was")

print("the agent fetches a book of rules by itself, and stores it as a stream")
book = store("https://rules.example/handbook", handbook)
check(book.total_chars == len(handbook), f"{book.content_id} stands for {book.total_bytes} bytes")
check(read_back(book.content_id) == handbook, "its own program reads them back, byte for byte")
ask(finds_rule(), f"What does this say of wet parcels?\n{book.text}")

print("the run ends: what was stored for it goes, and what messages cite stays")
# [end]
ended = content.EndRun(contents.EndRunRequest(
    conversation_id=conversation.id,
    run_id=run,
    grace=duration_pb2.Duration(seconds=0),  # an hour, unless you say another
))
# [/end]
check(ended.scheduled_contents == 1, "one content goes")
run = f"run-{uuid.uuid4()}"
ask(reads_again(gone=book.content_id, kept=cited[0].content_id), "Look at both again.")
states = {source.content_id: source.state for source in sources()}
check(states[book.content_id] == content_pb2.CONTENT_STATE_EXPIRED, "the book's source record stays, and says that it is gone")
check(states[cited[0].content_id] == content_pb2.CONTENT_STATE_STORED, "that of the orders says that they are there")
