"""The client and its conversations, apart from how they wait: see _steps."""

from __future__ import annotations

import functools
import itertools
import json
import logging
import random
import re
import time
import uuid
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import grpc
from google.protobuf import json_format

from . import _formats as formats
from . import _sizes as sizes
from ._calls import Call, Tail, call_of, calls_of, identified, tool_result
from ._channel import LARGEST, Health
from ._formats import Fields
from ._local import Local
from ._piece import Piece, pieces_of
from ._steps import Answer, Invoke, Sleep, Steps, Together, Try
from ._version import SIDECAR
from .errors import LocalSidecarError, OlderSidecarError, PalimpsestError, Refused, error_of
from .v1 import context_service_pb2, conversation_service_pb2, message_pb2, provider_input_pb2

SECONDS = 10.0  # of patience with a call
PASSING = 0.5  # of patience where lists pass by themselves while the sidecar is away
EACH_SECOND = 8 << 20  # bytes of a large request, for which there is more patience
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
VERSION_HEADER = "palimpsest-version"
RELEASE = re.compile(r"^v?(\d+)\.(\d+)\.(\d+)")
DIFFERS = {
    "refuse": provider_input_pb2.ON_DIVERGENCE_REFUSE,
    "rewind": provider_input_pb2.ON_DIVERGENCE_REWIND,
    "new": provider_input_pb2.ON_DIVERGENCE_NEW,
}
CUT = {"keep": provider_input_pb2.ON_CUT_KEEP, "hide": provider_input_pb2.ON_CUT_HIDE}
PAGE = 32  # messages that are read at a time where few are wanted
ITEM = re.compile(r"^(?:append\.)?items\[(\d+)\]")
Away = (PalimpsestError, LocalSidecarError)
log = logging.getLogger("palimpsest_context")


class ClientCore:
    """Calls with a deadline, that are tried again as long as that may help."""

    def __init__(self, seconds: float, on_unavailable: str = "raise") -> None:
        self.seconds, self.on_unavailable = seconds, on_unavailable
        self.local: Optional[Local] = None
        # What was answered to a conversation's lists, also by other objects of that conversation: frameworks have one for each run.
        self.lists = functools.lru_cache(maxsize=256)(lambda id: Lists())
        self._greeted = False

    def greet(self, seconds: Optional[float] = None) -> Steps[None]:
        """Waits until the sidecar serves, and refuses one that is older than the package."""
        if self._greeted:
            return
        seconds = seconds or self.seconds
        end = time.monotonic() + seconds
        while self.local and not self.local.listens():
            if time.monotonic() > end:
                raise self.local.failure(f"the sidecar does not listen after {seconds:g} s")
            yield Sleep(0.005)
        try:
            answer = yield from self._attempts(Try("health", "Check", b"", seconds), serves)
        except PalimpsestError as error:
            if self.local:
                raise self.local.failure(f"the sidecar does not serve ({error})") from error
            raise
        accept(str(answer.header.get(VERSION_HEADER, "")))
        self._greeted = True

    def call(self, service: str, method: str, request: Any, seconds: Optional[float] = None) -> Steps[Any]:
        yield from self.greet(seconds)
        answer = yield from self._attempts(Try(service, method, request, seconds or self.seconds))
        return answer.message

    def _attempts(self, what: Try, good: Callable[[Any], bool] = lambda _: True) -> Steps[Answer]:
        end = time.monotonic() + what.seconds
        for attempt in itertools.count():
            left = max(end - time.monotonic(), 0.001)
            try:
                answer: Answer = yield Try(what.service, what.method, what.request, left)
                if good(answer.message):
                    return answer
                error = PalimpsestError("the sidecar does not serve", code="UNAVAILABLE")
            except grpc.RpcError as failure:
                error = error_of(failure)
            if self.local and not self._greeted:
                self.local.listens()  # one that has ended says why
            pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE) * random.uniform(0.5, 1)
            if not error.passing or time.monotonic() + pause >= end:
                raise error
            yield Sleep(pause)
        raise AssertionError("there is always another attempt")


def serves(message: bytes) -> bool:
    return message == Health.SERVING


def accept(version: str) -> None:
    """Refuses a sidecar whose release is older than the one that the package was made with. What is no release cannot be compared."""
    theirs, ours = RELEASE.match(version), RELEASE.match(SIDECAR)
    if theirs and ours and [int(n) for n in theirs.groups()] < [int(n) for n in ours.groups()]:
        raise OlderSidecarError(f"the sidecar is {version}, and this package wants {SIDECAR} or newer")


