"""pydantic-ai's messages in the format of the model's provider, and a view of them in its own messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pydantic_ai import messages as ai
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters

from palimpsest_context import Piece
from palimpsest_context.adapters import shapes

FORMATS = {"OpenAIChatModel": "openai", "OpenAIResponsesModel": "responses", "AnthropicModel": "anthropic", "GoogleModel": "gemini"}
NOTHING = ModelRequestParameters()


class Unit:
    """Parts of a message that are shown or not by themselves, and what their provider is sent of them."""

    def __init__(self, message: Any, parts: Sequence[Any]) -> None:
        self.message, self.parts = message, parts
        self.elements: list[Any] | None = None
        self.silent: list[Unit] = []  # those behind it of which their provider is sent nothing: they go along


class Sent:
    """What a run sends, and of which of its parts each element is made."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._known: dict[int, tuple[Any, list[Unit]]] = {}  # by a message's id: with the message, so that the id stays its own

    async def take(self, request: ModelRequestContext) -> None:
        """Reads what is to be sent. Messages that were read before are not read again."""
        model, offered = request.model, request.model_request_parameters
        while hasattr(model, "wrapped"):
            model = model.wrapped
        self._class = next((kind.__name__ for kind in type(model).__mro__ if kind.__name__ in FORMATS), "")
        self.format = FORMATS.get(self._class, "openai")
        known = self._known if model is self._model else {}
        self._model, self._known = model, {id(m): known.get(id(m)) or (m, self._units(m)) for m in request.messages}
        units = [unit for _, units in self._known.values() for unit in units]
        self._standing: list[Unit] = []
        while units and isinstance(units[0].parts[0], ai.SystemPromptPart):
            self._standing.append(units.pop(0))
        last = self._standing[-1] if self._standing else Unit(None, [])
        for unit in units:
            if unit.elements is None:
                unit.elements = await self.of(replace(unit.message, parts=unit.parts))
            unit.silent = []
            last = unit if unit.elements else last
            last.silent += [unit] if unit is not last else []
        self._owners = [unit for unit in units for _ in unit.elements or ()]
        self.elements = [element for unit in units for element in unit.elements or ()]
        self.system = "\n\n".join(part.content for part in (*(u.parts[0] for u in self._standing), *(offered.instruction_parts or ())))
        self.tools = shapes.tools(self.format, ((tool.name, tool.description, tool.parameters_json_schema) for tool in offered.tool_defs.values()))

    def _units(self, message: ai.ModelMessage) -> list[Unit]:
        if isinstance(message, ai.ModelResponse) and self.format != "responses":
            return [Unit(message, message.parts)]  # one message, whatever is in it
        # Parts of one id are one item.
        return [Unit(message, list(parts)) for _, parts in groupby(message.parts, lambda part: getattr(part, "id", None) or id(part))]

    async def of(self, message: Any) -> list[Any]:
        """What the provider is sent of a message alone, as the model's own class writes it."""
        model: Any = self._model
        if isinstance(message, ai.ModelRequest):
            message = replace(message, instructions=None)  # they stand beside the list
        prepared = model.prepare_messages([message], NOTHING)
        if self._class == "OpenAIChatModel":
            return list(await model._map_messages(prepared, NOTHING))
        if self._class == "OpenAIResponsesModel":
            return list((await model._map_messages(prepared, model.settings or {}, NOTHING))[1])
        if self._class == "AnthropicModel":
            return list((await model._map_message(prepared, NOTHING, model.settings or {}))[1])
        if self._class == "GoogleModel":
            from google.genai import types

            contents = (await model._map_messages(prepared, NOTHING))[1]
            whose = "model" if isinstance(message, ai.ModelResponse) else "user"  # a list that the model begins is given a beginning
            return [types.Content.model_validate(content) for content in contents if content["role"] == whose]
        return [told for message in prepared for told in _chat(message)]

    def shown(self, pieces: Sequence[Piece]) -> list[ai.ModelMessage]:
        """A view. Messages of which all is shown are themselves."""
        names: dict[str, str] = {}
        placed = [*self._standing, *shapes.placed(pieces, self.elements, self._owners, lambda told, own: [_made(told, own, names)])]
        units = [shown for unit in placed for shown in (unit, *unit.silent)]
        out: list[ai.ModelMessage] = []
        for _, run in groupby(units, lambda unit: id(unit.message)):
            shown = list(run)
            message, parts = shown[0].message, [part for unit in shown for part in unit.parts]
            out.append(message if [*map(id, parts)] == [*map(id, message.parts)] else replace(message, parts=parts))
        return out


