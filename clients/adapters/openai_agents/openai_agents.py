"""Palimpsest for the OpenAI Agents SDK: a run's items go in, what the model should see comes out, and the run's own state stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import FunctionTool, ModelResponse, RunConfig, RunContextWrapper, RunHooks, Tool
from agents.run import CallModelData, ModelInputData

from palimpsest_context import Palimpsest


class PalimpsestRun(RunHooks[Any]):
    """Ties runs to a conversation: `hooks=run, run_config=run.config()`, and `*run.tools` among the agent's tools.

    With rewind, items that the run no longer has are taken back on record, as after an edit; without it, such a call is refused.
    Options are those of `Palimpsest.conversation`, a policy for instance.
    """

    def __init__(self, palimpsest: Palimpsest, conversation_id: str, *, rewind: bool = True, **options: Any) -> None:
        self.conversation = palimpsest.conversation(conversation_id, **options)
        self.rewind = rewind
        self._agent = ""  # whose turn it is, by name: a run that is resumed has agents made anew
        self.tools: list[Tool] = [self._tool(**definition["function"]) for definition in palimpsest.tools("openai")]

    def config(self, **settings: Any) -> RunConfig:
        """The run's configuration: the caller's settings, and the filter that shows the model its context."""
        return RunConfig(call_model_input_filter=self.filter, **settings)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Puts what is new among the items on record, and gives what the model should see, for this call alone."""
        if self._agent and data.agent.name != self._agent:
            return data.model_data  # an agent that is a tool: it takes the configuration over, and has a list of its own
        system = data.model_data.instructions
        offered = await data.agent.get_all_tools(RunContextWrapper(data.context))
        request = await asyncio.to_thread(
            self.conversation.sync,
            data.model_data.input,
            format="responses",
            system=system or "",
            tools=[_definition(tool) for tool in offered if isinstance(tool, FunctionTool)],
            differs="rewind" if self.rewind else "refuse",
        )
        return ModelInputData(input=[_plain(item) for item in request["input"]], instructions=system)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self._agent = agent.name

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        """Puts the reply on record at once: its tools have effects."""
        self._agent = agent.name
        usage = {
            "input_tokens": response.usage.input_tokens,
            "input_tokens_details": response.usage.input_tokens_details.model_dump(),
            "output_tokens": response.usage.output_tokens,
            "output_tokens_details": response.usage.output_tokens_details.model_dump(),
        }
        await asyncio.to_thread(self.conversation.add, {"object": "response", "output": response.output, "usage": usage})

    def _tool(self, name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
        async def recall(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(self.conversation.recall, name, arguments, context.tool_call_id)

        return FunctionTool(name, description, parameters, recall, strict_json_schema=False)


def _definition(tool: FunctionTool) -> dict[str, Any]:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}


def _plain(item: Any) -> Any:
    """An assistant's message as plain text: the SDK's converter for Chat Completions refuses parts without an id."""
    if item.get("role") != "assistant" or isinstance(item["content"], str):
        return item
    said = (part.get("text") or part.get("refusal") or "" for part in item["content"])
    return {"role": "assistant", "content": "".join(said)}