class ConversationCore:
    """What is on record of a conversation, what is not yet, and the calls that make the one of the other."""

    def __init__(
        self, client: ClientCore, id: str, settings: Mapping[str, Any], durable: str = "reply", on_unavailable: Optional[str] = None
    ) -> None:
        on_unavailable = on_unavailable or client.on_unavailable
        for chosen, choices in ((durable, ("reply", "step")), (on_unavailable, ("raise", "pass"))):
            if chosen not in choices:
                raise ValueError(f"{chosen!r} is not {' or '.join(map(repr, choices))}")
        self.client, self.id = client, id
        self._opened = id  # where lists are looked for: one of them may go on elsewhere
        self.built: Any = None
        self._create = conversation(id, settings) if settings else None
        self._each_step = durable == "step"
        self._format: str = ""
        self._pending: List[Any] = []  # BatchAppendItems
        self._unsettled: Any = None  # a request of which it is not known whether it was carried out
        self._unsettled_items = 0
        self._recalled: Dict[str, Any] = {}  # ToolResults by call id
        self._cited: Dict[str, Any] = {}  # citations by the hash of what they stand for
        self._shorter: Dict[str, str] = {}  # elements of lists that are too large, by their hash, as they are sent
        self._passes = on_unavailable == "pass"
        self._lists = False  # whether whole lists come, and not what is said piece by piece
        self._lost = False  # the record is gone, and a reply began it anew

    # What is said, and not yet on record.

    def say(self, role: str, text: str, fields: Fields) -> None:
        message = parsed({"role": "ROLE_" + role, "parts": [{"text": text}], **fields}, message_pb2.Message())
        self._pending.append(context_service_pb2.BatchAppendItem(message=message))

    def message(self, message: Any, format: Optional[str], fields: Fields) -> None:
        item = parsed(fields, self._input(message, format, shape=provider_input_pb2.PROVIDER_INPUT_SHAPE_MESSAGE))
        self._pending.append(context_service_pb2.BatchAppendItem(provider_input=item))

    def result(self, call_id: str, value: Any, name: str, error: bool, fields: Fields) -> None:
        result = self._recalled.pop(call_id, None) or tool_result(call_id, name, value, error)
        self._answer(result, fields)

    def _answer(self, result: Any, fields: Fields) -> None:
        message = parsed(fields, message_pb2.Message(role=message_pb2.ROLE_TOOL, parts=[message_pb2.Part(tool_result=result)]))
        self._pending.append(context_service_pb2.BatchAppendItem(message=message))

    def _input(self, value: Any, format: Optional[str], shape: Any, **more: Any) -> Any:
        return provider_input_pb2.ProviderInput(
            format=formats.code(self.format_of(format)), json=formats.dumped(value), shape=shape, **more
        )

    def format_of(self, named: Optional[str]) -> str:
        """The format of JSON: the one that is named, or that of the last build."""
        if not (named or self._format):
            raise ValueError("no build has said yet which provider's JSON this is: name its format")
        return named or self._format

    # What goes on record.

    def build(
        self, format: str, model: str, system: str, tools: Any, build: Optional[Fields], extra: Mapping[str, Any]
    ) -> Steps[Dict[str, Any]]:
        wanted: Dict[str, Any] = {"recall_tools": True, "prompt_cache": True, **(build or {})}

        def request() -> Tuple[Any, int]:
            made = self._request(format, model, system, tools, wanted)
            if self._pending:
                made.append.items.extend(self._pending)
            return made, 0 if wanted.get("dry_run") else len(self._pending)

        fixed = len(system) + len(formats.dumped(tools) if tools else "")
        if not self._fits(fixed):
            yield from self._appended()
        self.built = yield from self._once("BuildContext", request)
        self._format = format
        return formats.arguments(format, json.loads(self.built.rendered.request_json), model, extra)

    def sync(
        self, messages: Sequence[Any], format: str, model: str, system: str, tools: Any, differs: str, cut: str, build: Optional[Fields]
    ) -> Steps[Dict[str, Any]]:
        elements = [formats.dumped(element) for element in messages]
        history = provider_input_pb2.HistoryOptions(on_divergence=DIFFERS[differs], on_cut=CUT[cut])
        try:
            yield from self._synced(elements, format, model, system, tools, history, build)
            answered = self.built.rendered.request_json
            self._noted(format, answered, shaped=True)  # as far as this can tell
            return formats.arguments(format, json.loads(answered), model, {})
        except Away as error:
            view, behind = self._passed(error, format, elements, str)
        news = [json.loads(element) for element in elements[behind:]]
        if behind:
            request = json.loads(view)
            request[formats.LISTS[format]].extend(news)
        else:
            request = formats.plain_request(format, news, system, tools)
        return formats.arguments(format, request, model, {})

    def view(
        self, messages: Sequence[Any], format: str, model: str, system: str, tools: Any, differs: str, cut: str, build: Optional[Fields]
    ) -> Steps[List[Piece]]:
        elements = [formats.dumped(element) for element in messages]
        history = provider_input_pb2.HistoryOptions(on_divergence=DIFFERS[differs], on_cut=CUT[cut], by_place=True)
        try:
            cited = yield from self._synced(elements, format, model, system, tools, history, build)
            pieces = pieces_of(self.built.history.view, cited)
            self._noted(format, pieces, shaped=any(not piece.whole for piece in pieces))
            return pieces
        except Away as error:
            view, behind = self._passed(error, format, elements, list)
        news = [Piece("whole", range(behind, len(elements)))] if behind < len(elements) else []
        return [*view, *news]

    def _noted(self, format: str, view: Any, shaped: bool) -> None:
        lists, history = self.client.lists(self._opened), self.built.history
        lists.shaped = lists.shaped or shaped
        lists.by_format[format] = Known(history.known_count, history.known_sha256, view if self._passes else None)

    def _passed(self, error: Exception, format: str, elements: Sequence[str], kind: type) -> Tuple[Any, int]:
        """The last view and how much of a list it stands for, where lists pass while the sidecar is away: the rest goes behind it as it is. A
        list that no view may have changed goes so as a whole."""
        if not (self._passes and getattr(error, "passing", True)):
            raise error
        lists, known = self.client.lists(self._opened), self._prefix(format, self._sent(elements))
        if known.count and isinstance(known.view, kind):
            return known.view, known.count
        if not lists.shaped if lists.by_format else formats.is_first(elements):
            return kind(), 0
        raise error

    def _synced(
        self, elements: Sequence[str], format: str, model: str, system: str, tools: Any, history: Any, build: Optional[Fields]
    ) -> Steps[Dict[int, str]]:
        """Returns the elements that went with citations in the places of their long texts."""
        self._lists = True
        yield from self.flush()
        if self._lost:
            history.on_divergence = provider_input_pb2.ON_DIVERGENCE_NEW
        large = {sizes.digest(element): element for element in elements if sizes.is_large(element)}
        for hashed, element in large.items():
            if hashed not in self._shorter:
                yield from self._keep(sizes.texts_of(element))
                self._shorter[hashed] = sizes.citing(element, self._cited)
        sent = self._sent(elements) if large else elements
        listed = Listed(sent, format, model, system, tools, history, {"prompt_cache": False, **(build or {})})
        # A system prompt that leads the list is on no record: without another, it has to be sent each time.
        if not system and formats.leads_with_system(sent) and sizes.fits(sent):
            yield from self._listed(listed, Known())
        else:
            listed.system = system or formats.leading_system(sent)
            yield from self._behind_known(listed)
        if self._lost:
            log.warning("the sidecar has lost what was said in %s: its list begins %s", self._opened, self.built.history.conversation_id)
            self._opened = self.built.history.conversation_id
        self.id = self.built.history.conversation_id or self.id
        self._format, self._lost = format, False
        self._recalled.clear()  # what was recalled came with the list
        return {n: element for n, element in enumerate(sent) if element is not elements[n]}

    def _prefix(self, format: str, elements: Sequence[str]) -> Known:
        """How much of a list the sidecar has seen: it is left out, if it is as it was."""
        known = self.client.lists(self._opened).by_format.get(format, Known())
        return known if 0 < known.count <= len(elements) and formats.chain(elements[: known.count]) == known.hash else Known()

    def _behind_known(self, listed: "Listed") -> Steps[None]:
        """Sends a list without what the sidecar knows of it. What it knows of one that is too large for a request, it is asked first."""
        known = self._prefix(listed.format, listed.elements)
        if not known.count and not sizes.fits(listed.elements):
            known = Known(len(listed.elements), formats.chain(listed.elements))
        try:
            yield from self._listed(listed, known)
        except PalimpsestError as error:
            if error.reason != "HISTORY_PREFIX_UNKNOWN":
                raise
            counts = [int(n) for n in error.metadata.get("known_counts", "").split()]
            for count in sorted((n for n in counts if 0 < n < len(listed.elements) and not sizes.fits(listed.elements)), reverse=True):
                try:
                    return (yield from self._listed(listed, Known(count, formats.chain(listed.elements[:count]))))
                except PalimpsestError as again:
                    if again.reason != "HISTORY_PREFIX_UNKNOWN":
                        raise
            yield from self._listed(listed, Known())

    def _listed(self, listed: "Listed", known: Known) -> Steps[None]:
        """Sends a list behind a prefix that is known, in as many requests as it takes. The last one builds."""
        rest = list(listed.elements[known.count :])
        measured = [sizes.of_json(element) for element in rest]
        while (n := sizes.first_fitting(measured, sizes.ELEMENTS)) < len(rest):
            part = context_service_pb2.AppendMessageRequest(conversation_id=self._opened, request_id=str(uuid.uuid4()))
            part.provider_input.CopyFrom(self._history(listed, rest[:n], known, goes_on=True))
            yield from self._created()
            history = (yield from self._called("AppendMessage", part)).history
            known = Known(history.known_count, history.known_sha256)
            del rest[:n], measured[:n]
        input = self._history(listed, rest, known)

        def request() -> Tuple[Any, int]:
            made = self._request(listed.format, listed.model, listed.system, listed.tools, listed.wanted)
            made.conversation_id = self._opened
            made.append.provider_input.CopyFrom(input)
            return made, 0

        self.built = yield from self._once("BuildContext", request)

    def _history(self, listed: "Listed", elements: Sequence[str], known: Known, goes_on: bool = False) -> Any:
        shape = provider_input_pb2.PROVIDER_INPUT_SHAPE_HISTORY
        made = self._input("[" + ",".join(elements) + "]", listed.format, shape, history=listed.history, model=listed.model)
        made.history.known_count, made.history.known_sha256 = known.count, known.hash
        if goes_on:
            made.history.by_place = False
        return made

    # What is too large.

    def _keep(self, texts: Iterable[str]) -> Steps[None]:
        """Stores long texts, each once, and keeps what stands for them."""
        for text in texts:
            hashed = sizes.digest(text)
            if hashed not in self._cited:
                yield from self._created()
                seconds = self.client.seconds + len(text) / EACH_SECOND
                stored = yield from self.client.call("content", "StoreContent", sizes.upload(self.id, text, hashed), seconds)
                self._cited[hashed] = stored.citation

    def _sent(self, elements: Sequence[str]) -> List[str]:
        """A list as it is sent: with citations in the places of long texts."""
        return [self._shorter.get(sizes.digest(element), element) if sizes.is_large(element) else element for element in elements]

    def _shortened(self) -> Steps[None]:
        """Stores the long texts of what waits."""
        for item in self._pending:
            if item.ByteSize() <= sizes.LARGEST_ITEM:
                continue
            if item.HasField("provider_input"):
                yield from self._keep(sizes.texts_of(item.provider_input.json))
                item.provider_input.json = sizes.citing(item.provider_input.json, self._cited)
            for part in sizes.long_parts(item.message):
                text = sizes.text_of(part)
                yield from self._keep([text])
                sizes.cite(part, self._cited[sizes.digest(text)])

    def _request(self, format: str, model: str, system: str, tools: Any, wanted: Mapping[str, Any]) -> Any:
        made = context_service_pb2.BuildContextRequest(conversation_id=self.id, format=formats.code(format), model=model, complete=True)
        made.max_reply_bytes = LARGEST
        made.fixed_input.system_prompt = system
        made.fixed_input.tools_json = formats.dumped(tools) if tools else ""
        return parsed(wanted, made)

    def add(self, reply: Any, format: Optional[str], aborted: bool, fields: Fields, shape: Any = None) -> Steps[List[Call]]:
        """Puts a reply on record, behind what was said before it."""
        if shape is None:
            # Of a list the sidecar would think that it is the whole conversation.
            listed = isinstance(reply, (list, tuple)) or (isinstance(reply, str) and reply.lstrip().startswith("["))
            shape = provider_input_pb2.PROVIDER_INPUT_SHAPE_MESSAGE if listed else provider_input_pb2.PROVIDER_INPUT_SHAPE_UNSPECIFIED
        chosen = self.format_of(format)
        made = parsed(fields, self._input(reply, chosen, shape, aborted=aborted))
        item = context_service_pb2.BatchAppendItem(provider_input=made)
        if self._each_step and chosen == "gemini":
            item.provider_input.json = identified(item.provider_input.json)
        again = self._unsettled is not None and self._pending and self._pending[-1] == item
        if not again:
            self._pending.append(item)
        if self._each_step:
            return [] if aborted else calls_of(chosen, item.provider_input.json)
        try:
            answer = yield from self._appended()
        except Away as error:
            # The reply is paid for: it waits, and goes on record with what comes next.
            return self._kept(error, item, chosen)
        return [call_of(call.tool_call, call.recalls) for call in answer.calls]

    def _kept(self, error: Exception, item: Any, format: str) -> List[Call]:
        """The calls of a reply that waits, as far as they can be told without the sidecar."""
        if not getattr(error, "passing", True):
            raise error
        if self._lists or item.provider_input.aborted:
            return []  # whoever has a list has the calls too
        try:
            calls = calls_of(format, item.provider_input.json)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise error from None
        if not all(call.id for call in calls):
            raise error
        return calls

    def flush(self) -> Steps[None]:
        if self._pending:
            yield from self._appended()

    def _fits(self, beside: int = 0) -> bool:
        """Whether all that waits goes with one request, beside so many bytes."""
        measured = [sizes.of_item(item) for item in self._pending]
        return sizes.first_fitting([(beside, 0), *measured], sizes.ITEMS + 1) > len(measured)

    def _appended(self) -> Steps[Any]:
        """Puts on record what waits, in order, in as many requests as it takes. What is refused is taken out, told at the end, and the rest goes
        on."""
        order = {id(item): n for n, item in enumerate(self._pending)}
        refused: List[Refused] = []
        answer, failure = None, None
        while self._pending:
            try:
                yield from self._shortened()
                answer = yield from self._once("BatchAppendMessages", self._batch)
            except PalimpsestError as error:
                taken = [replace(one, index=order[id(one.item)]) for one in error.refused]
                refused += taken
                failure, error.refused = error, tuple(refused)
                if not taken:
                    raise
                continue
            # A conversation that a list was built of begins with it: what came before is gone.
            begins = any(receipt.index == 0 for receipt in answer.receipts)
            self._lost = self._lost or begins and self._lists and self.built is not None
        if failure:
            raise failure
        return answer

    def _batch(self) -> Tuple[Any, int]:
        n = sizes.first_fitting([sizes.of_item(item) for item in self._pending], sizes.ITEMS)
        made = context_service_pb2.BatchAppendMessagesRequest(conversation_id=self.id)
        made.items.extend(self._pending[:n])
        return made, n

    def _once(self, method: str, request: Callable[[], Tuple[Any, int]]) -> Steps[Any]:
        """Carries a request out under one id, and again under the same one where it is not known whether it was carried out: what was said
        goes on record once. Beside the request stands how many of those that wait are then on record."""
        yield from self._created()
        made, items = request()
        if self._unsettled is not None and not alike(self._unsettled, made):
            yield from self._settle()
            made, items = request()
        if self._unsettled is None:
            made.request_id = str(uuid.uuid4())
            self._unsettled, self._unsettled_items = made, items
        return (yield from self._carried_out(method))

    def _settle(self) -> Steps[None]:
        """Finds out what came of the request before. If it was refused, what it would have put on record still waits."""
        build = isinstance(self._unsettled, context_service_pb2.BuildContextRequest)
        try:
            yield from self._carried_out("BuildContext" if build else "BatchAppendMessages")
        except PalimpsestError as error:
            if error.uncertain or error.refused:
                raise

    def _carried_out(self, method: str) -> Steps[Any]:
        try:
            answer = yield from self._called(method, self._unsettled)
        except PalimpsestError as error:
            if not error.uncertain:
                error.refused = self._taken_out(error)
                self._unsettled = None
            raise
        del self._pending[: self._unsettled_items]
        self._unsettled = None
        return answer

    def _called(self, method: str, request: Any) -> Steps[Any]:
        """Makes a call. A large request may take longer, and one that passes by itself must not take long."""
        seconds = (PASSING if self._passes and self._lists else self.client.seconds) + request.ByteSize() / EACH_SECOND
        return (yield from self.client.call("context", method, request, seconds))

    def _taken_out(self, error: PalimpsestError) -> Tuple[Refused, ...]:
        """Takes out of what waits the items that a refusal names."""
        items = self._unsettled.items if hasattr(self._unsettled, "items") else self._unsettled.append.items
        named: Dict[int, str] = {}
        for violation in error.violations:
            found = ITEM.match(violation.field)
            if found and int(found[1]) < len(items):
                named.setdefault(int(found[1]), f"{violation.field}: {violation.description}")
        if not named and len(items) == 1 and error.code == "RESOURCE_EXHAUSTED" and not error.reason:
            named[0] = str(error)  # gRPC itself: it is too large
        refused = tuple(Refused(n, self._pending[n], why) for n, why in sorted(named.items()))
        for one in reversed(refused):
            del self._pending[one.index]
        return refused

    def _created(self) -> Steps[None]:
        if self._create is None:
            return
        try:
            seconds = PASSING if self._passes else None
            yield from self.client.call("conversation", "CreateConversation", self._create, seconds)
        except PalimpsestError as error:
            if error.reason != "CONVERSATION_EXISTS":
                raise
        self._create = None

    # Tools.

    def answer(self, calls: Iterable[Call], tools: Mapping[str, Callable[..., Any]], fields: Fields) -> Steps[None]:
        """Runs the tools side by side. What comes of them waits, in the order of the calls."""
        results = yield Together([self._answered(call, tools) for call in calls])
        for result in results:
            self._answer(result, fields)

    def _answered(self, call: Call, tools: Mapping[str, Callable[..., Any]]) -> Steps[Any]:
        if call.name not in tools:
            if call.recalls:
                return (yield from self._asked(call))
            return tool_result(call.id, call.name, f"There is no tool {call.name}.", error=True)
        try:
            value = yield Invoke(tools[call.name], call.arguments)
            return tool_result(call.id, call.name, value)
        except Exception as failure:
            # The model is told, and may mend its call.
            return tool_result(call.id, call.name, f"{type(failure).__name__}: {failure}", error=True)

    def recall(self, name: str, arguments: Any, call_id: str) -> Steps[str]:
        result = yield from self._asked(Call(call_id, name, formats.dumped(arguments), recalls=True))
        self._recalled[call_id] = result
        return str(result.text)

    def _asked(self, call: Call) -> Steps[Any]:
        yield from self._created()
        request = context_service_pb2.AnswerToolCallRequest(conversation_id=self.id)
        request.tool_call.CopyFrom(message_pb2.ToolCall(call_id=call.id, name=call.name, arguments_json=call.arguments_json))
        return (yield from self.client.call("context", "AnswerToolCall", request)).tool_result

    def waiting(self) -> Steps[List[Call]]:
        """The calls at the record's end that no result answers."""
        yield from self._created()
        tail, page = Tail(), ""
        while True:
            request = conversation_service_pb2.ListMessagesRequest(conversation_id=self.id, page_size=PAGE, page_token=page)
            request.order, request.max_reply_bytes = conversation_service_pb2.LIST_ORDER_DESCENDING, LARGEST
            try:
                listed = yield from self.client.call("conversation", "ListMessages", request)
            except PalimpsestError as error:
                if error.reason == "CONVERSATION_NOT_FOUND":
                    return []
                raise
            page = listed.next_page_token
            if not all(tail.take(message) for message in listed.messages) or not page:
                return tail.calls()


