// Palimpsest for the Vercel AI SDK: a call's prompt goes in, what the model should see comes out, and the caller's messages stay whole.
import { dynamicTool, jsonSchema, type LanguageModelMiddleware, type ToolSet } from "ai";

import type { Conversation, ViewOptions } from "../conversation.js";
import { PalimpsestError } from "../errors.js";
import type { Json } from "../formats.js";
import { recallTools } from "../gen/tools.js";
import { replyOf } from "./dialects.js";
import { elementsOf, formatOf, type Message } from "./prompt.js";
import { promptOf } from "./shown.js";

type Definition = { function: { name: string; description: string; parameters: object } };
type Model = { provider: string; modelId: string };

/**
 * palimpsest ties a model and its tools to a conversation: wrap the model in the middleware, and offer the tools beside your own. The options
 * say what happens where a prompt differs from the record, and to messages that it no longer has: see ViewOptions.
 */
export function palimpsest(conversation: Conversation, options: Pick<ViewOptions, "differs" | "cut"> = {}): { middleware: LanguageModelMiddleware; tools: ToolSet } {
  const add = async (content: Json[], usage: Json, { provider, modelId }: Model) => {
    const format = formatOf(provider);
    const own = content.map(({ providerMetadata: providerOptions, ...part }) => ({ ...part, providerOptions }));
    const sent = elementsOf(format, [{ role: "assistant", content: own }]).map((element) => element.sent);
    if (sent.length === 0) return;
    // A paid reply is the caller's, also where it cannot be put on record now: it comes with the next prompt.
    await conversation.add(replyOf(format, modelId, sent, usage["raw"]), { format }).catch((thrown: unknown) => {
      if (!(thrown instanceof PalimpsestError)) throw thrown;
    });
  };
  return {
    tools: Object.fromEntries((recallTools["openai"] as Definition[]).map(({ function: { name, description, parameters } }) => [name, dynamicTool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: (args, { toolCallId }) => conversation.recall(name, args as object, toolCallId),
    })])),
    middleware: {
      specificationVersion: "v3",
      transformParams: async ({ params, model: { provider, modelId: model } }) => {
        const format = formatOf(provider);
        const prompt: Message[] = params.prompt;
        const begins = prompt.findIndex(({ role }) => role !== "system");
        const standing = prompt.slice(0, begins < 0 ? prompt.length : begins);
        const said = prompt.slice(standing.length);
        const elements = elementsOf(format, said);
        const system = standing.map(({ content }) => content).join("\n\n");
        const pieces = await conversation.view(elements.map(({ sent }) => sent), { format, model, system, tools: params.tools ?? [], ...options });
        return { ...params, prompt: [...standing, ...promptOf(pieces, elements, said)] as typeof params.prompt };
      },
      wrapGenerate: async ({ doGenerate, model }) => {
        const result = await doGenerate();
        await add(result.content, result.usage, model);
        return result;
      },
      wrapStream: async ({ doStream, model }) => {
        const { stream, ...rest } = await doStream();
        const content: Json[] = [];
        const pieces = new Map<string, Json>(); // of content that is under way
        type Chunk = typeof stream extends ReadableStream<infer C> ? C : never;
        const transform = async (chunk: Chunk, controller: TransformStreamDefaultController<Chunk>) => {
          const { type, id, delta, providerMetadata }: Json = chunk;
          const [kind, step] = type.split("-");
          if (type === "tool-call") content.push(chunk);
          if (step === "start" && (kind === "text" || kind === "reasoning")) content.push(pieces.set(kind + id, { type: kind, text: "", providerMetadata }).get(kind + id)!);
          const piece = pieces.get(kind + id);
          if (piece && step === "delta") piece["text"] += delta;
          if (piece && providerMetadata) piece["providerMetadata"] = providerMetadata;
          // What breaks off has no finish: it comes with the next prompt, if the caller keeps it.
          if (chunk.type === "finish" && chunk.finishReason.unified !== "error") await add(content, chunk.usage, model);
          controller.enqueue(chunk);
        };
        return { stream: stream.pipeThrough(new TransformStream({ transform })), ...rest };
      },
    },
  };
}
