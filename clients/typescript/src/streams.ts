import type { Format, Json } from "./formats.js";

/** Assembled is what a stream came to: the reply as the provider would have answered it without streaming. */
export interface Assembled {
  format: Format;
  reply: Json;
}

/** Assembler puts the events of a stream together. It takes what the SDKs hand on, and depends on none of them. */
export class Assembler {
  #reply: Reply | undefined;

  take(event: Json): void {
    this.#reply ??= begin(event);
    this.#reply?.take(event);
  }

  /** whole is the reply so far; undefined before the first event that says whose it is. */
  whole(): Assembled | undefined {
    return this.#reply && { format: this.#reply.format, reply: this.#reply.whole() };
  }
}

interface Reply {
  readonly format: Format;
  take(event: Json): void;
  whole(): Json;
}

function begin(event: Json): Reply | undefined {
  if (event.object === "chat.completion.chunk" || Array.isArray(event.choices)) return new ChatReply();
  if (typeof event.type === "string" && event.type.startsWith("response.")) return new ResponsesReply();
  if (event.type === "message_start") return new AnthropicReply();
  if ("candidates" in event || "usageMetadata" in event) return new GeminiReply();
  return undefined;
}

class ChatReply implements Reply {
  readonly format = "openai";
  readonly #head: Json = {};
  readonly #message: Json = {};
  #finish: string | null = null;

  take(chunk: Json): void {
    const { choices, ...head } = chunk;
    Object.assign(this.#head, given(head)); // the usage comes with the last chunk, which has no choice
    const choice = choices?.find((c: Json) => (c.index ?? 0) === 0);
    if (!choice) return;
    extend(this.#message, choice.delta ?? {});
    this.#finish = choice.finish_reason ?? this.#finish;
  }

  whole(): Json {
    const { tool_calls: calls, ...message } = this.#message;
    if (calls) message.tool_calls = calls.filter(Boolean).map(({ index, ...call }: Json) => call);
    const choice = { index: 0, finish_reason: this.#finish, message: { role: "assistant", content: null, ...message } };
    return { ...this.#head, object: "chat.completion", choices: [choice] };
  }
}

// What comes anew in a delta, and is no piece of what came before.
const unbroken = new Set(["id", "index", "name", "role", "type"]);

/** extend adds a delta of Chat Completions to what came before: strings grow, and entries of lists go by their index. */
function extend(whole: Json, delta: Json): void {
  for (const [key, value] of Object.entries(given(delta))) {
    const before = whole[key];
    if (Array.isArray(value)) {
      const entries: Json[] = (whole[key] ??= []);
      for (const entry of value) extend((entries[entry.index ?? entries.length] ??= {}), entry);
    } else if (typeof value === "object") {
      extend((whole[key] ??= {}), value);
    } else {
      whole[key] = typeof before === "string" && typeof value === "string" && !unbroken.has(key) ? before + value : value;
    }
  }
}

class ResponsesReply implements Reply {
  readonly format = "responses";
  #response: Json = {};
  #ended = false;
  readonly #items: Json[] = [];

  take(event: Json): void {
    const at = event.output_index;
    switch (event.type) {
      case "response.completed": case "response.incomplete": case "response.failed":
        this.#ended = true;
        this.#response = event.response;
        break;
      case "response.created": case "response.in_progress":
        this.#response = event.response;
        break;
      case "response.output_item.done":
        this.#items[at] = event.item;
        break;
      case "response.output_item.added":
        this.#items[at] = structuredClone(event.item); // it grows, and the event is the caller's
        break;
      case "response.content_part.added": case "response.content_part.done":
        ((this.#items[at] ??= { type: "message", role: "assistant" }).content ??= [])[event.content_index] = structuredClone(event.part);
        break;
      case "response.output_text.delta": {
        const part = this.#items[at]?.content?.[event.content_index];
        if (part) part.text += event.delta;
        break;
      }
    }
  }

  whole(): Json {
    if (this.#ended) return this.#response;
    return { object: "response", ...this.#response, output: this.#items.filter(Boolean) }; // what is not whole says so in its status
  }
}

class AnthropicReply implements Reply {
  readonly format = "anthropic";
  #message: Json = {};
  readonly #inputs = new Map<number, string>(); // of calls, as far as they came
  readonly #stopped = new Set<number>();

  take(event: Json): void {
    const block = this.#message.content?.[event.index];
    switch (event.type) {
      case "message_start":
        this.#message = { ...event.message, content: [], usage: { ...event.message.usage } };
        break;
      case "content_block_start":
        this.#message.content[event.index] = { ...event.content_block };
        break;
      case "content_block_delta":
        if (block) this.#grow(event.index, block, event.delta);
        break;
      case "content_block_stop":
        this.#stopped.add(event.index);
        if (block && this.#inputs.has(event.index)) block.input = object(this.#inputs.get(event.index)!);
        break;
      case "message_delta":
        Object.assign(this.#message, given(event.delta));
        Object.assign(this.#message.usage, given(event.usage ?? {})); // totals, not differences
        break;
    }
  }

  #grow(index: number, block: Json, delta: Json): void {
    switch (delta.type) {
      case "text_delta": block.text += delta.text; break;
      case "thinking_delta": block.thinking += delta.thinking; break;
      case "signature_delta": block.signature = delta.signature; break;
      case "citations_delta": (block.citations ??= []).push(delta.citation); break;
      case "input_json_delta": this.#inputs.set(index, (this.#inputs.get(index) ?? "") + delta.partial_json); break;
    }
  }

  whole(): Json {
    const content = list(this.#message.content).filter((block, i) => block && (block.type === "text" || this.#stopped.has(i)));
    return { ...this.#message, content };
  }
}

class GeminiReply implements Reply {
  readonly format = "gemini";
  readonly #head: Json = {};
  readonly #candidate: Json = {};
  readonly #parts: Json[] = [];

  take(chunk: Json): void {
    const { candidates, sdkHttpResponse, ...head } = chunk;
    Object.assign(this.#head, given(head));
    const { content, ...candidate } = candidates?.[0] ?? {};
    Object.assign(this.#candidate, given(candidate));
    for (const part of list(content?.parts)) this.#add(part);
  }

  /** #add merges text with the text before it, up to a signature, which belongs to all that came before it in its part. */
  #add(part: Json): void {
    const last = this.#parts.at(-1);
    const merges = last && plainText(last) && !last.thoughtSignature && plainText(part) && Boolean(last.thought) === Boolean(part.thought);
    if (!merges) this.#parts.push({ ...part });
    else Object.assign(last, part, { text: last.text + part.text });
  }

  whole(): Json {
    return { ...this.#head, candidates: [{ ...this.#candidate, content: { role: "model", parts: this.#parts } }] };
  }
}

/** object is a call's input. A model may write what is no JSON; its tool is called without arguments then, and can say so. */
function object(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function plainText(part: Json): boolean {
  return typeof part.text === "string" && !part.functionCall && !part.inlineData;
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

function given(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}
