"""Replies that come in pieces, put together as their SDKs do, and as far as they came where they break off."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from ._formats import dumped, plain

Reply = Dict[str, Any]


class Chat:
    """Chunks of Chat Completions, or the events of the SDK's own stream around them."""

    def __init__(self) -> None:
        from openai.lib.streaming.chat import ChatCompletionStreamState

        self._state: Any = ChatCompletionStreamState()
        self._begun = False
        self.whole = False

    def feed(self, event: Any) -> None:
        if getattr(event, "object", "") != "chat.completion.chunk":
            if getattr(event, "type", "") != "chunk":
                return
            event = event.chunk
        self._state.handle_chunk(event)
        self._begun = True
        self.whole = self.whole or any(choice.finish_reason for choice in event.choices)

    def reply(self) -> Optional[str]:
        if not self._begun:
            return None
        reply: Reply = plain(self._state.current_completion_snapshot)
        for choice in reply["choices"]:
            choice["message"]["tool_calls"] = self._calls(choice["message"].get("tool_calls", []))
            if not choice["message"]["tool_calls"]:
                del choice["message"]["tool_calls"]
        return dumped(reply)

    def _calls(self, calls: List[Reply]) -> List[Reply]:
        """The calls without what the stream alone says of them, and without one that broke off before its arguments."""
        for call in calls:
            call.pop("index", None)
            call.get("function", {}).pop("parsed_arguments", None)
        return [call for call in calls if self.whole or call.get("function", {}).get("arguments") != ""]


class Responses:
    """Events of the Responses API. The last one has the whole."""

    def __init__(self) -> None:
        self._response: Optional[Reply] = None
        self._items: Dict[int, Reply] = {}
        self._texts: Dict[Tuple[int, int], str] = {}
        self.whole = False

    def feed(self, event: Any) -> None:
        kind = getattr(event, "type", "")
        if kind in ("response.completed", "response.incomplete"):
            self._response, self.whole = plain(event.response), True
        elif kind == "response.created":
            self._response = plain(event.response)
        elif kind == "response.output_item.added" and event.item.type == "message":
            self._items[event.output_index] = plain(event.item)
        elif kind == "response.output_item.done":
            self._items[event.output_index] = plain(event.item)
            self._texts = {place: text for place, text in self._texts.items() if place[0] != event.output_index}
        elif kind == "response.output_text.delta":
            place = (event.output_index, event.content_index)
            self._texts[place] = self._texts.get(place, "") + event.delta

    def reply(self) -> Optional[str]:
        if self.whole:
            return dumped(self._response)
        for output, _ in sorted(self._texts):
            if output in self._items:
                texts = [text for (at, _), text in sorted(self._texts.items()) if at == output]
                self._items[output]["content"] = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
        items = [item for _, item in sorted(self._items.items()) if item.get("type") != "message" or item.get("content")]
        return dumped({"object": "response", **(self._response or {}), "output": items}) if items else None


class Anthropic:
    """Events of the Messages API, raw or of the SDK's own stream.

    The SDK's snapshot parses the input of a call as far as it came, so that half a call looks like a whole one: the input is parsed here
    when its block has ended.
    """

    def __init__(self) -> None:
        self._message: Optional[Reply] = None
        self._blocks: Dict[int, Reply] = {}
        self._inputs: Dict[int, str] = {}
        self._open: Dict[int, bool] = {}
        self.whole = False

    def feed(self, event: Any) -> None:
        kind = getattr(event, "type", "")
        if kind == "message_start":
            self._message = plain(event.message)
        elif kind == "content_block_start":
            self._blocks[event.index], self._open[event.index] = plain(event.content_block), True
        elif kind == "content_block_delta":
            self._grow(event.index, plain(event.delta))
        elif kind == "content_block_stop":
            self._end(event.index)
        elif kind == "message_delta" and self._message is not None:
            said = plain(event)
            self._message.update(said["delta"])
            self._message.setdefault("usage", {}).update(said.get("usage", {}))
        elif kind == "message_stop":
            self.whole = True

    def _grow(self, index: int, delta: Reply) -> None:
        block, kind = self._blocks[index], delta.pop("type")
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        else:
            for key, piece in delta.items():
                block[key] = block.get(key, "") + piece if isinstance(piece, str) else piece

    def _end(self, index: int) -> None:
        """A block has ended. An input that is no JSON broke off at the largest number of tokens: its call stays open, and is left out."""
        try:
            if self._inputs.get(index):
                self._blocks[index]["input"] = json.loads(self._inputs[index])
            self._open[index] = False
        except ValueError:
            pass

    def reply(self) -> Optional[str]:
        blocks = [block for index, block in sorted(self._blocks.items()) if self._kept(index, block)]
        if self._message is None or not (blocks or self.whole):
            return None
        return dumped({**self._message, "content": blocks})

    def _kept(self, index: int, block: Reply) -> bool:
        return not self._open[index] or (block["type"] in ("text", "thinking") and bool(block.get("text") or block.get("signature")))


class Gemini:
    """Answers of streamGenerateContent. Neighboring texts become one, but for those with a signature: it stays with its part."""

    def __init__(self) -> None:
        self._reply: Reply = {}
        self._parts: List[Reply] = []
        self.whole = False

    def feed(self, event: Any) -> None:
        said = plain(event)
        candidates = said.pop("candidates", [])
        self._reply.update(said)
        for candidate in candidates[:1]:
            for part in candidate.pop("content", {}).get("parts", []):
                self._grow(part)
            self._reply.setdefault("candidates", [{}])[0].update(candidate)
            self.whole = self.whole or "finishReason" in candidate

    def _grow(self, part: Reply) -> None:
        last = self._parts[-1] if self._parts else {}
        if part == {"text": ""}:
            return
        # A signature differs from all others, and from none.
        if "text" in part and "text" in last and {**part, "text": ""} == {**last, "text": ""}:
            last["text"] += part["text"]
        else:
            self._parts.append(part)

    def reply(self) -> Optional[str]:
        if not self._parts and not self.whole:
            return None
        candidate = {**self._reply.get("candidates", [{}])[0], "content": {"role": "model", "parts": self._parts}}
        return dumped({**self._reply, "candidates": [candidate]})


ASSEMBLIES: Dict[str, Any] = {"openai": Chat, "responses": Responses, "anthropic": Anthropic, "gemini": Gemini}
