"""The client that blocks."""

from __future__ import annotations

import inspect
from types import TracebackType
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar

import grpc

from . import _formats as formats
from ._blocking import Driver
from ._calls import Call
from ._channel import Defaults, Raw
from ._core import SECONDS, ClientCore, ConversationCore
from ._formats import Cut, Differs, Fields, Format, OnUnavailable
from ._local import Local
from ._piece import Piece
from ._stream import StreamCore

E = TypeVar("E")


class Palimpsest:
    """A sidecar: `"127.0.0.1:7171"`, or `"unix:///run/palimpsest/palimpsest.sock"`.

    One object is one channel: keep it for the life of the process. `timeout` is the deadline of each call in seconds, all tries together.
    `credentials` are gRPC's own, for TLS. `on_unavailable="pass"` has `view` and `sync` answer within a moment while the sidecar is away: the
    last view and what is new behind it, or the list as it is if no view changed it. Where that cannot be known, they raise all the same.
    """

    def __init__(
        self,
        address: str = "127.0.0.1:7171",
        *,
        token: Optional[str] = None,
        timeout: float = SECONDS,
        credentials: Optional[grpc.ChannelCredentials] = None,
        on_unavailable: OnUnavailable = "raise",
    ) -> None:
        self._core = ClientCore(timeout, on_unavailable)
        self._driver = Driver(address, credentials, Defaults(token, timeout))

    @classmethod
    def local(
        cls,
        binary: Optional[str] = None,
        *,
        data_dir: Optional[str] = None,
        arguments: Sequence[str] = (),
        timeout: float = SECONDS,
        on_unavailable: OnUnavailable = "raise",
    ) -> Palimpsest:
        """Starts a sidecar for this program alone, and ends it with `close`.

        The binary is the one that is named, that of PALIMPSEST_BINARY, or `palimpsest` or `sidecar` on PATH. It keeps conversations in
        memory, or in `data_dir`. `arguments` are further ones of `sidecar serve`.
        """
        started = Local(binary, data_dir, arguments)
        client = cls(started.target, timeout=timeout, on_unavailable=on_unavailable)
        client._core.local = started
        try:
            client._driver.run(client._core.greet())
        except BaseException:
            client.close()
            raise
        return client

    def conversation(
        self, id: str, *, durable: str = "reply", on_unavailable: Optional[OnUnavailable] = None, **settings: Any
    ) -> Conversation:
        """The conversation with an id.

        `settings` are fields of the API's Conversation, such as `policy`, `actor_id`, `agent_id` and `title`: with any of them the first
        call creates the conversation, unless it is there. `durable="step"` keeps a reply until the next build, so that a step is one
        commit: what was not built yet is lost with the process. `on_unavailable` is the client's, unless it is named here.
        """
        return Conversation(self._driver, ConversationCore(self._core, id, settings, durable, on_unavailable))

    def tools(self, format: Format, *, memory: bool = False) -> List[Dict[str, Any]]:
        """The definitions of the tools by which a model gets text back, for a loop that offers them itself."""
        return formats.recall_tools(format, memory)

    @property
    def raw(self) -> Raw:
        """The generated stubs, for all that has no shorter form."""
        return self._driver.raw

    def close(self) -> None:
        self._driver.close()
        if self._core.local:
            self._core.local.stop()

    def __enter__(self) -> Palimpsest:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()


