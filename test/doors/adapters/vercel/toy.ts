// The toy on Palimpsest, played by the AI SDK with its own model class: its tools, what it is asked, and what is on record of it.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel, type ModelMessage } from "ai";
import type { MockLanguageModelV3 } from "ai/test";
import { Palimpsest } from "palimpsest-context";
import { palimpsest } from "palimpsest-context/vercel";

const address = process.env["PALIMPSEST_ADDRESS"]!;
const fakes = process.env["FAKES"]!;

export const question = "Find out why billing fails, and tell me the weather.";
export const again = "Say that twice.";
export const fatal = "FATAL payment gateway refused certificate 7731";
// What is on record of the first question, and then of the second.
export const found = [
  "user",
  ...["assistant", "call get_weather", "call web_search", "result", "result"],
  ...["call fetch_log", "result"],
  ...["call retrieve_content", "result"],
  ...["call expand_message", "call search_conversation", "result", "result"],
  "assistant",
];
export const repeated = ["user", "assistant", "call get_weather", "result", "assistant"];

export function fetchLog(): string {
  const lines = Array.from({ length: 15_000 }, (_, i) => `2026-11-23T10:00:00Z INFO billing worker ${i} settled invoice ${i * 7919}`);
  lines[9_000] = `2026-11-23T10:30:00Z ${fatal}`;
  return lines.join("\n");
}

const takes = (name: string) => jsonSchema<Record<string, string>>({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

export const own = {
  get_weather: tool({ description: "Tells the weather of a city.", inputSchema: takes("city"), execute: ({ city }) => `${city}: 14 degrees, light rain.` }),
  web_search: tool({ description: "Searches the web.", inputSchema: takes("q"), execute: ({ q }) => `Nothing new about ${q}.` }),
  fetch_log: tool({
    description: "Returns the log of a service.",
    inputSchema: takes("service"),
    execute: () => {
      // Between the model's reply and the tool's result.
      if (process.env["FRAIL"]) process.kill(process.pid, "SIGKILL");
      return fetchLog();
    },
  }),
};

export interface Options {
  /** One of the fakes', by name, or another. */
  model?: string | MockLanguageModelV3;
  differs?: "refuse";
  /** Is told the new messages after each step. */
  kept?: (messages: ModelMessage[]) => void;
}

export type Play = (client: Palimpsest, name: string, messages: ModelMessage[], options?: Options) => Promise<ModelMessage[]>;

function call(client: Palimpsest, name: string, messages: ModelMessage[], { model = "fake", differs, kept }: Options) {
  const conversation = client.conversation(name, { policy: { citations: { enabled: true, thresholdChars: 3000 } } });
  const { middleware, tools } = palimpsest(conversation, differs ? { differs } : {});
  const openai = createOpenAI({ baseURL: `${fakes}/v1`, apiKey: "none" });
  return {
    model: wrapLanguageModel({ model: typeof model === "string" ? openai.chat(model) : model, middleware }),
    system: "You are terse.",
    messages,
    tools: { ...own, ...tools },
    stopWhen: stepCountIs(10),
    maxRetries: 0,
    onStepFinish: async (step: Replied) => kept?.([...messages, ...await replies(step)]),
  };
}

type Replied = { response: unknown; responseMessages?: unknown };

/** replies are the messages that a call came to. In version 7 of the SDK, its response has those of the last step alone. */
async function replies({ response, responseMessages }: Replied): Promise<ModelMessage[]> {
  return (await responseMessages ?? (await response as { messages: unknown }).messages) as ModelMessage[];
}

/** whole lets the model answer, and returns the messages with what was said. */
export const whole: Play = async (client, name, messages, options = {}) => {
  return [...messages, ...await replies(await generateText(call(client, name, messages, options)))];
};

/** streamed does the same, piece by piece. */
export const streamed: Play = async (client, name, messages, options = {}) => {
  const result = streamText({ ...call(client, name, messages, options), onError: () => undefined });
  const faults: unknown[] = [];
  for await (const part of result.fullStream) if (part.type === "error") faults.push(part.error);
  if (faults.length > 0) throw faults[0];
  return [...messages, ...await replies(result)];
};

export const user = (content: string): ModelMessage => ({ role: "user", content });

export async function both(client: Palimpsest, name: string, play: Play = whole): Promise<ModelMessage[]> {
  return play(client, name, [...(await play(client, name, [user(question)])), user(again)]);
}

/** record is what is on record and was not taken back, a word or two for each part. */
export async function record(client: Palimpsest, name: string): Promise<string[]> {
  const { messages } = await client.raw.conversation.listMessages({ conversationId: name, pageSize: 1000 });
  const roles = ["", "system", "user", "assistant", "result"];
  return messages.filter(({ view }) => !view?.hidden).flatMap(({ role, parts }) => parts.map(({ content }) => (
    content.case === "toolCall" ? `call ${content.value.name}` : content.case === "toolResult" ? "result" : roles[role]!)));
}

export const connect = () => new Palimpsest(address);

export async function stats(): Promise<{ requests: number; refused: number; refusals: string[]; largest_bytes: number; calls: Record<string, number> }> {
  return (await (await fetch(`${fakes}/stats`)).json()) as Awaited<ReturnType<typeof stats>>;
}

export const reset = () => fetch(`${fakes}/reset`, { method: "POST" });
