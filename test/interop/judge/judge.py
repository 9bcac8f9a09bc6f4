"""Judges contexts that a sidecar builds by the types that the providers publish, and by the rules of their documentation.

    judge.py --target 127.0.0.1:50051 [--data DIR] [--parts recorded,cited,apart,made] [--sample N] [--spread N]

Plays every N-th recording of DIR/*/conversations.jsonl, as the parts say: as recorded, with citations, with each of several parallel
calls in a message of its own, and records made for the purpose. A build is committed before each message of the assistant's and
at the end, of a sample at a few of these places; there contexts of all formats and windows are computed too. Prints counts; fails
if anything is illegal.
"""

import argparse
import collections
import concurrent.futures
import sys
import time

import grpc
import published
import records
import rules
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from palimpsest.v1 import context_pb2 as ctx
from palimpsest.v1 import context_service_pb2 as loop
from palimpsest.v1 import context_service_pb2_grpc as loop_grpc
from palimpsest.v1 import conversation_service_pb2 as conversations
from palimpsest.v1 import conversation_service_pb2_grpc as conversations_grpc
from palimpsest.v1 import event_pb2 as event
from palimpsest.v1 import policy_pb2 as policy

DEADLINE = 60  # seconds, on every call
LARGE = 32 << 20  # bytes: what a build may answer here
WINDOWS = (4096, 8192, 32768, 131072)
GRID = [(form, window) for window in WINDOWS for form in published.FORMATS]
NUMBERS = {form: ctx.ContextFormat.Value("CONTEXT_FORMAT_" + form.upper().replace("-", "_")) for form in published.FORMATS}
SHOWN = 3  # faults of a record that are printed
REPAIRS = (event.DECISION_REASON_CALL_NEVER_ANSWERED, event.DECISION_REASON_RESULT_LATE)


class Tally:
    """What was seen of one record."""

    def __init__(self):
        self.counts, self.faults, self.refusals = collections.Counter(), [], collections.Counter()

    def add(self, other):
        self.counts += other.counts
        self.faults += other.faults
        self.refusals += other.refusals
        for rule, where in other.faults[:SHOWN]:
            print(f"  illegal: {rule}: {where}")


class Player:
    """Plays records of one part over a connection."""

    def __init__(self, target, part, every, spread):
        limits = [("grpc.max_receive_message_length", LARGE + (64 << 10)), ("grpc.max_send_message_length", 16 << 20)]
        channel = grpc.insecure_channel(target, options=limits)
        self.loop, self.conversations = loop_grpc.ContextServiceStub(channel), conversations_grpc.ConversationServiceStub(channel)
        self.part, self.every, self.spread, self.reader = part, every, spread, published.Reader()

    def play(self, number, record):
        seen = Tally()
        identity = f"{self.part}/{record.name}"
        kept = policy.Policy(citations=policy.CitationsPolicy(enabled=True)) if self.part == "cited" else None
        made = conversations.Conversation(id=identity, policy=kept)
        self.conversations.CreateConversation(conversations.CreateConversationRequest(conversation=made), timeout=DEADLINE)
        own, at = GRID[number % len(GRID)], 0
        positions = spread(record.positions, len(record.positions) if self.every else self.spread)
        wide = spread(positions, self.spread)
        for n in positions:
            self.append(identity, record.messages[at:n])
            at = n
            self.build(seen, identity, record, n, own)
            for other in GRID if n in wide else ():
                if other != own:
                    self.build(seen, identity, record, n, other, dry_run=True)
        return seen

    def append(self, identity, messages):
        for first in range(0, len(messages), 500):
            items = [loop.BatchAppendItem(message=m) for m in messages[first : first + 500]]
            request = loop.BatchAppendMessagesRequest(conversation_id=identity, items=items)
            self.loop.BatchAppendMessages(request, timeout=DEADLINE)

    def build(self, seen, identity, record, n, shape, **more):
        form, window = shape
        room = policy.Budget(context_window_tokens=window, reserved_output_tokens=0)
        request = loop.BuildContextRequest(
            conversation_id=identity, format=NUMBERS[form], budget=room, max_reply_bytes=LARGE, **more
        )

        def fault(rule, where):
            seen.faults.append((rule, f"{identity} {form} {window} after {n} messages{' dry' * bool(more)}: {where}"))

        try:
            built = self.loop.BuildContext(request, timeout=DEADLINE)
        except grpc.RpcError as error:
            seen.refusals[reason := reason_of(error)] += 1
            if not may_refuse(reason, record.messages[:n]):
                fault("refused", reason)
            return
        elements = self.judge(built, record, n, form, fault)
        seen.counts[form, "contexts"] += 1
        seen.counts[form, "elements"] += len(elements)

    def judge(self, built, record, n, form, fault):
        system = self.reader.system(form, built.rendered.system_json.decode(), fault)
        faulty = []
        elements = self.reader.elements(form, built.rendered.messages_json.decode(), lambda *f: faulty.append(f) or fault(*f))
        if faulty:
            return elements  # nothing can be read out of it
        rules.check(form, system, elements, fault)
        led = [text for text in record.system(n) if (text.strip() if form == "anthropic" else text)]
        if rules.leading_system(form, system, elements)[: len(led)] != led:
            fault("system", "the leading texts are not those on record")
        self.answers(built, record.pairs(n) if self.part != "made" else None, form, elements, fault)
        return elements

    def answers(self, built, pairs, form, elements, fault):
        """Calls that the record answers in place are answered by the same in every context, and shown if all is."""
        if pairs is None:
            return
        if any(decision.reason in REPAIRS for decision in built.decisions):
            fault("pair", "an answered call was closed, or its answer called late")
        if not built.decisions and rules.pairs(form, elements) != pairs:
            fault("pair", "calls and answers are not those on record")


