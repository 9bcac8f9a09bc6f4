// The agent that every test lets loose on the fake providers: seven model calls, parallel calls, a result of a megabyte, recall.

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { Call, Conversation, Format } from "palimpsest-context";

import { anthropicTools, cite, geminiTools, openaiTools, responsesTools, tools } from "./agents/tools.js";

const fakes = process.env.FAKES!;
const openai = new OpenAI({ baseURL: `${fakes}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: fakes, apiKey: "none", maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: fakes } });

export const formats: Format[] = ["openai", "responses", "anthropic", "gemini"];
export const policy = cite;
export const question = "Why does billing fail, and what is the weather in Kraków?";
const system = "You look after billing.";

/** whole makes one model call and returns the SDK's reply. */
export async function whole(conversation: Conversation, format: Format, model = "fake"): Promise<object> {
  switch (format) {
    case "openai": return openai.chat.completions.create(await conversation.openai({ model, system, tools: openaiTools }));
    case "responses": return openai.responses.create(await conversation.responses({ model, system, tools: responsesTools }));
    case "anthropic": return anthropic.messages.create(await conversation.anthropic({ model, system, tools: anthropicTools, max_tokens: 1000 }));
    case "gemini": return google.models.generateContent(await conversation.gemini({ model, system, tools: geminiTools }));
  }
}

/** streamed makes one model call and returns the SDK's events. */
export async function streamed(conversation: Conversation, format: Format, model = "fake"): Promise<AsyncIterable<object>> {
  switch (format) {
    case "openai": {
      const request = await conversation.openai({ model, system, tools: openaiTools, stream: true, stream_options: { include_usage: true } });
      return openai.chat.completions.create(request);
    }
    case "responses": return openai.responses.create(await conversation.responses({ model, system, tools: responsesTools, stream: true }));
    case "anthropic": return anthropic.messages.create(await conversation.anthropic({ model, system, tools: anthropicTools, max_tokens: 1000, stream: true }));
    case "gemini": return google.models.generateContentStream(await conversation.gemini({ model, system, tools: geminiTools }));
  }
}

/** step is one model call with what follows it. */
export async function step(conversation: Conversation, format: Format, streams: boolean): Promise<Call[]> {
  const calls = streams
    ? await conversation.stream(streamed(conversation, format)).drain()
    : await conversation.add(await whole(conversation, format));
  await conversation.answer(calls, tools);
  return calls;
}

/** play says something and works until the model calls nothing any more. It returns how many model calls that took. */
export async function play(conversation: Conversation, format: Format, words: string, streams = false): Promise<number> {
  conversation.user(words);
  for (let count = 1; ; count++) {
    if ((await step(conversation, format, streams)).length === 0) return count;
  }
}

export interface Stats {
  requests: number;
  refused: number;
  refusals: string[];
  largest_bytes: number;
  calls: Record<string, number>;
}

export async function stats(): Promise<Stats> {
  return await (await fetch(`${fakes}/stats`)).json() as Stats;
}

export async function reset(): Promise<void> {
  await fetch(`${fakes}/reset`, { method: "POST" });
}
