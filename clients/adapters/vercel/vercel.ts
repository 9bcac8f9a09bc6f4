// Palimpsest for the Vercel AI SDK: a call's prompt goes in, what the model should see comes out, and the caller's messages stay whole.
import { dynamicTool, jsonSchema, type LanguageModelMiddleware, type ToolSet } from "ai";

import type { Conversation } from "../conversation.js";
import type { Json } from "../formats.js";
import { recallTools } from "../gen/tools.js";
import { assistant, restored, said, usageOf, type Call, type Chunk, type Message, type Params, type Usage } from "./chat.js";

type Definition = { function: { name: string; description: string; parameters: object } };
type Reply = { text: string; calls: Call[]; model: string };

/**
 * palimpsest ties a model and its tools to a conversation: wrap the model in the middleware, and offer the tools beside your own.
 * With rewind, messages that a prompt no longer has are taken back on record, as after an edit; without it, such a call is refused.
 */
export function palimpsest(
  conversation: Conversation,
  { rewind = true }: { rewind?: boolean } = {},
): { middleware: LanguageModelMiddleware; tools: ToolSet } {
  const add = ({ text, calls, model }: Reply, usage: Usage) =>
    conversation.add({ model, choices: [{ message: assistant(text, calls) }], usage: usageOf(usage) }, { format: "openai" });
  return {
    tools: Object.fromEntries((recallTools["openai"] as Definition[]).map(({ function: { name, description, parameters } }) => [name, dynamicTool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: (args, { toolCallId }) => conversation.recall(name, args as object, toolCallId),
    })])),
    middleware: {
      specificationVersion: "v3",
      transformParams: async ({ params, model }) => ({ ...params, prompt: await view(conversation, params, model.modelId, rewind) }),
      wrapGenerate: async ({ doGenerate, model }) => {
        const result = await doGenerate();
        const reply: Reply = { text: "", calls: [], model: model.modelId };
        for (const part of result.content) take(reply, part);
        await add(reply, result.usage);
        return result;
      },
      wrapStream: async ({ doStream, model }) => {
        const { stream, ...rest } = await doStream();
        const reply: Reply = { text: "", calls: [], model: model.modelId };
        const transform = async (chunk: Chunk, controller: TransformStreamDefaultController<Chunk>) => {
          take(reply, chunk);
          // What breaks off has no finish: it comes with the next prompt, if the caller keeps it.
          if (chunk.type === "finish" && chunk.finishReason.unified !== "error") await add(reply, chunk.usage);
          controller.enqueue(chunk);
        };
        return { stream: stream.pipeThrough(new TransformStream({ transform })), ...rest };
      },
    },
  };
}

async function view(conversation: Conversation, params: Params, model: string, rewind: boolean): Promise<Message[]> {
  const standing = params.prompt.slice(0, params.prompt.findIndex(({ role }) => role !== "system"));
  const system = standing.map(({ content }) => content).join("\n\n");
  const whole = params.prompt.slice(standing.length).flatMap(said);
  const tools = (params.tools ?? []).flatMap((tool) => (tool.type === "function"
    ? [{ type: "function", function: { name: tool.name, description: tool.description ?? "", parameters: tool.inputSchema } }] : []));
  const { request } = await conversation.sync(whole.map(({ sent }) => sent), { format: "openai", model, system, tools, recallTools: false, rewind });
  const shown = request["messages"] as Json[];
  return [...standing, ...restored(system ? shown.slice(1) : shown, whole)];
}

function take(reply: Reply, part: { type: string }): void {
  const piece = part as Extract<Chunk, { type: "tool-call" | "text-delta" }> | { type: "text"; text: string };
  if (piece.type === "text") reply.text += piece.text;
  if (piece.type === "text-delta") reply.text += piece.delta;
  if (piece.type === "tool-call") reply.calls.push(piece);
}
