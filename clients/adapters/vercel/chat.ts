// Chat Completions as the language between the SDK's prompts and the sidecar.
import type { LanguageModelMiddleware } from "ai";

import type { Json } from "../formats.js";

export type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
export type Message = Params["prompt"][number];
type Stream = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
export type Chunk = Stream extends ReadableStream<infer C> ? C : never;
export type Usage = Extract<Chunk, { type: "finish" }>["usage"];
type Part<R> = Extract<Message, { role: R; content: object }>["content"][number];
type Result = Extract<Part<"tool">, { type: "tool-result" }>;

/** Said is what Chat Completions says for a message or for one of its results, beside the original. */
export type Said = { sent: Json; original: Message };

export type Call = { toolCallId: string; toolName: string; input: unknown; providerExecuted?: boolean | undefined };

/** said is a prompt's message as Chat Completions says it. */
export function said(message: Message): Said[] {
  switch (message.role) {
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result"
        ? [{ sent: { role: "tool", tool_call_id: part.toolCallId, content: textOf(part.output) }, original: { ...message, content: [part] } }] : []));
    case "assistant": {
      const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return [{ sent: assistant(text, message.content.filter((part) => part.type === "tool-call")), original: message }];
    }
    case "user":
      return [{ sent: { role: "user", content: message.content.map(item) }, original: message }];
    default:
      return [{ sent: { role: "system", content: message.content }, original: message }];
  }
}

/** assistant is what the model said. Calls that the provider itself carries out are between the two of them. */
export function assistant(text: string, calls: readonly Call[]): Json {
  const made = calls.filter((call) => !call.providerExecuted).map(({ toolCallId, toolName, input }) => (
    { id: toolCallId, type: "function", function: { name: toolName, arguments: typeof input === "string" ? input : JSON.stringify(input) } }));
  return { role: "assistant", content: text || (made.length ? null : ""), ...(made.length ? { tool_calls: made } : {}) };
}

export function usageOf({ inputTokens, outputTokens }: Usage): Json {
  return {
    prompt_tokens: inputTokens.total ?? 0,
    completion_tokens: outputTokens.total ?? 0,
    prompt_tokens_details: { cached_tokens: inputTokens.cacheRead ?? 0 },
    completion_tokens_details: { reasoning_tokens: outputTokens.reasoning ?? 0 },
  };
}

/**
 * restored is a view in the SDK's words. What is shown as it was said stays the caller's own message: it may hold what Chat Completions has
 * no place for, such as signatures and files.
 */
export function restored(view: readonly Json[], all: readonly Said[]): Message[] {
  const alike = new Map<string, Said[]>();
  for (const each of all) {
    const found = alike.get(key(each.sent));
    if (found) found.push(each);
    else alike.set(key(each.sent), [each]);
  }
  const ids = new Map<string, string>(); // of calls: the sidecar gives its own
  const own = new Map<Json, Message>();
  for (const message of [...view].reverse()) { // What is new is shown whole: of messages that are alike, the last one first.
    const found = message["role"] === "tool" ? undefined : alike.get(key(message))?.pop();
    if (!found) continue;
    own.set(message, found.original);
    callsOf(message).forEach(({ id }, i) => ids.set(id, callsOf(found.sent)[i]!.id));
  }
  const names = new Map(view.flatMap(callsOf).map((call) => [call.id, call.function.name]));
  for (const id of names.keys()) if (!ids.has(id)) ids.set(id, `shown_${id}`); // an id that no model gave
  const answered = (message: Json) => {
    const id = message["tool_call_id"] as string;
    const answers = { ...message, tool_call_id: ids.get(id)! };
    return alike.get(key(answers))?.at(-1)?.original ?? answer(answers, names.get(id)!);
  };
  return view.map((message) => own.get(message) ?? (message["role"] === "tool" ? answered(message) : made(message, ids)));
}

type Wire = { id: string; function: { name: string; arguments: string } };

const callsOf = (message: Json) => (message["tool_calls"] ?? []) as Wire[];

function answer(message: { tool_call_id: string; content?: unknown }, toolName: string): Message {
  const output = { type: "text" as const, value: words(message.content) };
  return { role: "tool", content: [{ type: "tool-result", toolCallId: message.tool_call_id, toolName, output }] };
}

function made(message: Json, ids: ReadonlyMap<string, string>): Message {
  const text = words(message["content"]);
  const texts = text ? [{ type: "text" as const, text }] : [];
  if (message["role"] === "system") return { role: "system", content: text };
  if (message["role"] === "user") return { role: "user", content: texts };
  const calls = callsOf(message).map((call) => (
    { type: "tool-call" as const, toolCallId: ids.get(call.id)!, toolName: call.function.name, input: parsed(call.function.arguments) }));
  return { role: "assistant", content: [...texts, ...calls] };
}

/** key is what makes two messages the same: neither the ids of calls, nor the spacing of arguments, nor parts of text in place of text. */
function key(message: Json): string {
  const content = message["content"];
  const others = Array.isArray(content) ? content.filter((part) => part.type !== "text") : [];
  const calls = callsOf(message).map((call) => [call.function.name, parsed(call.function.arguments)]);
  return JSON.stringify([message["role"], words(content), others, calls, message["tool_call_id"]]);
}

function words(content: unknown): string {
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : ((content ?? "") as string);
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args || "{}");
  } catch {
    return args;
  }
}

function textOf(output: Result["output"]): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "execution-denied":
      return output.reason ?? "Tool execution denied.";
    default:
      return JSON.stringify(output.value);
  }
}

function item(part: Part<"user">): Json {
  if (part.type === "text") return { type: "text", text: part.text };
  // The record names what Chat Completions has no place for; the model sees the original.
  if (!part.mediaType.startsWith("image/")) return { type: "text", text: `[${part.filename ?? part.mediaType}]` };
  const data = part.data instanceof Uint8Array ? Buffer.from(part.data).toString("base64") : part.data;
  return { type: "image_url", image_url: { url: data instanceof URL ? data.href : `data:${part.mediaType};base64,${data}` } };
}