@dataclass(frozen=True)
class Known:
    """How many elements of a list the sidecar has seen, and the chained hash over them; with the last answer to it, pieces or a request."""

    count: int = 0
    hash: str = ""
    view: Any = None


class Lists:
    """What was answered to the lists of a conversation."""

    def __init__(self) -> None:
        self.by_format: Dict[str, Known] = {}
        self.shaped = False  # whether an answer may have shown a list otherwise than it came


@dataclass
class Listed:
    """A whole list, and what its build takes beside it."""

    elements: Sequence[str]
    format: str
    model: str
    system: str
    tools: Any
    history: Any
    wanted: Mapping[str, Any]


def conversation(id: str, settings: Mapping[str, Any]) -> Any:
    request = conversation_service_pb2.CreateConversationRequest(request_id=str(uuid.uuid4()))
    parsed({"id": id, **settings}, request.conversation)
    return request


def parsed(fields: Mapping[str, Any], into: Any) -> Any:
    """A message of the API, of fields by the names that its proto has."""
    try:
        return json_format.ParseDict(dict(fields), into)
    except json_format.ParseError as failure:
        raise ValueError(str(failure)) from None


def alike(one: Any, other: Any) -> bool:
    """Whether two requests ask the same, but for their ids."""
    if type(one) is not type(other):
        return False
    copy = type(one)()
    copy.CopyFrom(other)
    copy.request_id = one.request_id
    return bool(copy == one)