def spread(positions, most):
    """At most so many of the positions, evenly, the last among them."""
    if len(positions) <= most:
        return positions
    return [positions[(i + 1) * len(positions) // most - 1] for i in range(most)]


def reason_of(error):
    status, info = rpc_status.from_call(error), error_details_pb2.ErrorInfo()
    if status and any(detail.Unpack(info) for detail in status.details):
        return info.reason
    return str(error.code())


def may_refuse(reason, messages):
    """Whether the record can be refused for the reason. What cannot fit is for others to judge."""
    return (
        reason == "CONTEXT_CANNOT_FIT"
        or reason == "PENDING_TOOL_CALLS" and records.open_calls(messages) > 0
        or reason == "EMPTY_CONTEXT" and all(m.role == records.ROLES["system"] for m in messages)
    )  # fmt: skip


def records_of(part, options):
    if part == "made":
        return records.made()
    return records.recordings(options.data, options.sample, apart=part == "apart")


def play(part, options):
    """Plays the records of a part, two at a time: the sidecar works while a context is judged."""
    player, seen, begun, number = Player(options.target, part, options.sample == 1, options.spread), Tally(), time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, one in enumerate(pool.map(player.play, *zip(*enumerate(records_of(part, options)), strict=True)), 1):
            seen.add(one)
    for form in published.FORMATS:
        contexts, elements = seen.counts[form, "contexts"], seen.counts[form, "elements"]
        if not contexts:
            seen.faults.append(("nothing", f"{part}: no context of {form} was judged"))
        print(f"{part}: {form}: {contexts} contexts, {elements} elements")
    refused = ", ".join(f"{count} {reason}" for reason, count in sorted(seen.refusals.items())) or "none"
    print(f"{part}: {number} records, {len(player.reader.known)} elements of other bytes, refused: {refused}", end="")
    print(f", {len(seen.faults)} faults, {time.monotonic() - begun:.0f} s", flush=True)
    return seen.faults


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--target", required=True)
    options.add_argument("--data")
    options.add_argument("--parts", default="recorded,cited,apart,made")
    options.add_argument("--sample", type=int, default=1)
    options.add_argument("--spread", type=int, default=4)
    options = options.parse_args()
    faults = [fault for part in options.parts.split(",") for fault in play(part, options)]
    for rule, count in collections.Counter(rule for rule, _ in faults).items():
        print(f"illegal: {rule}: {count}")
    sys.exit(bool(faults))


main()
