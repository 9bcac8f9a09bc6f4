"""The client and its conversations, apart from how they wait: see _steps."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
import uuid
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import grpc
from google.protobuf import json_format

from . import _formats as formats
from ._calls import Call, Tail, call_of, calls_of, identified, tool_result
from ._channel import LARGEST, Health
from ._formats import Fields
from ._local import Local
from ._piece import Piece
from ._steps import Answer, Invoke, Sleep, Steps, Together, Try
from ._version import SIDECAR
from .errors import OlderSidecarError, PalimpsestError, error_of
from .v1 import context_service_pb2, conversation_service_pb2, message_pb2, provider_input_pb2

SECONDS = 10.0  # of patience with a call
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


class ClientCore:
    """Calls with a deadline, that are tried again as long as that may help."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.local: Optional[Local] = None
        self._greeted = False

    def greet(self) -> Steps[None]:
        """Waits until the sidecar serves, and refuses one that is older than the package."""
        if self._greeted:
            return
        end = time.monotonic() + self.seconds
        while self.local and not self.local.listens():
            if time.monotonic() > end:
                break
            yield Sleep(0.005)
        answer = yield from self._attempts(Try("health", "Check", b"", self.seconds), serves)
        accept(str(answer.header.get(VERSION_HEADER, "")))
        self._greeted = True

    def call(self, service: str, method: str, request: Any) -> Steps[Any]:
        yield from self.greet()
        answer = yield from self._attempts(Try(service, method, request, self.seconds))
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

    def __init__(self, client: ClientCore, id: str, settings: Mapping[str, Any], durable: str) -> None:
        if durable not in ("reply", "step"):
            raise ValueError(f"{durable!r} is not 'reply' or 'step'")
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
        self._known: Dict[str, Tuple[int, str]] = {}

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

        def request() -> Any:
            made = self._request(format, model, system, tools, wanted)
            if self._pending:
                made.append.items.extend(self._pending)
            return made

        yield from self._built(request, 0 if wanted.get("dry_run") else None)
        self._format = format
        return formats.arguments(format, self.built.rendered.request_json, model, extra)

    def sync(
        self, messages: Sequence[Any], format: str, model: str, system: str, tools: Any, differs: str, build: Optional[Fields]
    ) -> Steps[Dict[str, Any]]:
        history = provider_input_pb2.HistoryOptions(on_divergence=DIFFERS[differs])
        yield from self._synced(messages, format, model, system, tools, history, build)
        return formats.arguments(format, self.built.rendered.request_json, model, {})

    def view(
        self,
        messages: Sequence[Any],
        format: str,
        model: str,
        system: str,
        tools: Any,
        differs: str,
        cut: str,
        build: Optional[Fields],
    ) -> Steps[List[Piece]]:
        history = provider_input_pb2.HistoryOptions(on_divergence=DIFFERS[differs], on_cut=CUT[cut], by_place=True)
        yield from self._synced(messages, format, model, system, tools, history, build)
        return [Piece(piece) for piece in self.built.history.view]

    def _synced(
        self, messages: Sequence[Any], format: str, model: str, system: str, tools: Any, history: Any, build: Optional[Fields]
    ) -> Steps[None]:
        yield from self.flush()
        elements = [formats.dumped(element if not isinstance(element, str) else json.loads(element)) for element in messages]
        wanted: Dict[str, Any] = {"prompt_cache": False, **(build or {})}
        try:
            # A system prompt that leads the list is on no record: without another, it has to be sent each time.
            known = self._prefix(format, elements) if system or not formats.leads_with_system(elements) else (0, "")
            yield from self._listed(elements, known, format, model, system, tools, history, wanted)
        except PalimpsestError as error:
            if error.reason != "HISTORY_PREFIX_UNKNOWN":
                raise
            yield from self._listed(elements, (0, ""), format, model, system, tools, history, wanted)
        self.id = self.built.history.conversation_id or self.id
        self._known[format] = (self.built.history.known_count, self.built.history.known_sha256)
        self._format = format
        self._recalled.clear()  # what was recalled came with the list

    def _prefix(self, format: str, elements: Sequence[str]) -> Tuple[int, str]:
        """How much of a list the sidecar has seen: it is left out, if it is as it was."""
        count, hashed = self._known.get(format, (0, ""))
        return (count, hashed) if 0 < count <= len(elements) and formats.chain(elements[:count]) == hashed else (0, "")

    def _listed(
        self,
        elements: Sequence[str],
        known: Tuple[int, str],
        format: str,
        model: str,
        system: str,
        tools: Any,
        history: Any,
        wanted: Mapping[str, Any],
    ) -> Steps[None]:
        history.known_count, history.known_sha256 = known
        rest = "[" + ",".join(elements[known[0] :]) + "]"

        def request() -> Any:
            made = self._request(format, model, system, tools, wanted)
            made.conversation_id = self._opened
            shape = provider_input_pb2.PROVIDER_INPUT_SHAPE_HISTORY
            made.append.provider_input.CopyFrom(self._input(rest, format, shape, history=history, model=model))
            return made

        yield from self._built(request, 0)

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
        if self._each_step:
            if chosen == "gemini":
                item.provider_input.json = identified(item.provider_input.json)
            self._pending.append(item)
            return [] if aborted else calls_of(chosen, item.provider_input.json)
        answer = yield from self._appended([item])
        return [call_of(call.tool_call, call.recalls) for call in answer.calls]

    def flush(self) -> Steps[None]:
        if self._pending:
            yield from self._appended([])

    def _appended(self, items: List[Any]) -> Steps[Any]:
        def request() -> Any:
            made = context_service_pb2.BatchAppendMessagesRequest(conversation_id=self.id)
            made.items.extend([*self._pending, *items])
            return made

        return (yield from self._once("BatchAppendMessages", request, None))

    def _built(self, request: Callable[[], Any], items: Optional[int]) -> Steps[None]:
        self.built = yield from self._once("BuildContext", request, items)

    def _once(self, method: str, request: Callable[[], Any], items: Optional[int]) -> Steps[Any]:
        """Carries a request out under one id, and again under the same one where it is not known whether it was carried out: what was said
        goes on record once. `items` is how many of those that wait are then on record; all of them by default."""
        yield from self._created()
        made = request()
        if self._unsettled is not None and not alike(self._unsettled, made):
            yield from self._settle()
            made = request()
        if self._unsettled is not None:
            made = self._unsettled
        else:
            made.request_id = str(uuid.uuid4())
            self._unsettled, self._unsettled_items = made, len(self._pending) if items is None else items
        return (yield from self._carried_out(method))

    def _settle(self) -> Steps[None]:
        """Finds out what came of the request before. If it was refused, what it would have put on record still waits."""
        build = isinstance(self._unsettled, context_service_pb2.BuildContextRequest)
        try:
            yield from self._carried_out("BuildContext" if build else "BatchAppendMessages")
        except PalimpsestError as error:
            if error.uncertain:
                raise

    def _carried_out(self, method: str) -> Steps[Any]:
        try:
            answer = yield from self.client.call("context", method, self._unsettled)
        except PalimpsestError as error:
            if not error.uncertain:
                self._unsettled = None
            raise
        del self._pending[: self._unsettled_items]
        self._unsettled = None
        return answer

    def _created(self) -> Steps[None]:
        if self._create is None:
            return
        try:
            yield from self.client.call("conversation", "CreateConversation", self._create)
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