def _made(told: shapes.Shown, own: Unit | None, names: dict[str, str]) -> Unit:
    """What is shown otherwise than it was said, or was not said at all: the parts that stand for it keep what is not shown of them."""
    names.update((id, name) for id, name, _ in told.calls)
    parts = list(own.parts) if own else []
    if told.role == "assistant":
        return Unit(own.message if own else ai.ModelResponse([]), _answered(told, parts))
    made: list[Any] = [ai.SystemPromptPart(told.text)] if told.role == "system" else []
    for id, name, result in told.results:
        kept = next((part for part in parts if isinstance(part, ai.ToolReturnPart)), None) or ai.ToolReturnPart(name or names.get(id, ""), "", id)
        made.append(replace(kept, content=[result.text, *kept.files] if result.media and kept.files else result.text))
    if told.role == "user" and (told.text or told.media or not made):
        said = next((part for part in parts if isinstance(part, ai.UserPromptPart)), ai.UserPromptPart(""))
        files = [] if isinstance(said.content, str) or not told.media else [item for item in said.content if not isinstance(item, str)]
        made.append(replace(said, content=[told.text, *files] if files else told.text))
    return Unit(own.message if own else ai.ModelRequest([]), made)


def _answered(told: shapes.Shown, parts: list[Any]) -> list[Any]:
    called = [part for part in parts if isinstance(part, ai.ToolCallPart)]
    texts = [part for part in parts if isinstance(part, ai.TextPart)]
    if "".join(part.content for part in texts) != told.text:
        texts = [ai.TextPart(told.text)] if told.text else []
    calls = [
        replace(called[i], args=arguments) if len(called) == len(told.calls) else ai.ToolCallPart(name, arguments, id)
        for i, (id, name, arguments) in enumerate(told.calls)
    ]
    return [*(part for part in parts if told.thinks and isinstance(part, ai.ThinkingPart)), *texts, *calls]


def _chat(message: ai.ModelMessage) -> Iterator[dict[str, Any]]:
    """A message as Chat Completions has it, for models whose class has none of these formats. The model sees the original."""
    if isinstance(message, ai.ModelResponse):
        calls = [(call.tool_call_id, {"name": call.tool_name, "arguments": call.args_as_json_str()}) for call in message.tool_calls]
        made = [{"id": id, "type": "function", "function": function} for id, function in calls]
        yield {"role": "assistant", "content": message.text, **({"tool_calls": made} if made else {})}
        return
    for part in message.parts:
        if isinstance(part, ai.ToolReturnPart):
            text, files = part.model_response_str_and_user_content()
            yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
            yield from [{"role": "user", "content": [_item(file) for file in files]}] if files else []
        elif isinstance(part, (ai.SystemPromptPart, ai.UserPromptPart)):
            said = part.content if isinstance(part.content, str) else [_item(item) for item in part.content]
            yield {"role": "system" if isinstance(part, ai.SystemPromptPart) else "user", "content": said}


def _item(item: Any) -> dict[str, Any]:
    if isinstance(item, (ai.ImageUrl, ai.BinaryImage)):
        return {"type": "image_url", "image_url": {"url": item.url if isinstance(item, ai.ImageUrl) else item.data_uri}}
    if isinstance(item, ai.BinaryContent):
        return {"type": "file", "file": {"file_data": item.data_uri, "filename": item.identifier}}
    return {"type": "text", "text": item if isinstance(item, str) else getattr(item, "content", "") or getattr(item, "url", f"[{item.kind}]")}