class Conversation:
    """A conversation on record. It is used by one thread at a time."""

    def __init__(self, driver: Driver, core: ConversationCore) -> None:
        self._driver, self._core = driver, core

    @property
    def id(self) -> str:
        return self._core.id

    @property
    def built(self) -> Any:
        """The whole answer of the last build, a BuildContextResponse: tokens, decisions, events, manifest_id."""
        return self._core.built

    def user(self, text: str, **fields: Any) -> None:
        """What the user said. It goes on record with the next build. `fields` are those of the API's Message, such as `name` and `tags`."""
        self._core.say("USER", text, fields)

    def system(self, text: str, **fields: Any) -> None:
        """An instruction that belongs on record. It goes there with the next build."""
        self._core.say("SYSTEM", text, fields)

    def message(self, message: Any, *, format: Optional[Format] = None, **fields: Any) -> None:
        """A message in a provider's JSON, such as one with an image. It goes on record with the next build. `fields` are those of the API's
        ProviderInput, such as `run_id`."""
        self._core.message(message, format, fields)

    def result(self, call_id: str, value: Any, *, name: str = "", error: bool = False, **fields: Any) -> None:
        """The result of a call that the program answers itself. It goes on record with the next build."""
        self._core.result(call_id, value, name, error, fields)

    def openai(
        self, *, model: str, system: str = "", tools: Any = None, build: Optional[Fields] = None, **extra: Any
    ) -> Dict[str, Any]:
        """What the model should see now, as arguments of `chat.completions.create`.

        `build` has further fields of the API's BuildContextRequest, such as `budget`. All else goes into the arguments as it is.
        """
        return self._driver.run(self._core.build("openai", model, system, tools, build, extra))

    def responses(
        self, *, model: str, system: str = "", tools: Any = None, build: Optional[Fields] = None, **extra: Any
    ) -> Dict[str, Any]:
        """The same as arguments of `responses.create`."""
        return self._driver.run(self._core.build("responses", model, system, tools, build, extra))

    def anthropic(
        self, *, model: str, system: str = "", tools: Any = None, build: Optional[Fields] = None, **extra: Any
    ) -> Dict[str, Any]:
        """The same as arguments of `messages.create` and `messages.stream`, which want `max_tokens` too."""
        return self._driver.run(self._core.build("anthropic", model, system, tools, build, extra))

    def gemini(
        self, *, model: str, system: str = "", tools: Any = None, build: Optional[Fields] = None, **extra: Any
    ) -> Dict[str, Any]:
        """The same as arguments of `models.generate_content` and its stream. `config` may hold all but the instruction and the tools."""
        return self._driver.run(self._core.build("gemini", model, system, tools, build, extra))

    def sync(
        self,
        messages: Sequence[Any],
        *,
        format: Format = "openai",
        model: str = "",
        system: str = "",
        tools: Any = None,
        differs: Differs = "refuse",
        cut: Cut = "keep",
        build: Optional[Fields] = None,
    ) -> Dict[str, Any]:
        """Brings the record up to a whole list, of any size, and says what the model should see of it.

        `differs` says what happens where the list differs from the record: "refuse" fails with HistoryDivergedError, "rewind" takes the record
        back to there, "new" too, but a list with another first message begins another conversation: from then on `id` is its id, until a list
        comes that is another one's. `cut` says of messages that the list no longer holds, and that no build left out, whether the model goes
        on to see them: "keep" or "hide".
        """
        return self._driver.run(self._core.sync(messages, format, model, system, tools, differs, cut, build))

    def view(
        self,
        messages: Sequence[Any],
        *,
        format: Format = "openai",
        model: str = "",
        system: str = "",
        tools: Any = None,
        differs: Differs = "new",
        cut: Cut = "hide",
        build: Optional[Fields] = None,
    ) -> List[Piece]:
        """The same by place, for whoever keeps objects of its own: what the model should see, as runs of the list's elements."""
        return self._driver.run(self._core.view(messages, format, model, system, tools, differs, cut, build))

    def add(self, reply: Any, *, format: Optional[Format] = None, aborted: bool = False, **fields: Any) -> List[Call]:
        """Puts a reply on record, as the provider's SDK returned it, with its usage. Returns the calls that wait for results.

        While the sidecar is away the reply waits, and goes on record with what comes next: the model need not be asked again.
        `fields` are those of the API's ProviderInput, such as `run_id` and `tags`.
        """
        return self._driver.run(self._core.add(reply, format, aborted, fields))

    def stream(self, events: Iterable[E], *, format: Optional[Format] = None, **fields: Any) -> Stream[E]:
        """Passes the events of a reply through, and puts it on record when they end."""
        return Stream(self._driver, StreamCore(self._core, format, fields), events)

    def answer(self, calls: Iterable[Call], tools: Mapping[str, Callable[..., Any]], **fields: Any) -> None:
        """Runs tools side by side; those that recall, the sidecar answers. A tool that raises is told to the model as an error.

        The results go on record with the next build.
        """
        if any(inspect.iscoroutinefunction(tool) for tool in tools.values()):
            raise TypeError("tools that are awaited want palimpsest_context.aio")
        self._driver.run(self._core.answer(calls, tools, fields))

    def recall(self, name: str, arguments: Any, call_id: str) -> str:
        """The text for a call of a recall tool, for a loop that runs tools itself.

        `result` of that call then says what it was recalled from.
        """
        return self._driver.run(self._core.recall(name, arguments, call_id))

    def waiting(self) -> List[Call]:
        """The calls on record that wait for results: what a process that ended between a reply and its results left behind."""
        return self._driver.run(self._core.waiting())

    def flush(self) -> None:
        """Puts on record what waits for the next build."""
        self._driver.run(self._core.flush())


class Stream(Generic[E]):
    """The events of one reply. When they end it is on record, and `calls` wait for results.

    One that breaks off, by an error or because nobody reads on, is put on record as far as it is whole, marked as aborted.
    """

    def __init__(self, driver: Driver, core: StreamCore, events: Iterable[E]) -> None:
        self._driver, self._core, self._events = driver, core, events

    @property
    def calls(self) -> List[Call]:
        return self._core.calls

    def __iter__(self) -> Iterator[E]:
        with self:
            for event in self._events:
                self._core.feed(event)
                yield event
            self._driver.run(self._core.end())

    def close(self) -> None:
        """Ends the stream here."""
        close = getattr(self._events, "close", None)
        if close and not self._core.ended:
            close()
        self._driver.run(self._core.end())

    def __enter__(self) -> Stream[E]:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()
