"""Palimpsest for the OpenAI Agents SDK: a run's items go in, what the model should see comes out, and the run's own state stays whole."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

from agents import FunctionTool, ModelResponse, RunConfig, RunContextWrapper, RunHooks, Tool
from agents.models import get_default_model
from agents.run import CallModelData, ModelInputData

from palimpsest_context import Palimpsest, Piece
from palimpsest_context.adapters import shapes


class PalimpsestRun(RunHooks[Any]):
    """Ties runs to a conversation: `hooks=run, run_config=run.config()`, and `*run.tools` among the agent's tools. Each agent of a run has a
    conversation of its own, CONVERSATION_ID/NAME.

    `differs` and `cut` are those of `Conversation.view`. Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, conversation_id: str, *, differs: Any = "new", cut: Any = "hide", **options: Any) -> None:
        self._reading = {"differs": differs, "cut": cut}
        self.conversation = functools.lru_cache(maxsize=1024)(lambda agent: palimpsest.conversation(f"{conversation_id}/{agent}", **options))
        self.tools: list[Tool] = [self._tool(**definition["function"]) for definition in palimpsest.tools("openai")]
        self._model: Any = None
        self._one_at_a_time = threading.Lock()  # an agent that is a tool may be called several times at once

    def config(self, **settings: Any) -> RunConfig:
        """The run's configuration: the caller's settings, and the filter that shows the model its context."""
        self._model = settings.get("model")
        return RunConfig(call_model_input_filter=self.filter, **settings)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Puts what is new among the items on record, and gives what the model should see, for this call alone."""
        offered = await data.agent.get_all_tools(RunContextWrapper(data.context))
        tools = ((tool.name, tool.description, tool.params_json_schema) for tool in offered if isinstance(tool, FunctionTool))
        pieces = await asyncio.to_thread(self._view, data, shapes.tools("responses", tools))
        items = data.model_data.input
        return ModelInputData([i for piece in shapes.needed(pieces, len(items)) for i in _shown(piece, items)], data.model_data.instructions)

    def _view(self, data: CallModelData[Any], tools: list[Any]) -> list[Piece]:
        model: Any = self._model or data.agent.model or get_default_model()
        with self._one_at_a_time:
            return self.conversation(data.agent.name).view(
                data.model_data.input,
                format="responses",
                model=model if isinstance(model, str) else str(getattr(model, "model", "")),
                system=data.model_data.instructions or "",
                tools=tools,
                **self._reading,
            )

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        """Puts the reply on record at once: its tools have effects."""
        usage = response.usage
        counts = usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens
        reply = shapes.reply("responses", response.output, None, *counts)
        await asyncio.to_thread(self.conversation(agent.name).add, reply)

    def _tool(self, name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
        async def recall(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(self.conversation(context.agent.name).recall, name, arguments, context.tool_call_id)

        return FunctionTool(name, description, parameters, recall, strict_json_schema=False)


def _shown(piece: Piece, items: Any) -> list[Any]:
    """The run's own items. Of an assistant's message that is made, the text: the SDK's converter for Chat refuses parts without an id."""
    if piece.whole:
        return [items[i] for i in sorted(piece.indexes)]  # results stand in any order behind their calls
    return [
        {"role": "assistant", "content": "".join(part.get("text") or part.get("refusal") or "" for part in item["content"])}
        if item.get("role") == "assistant" and not isinstance(item["content"], str)
        else item
        for item in piece.shown
    ]
