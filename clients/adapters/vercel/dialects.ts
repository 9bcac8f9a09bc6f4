// What parts of the SDK's messages are in the formats of providers.
import type { Format, Json } from "../formats.js";

type Media = { mime: string; name: string; id?: string; url?: string; data?: string }; // data in base64
type Dialect = {
  text(text: string, options: Json, role: string): Json;
  media(media: Media): Json | undefined;
  reasoning(text: string, options: Json): Json | undefined;
  call(id: string, name: string, input: string, options: Json): Json;
  result(id: string, name: string, content: string | Json[], failed: boolean): Json;
  message(role: string, parts: Json[]): Json;
};

const href = ({ mime, url, data }: Media) => url ?? `data:${mime};base64,${data}`;
const isImage = ({ mime, id }: Media) => mime.startsWith("image/") && id === undefined;
const signed = ({ thoughtSignature }: Json) => (thoughtSignature ? { thoughtSignature } : {});
const words = (content: Json[]) => content.map(({ text }) => text ?? "").join("");

/** object is a call's input. A model may write what is no JSON. */
export function object(input: unknown): Json {
  try {
    return typeof input === "string" ? JSON.parse(input || "{}") : (input ?? {});
  } catch {
    return {};
  }
}

export const dialects: Record<Format, Dialect> = {
  openai: {
    text: (text) => ({ type: "text", text }),
    media: (media) => (isImage(media) ? { type: "image_url", image_url: { url: href(media) } } : media.url ? undefined
      : { type: "file", file: media.id ? { file_id: media.id } : { filename: media.name, file_data: href(media) } }),
    reasoning: () => undefined,
    call: (id, name, input) => ({ id, type: "function", function: { name, arguments: input } }),
    result: (id, _, content) => ({ role: "tool", tool_call_id: id, content }),
    message: (role, parts) => {
      const calls = parts.filter(({ type }) => type === "function");
      return role === "user" ? { role, content: parts } : { role, content: words(parts) || (calls.length ? null : ""), ...(calls.length ? { tool_calls: calls } : {}) };
    },
  },
  responses: {
    text: (text, _, role) => (role === "assistant" ? { role, content: [{ type: "output_text", text }] } : { type: "input_text", text }),
    media: (media) => (isImage(media) ? { type: "input_image", image_url: href(media) }
      : { type: "input_file", ...(media.id ? { file_id: media.id } : media.url ? { file_url: media.url } : { filename: media.name, file_data: href(media) }) }),
    reasoning: (text, { itemId, reasoningEncryptedContent: encrypted }) => (encrypted
      ? { type: "reasoning", id: itemId, encrypted_content: encrypted, summary: text ? [{ type: "summary_text", text }] : [] } : undefined),
    call: (id, name, input) => ({ type: "function_call", call_id: id, name, arguments: input }),
    result: (id, _, output) => ({ type: "function_call_output", call_id: id, output }),
    message: (role, content) => ({ role, content }),
  },
  anthropic: {
    text: (text) => ({ type: "text", text }),
    media: ({ mime, id, url, data }) => ({ type: mime.startsWith("image/") ? "image" : "document",
      source: id ? { type: "file", file_id: id } : url ? { type: "url", url } : { type: "base64", media_type: mime, data } }),
    reasoning: (thinking, { signature, redactedData: data }) => (
      data ? { type: "redacted_thinking", data } : signature ? { type: "thinking", thinking, signature } : undefined),
    call: (id, name, input) => ({ type: "tool_use", id, name, input: object(input) }),
    result: (id, _, content, failed) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content, ...(failed ? { is_error: true } : {}) }] }),
    message: (role, content) => ({ role, content }),
  },
  gemini: {
    text: (text, options) => ({ text, ...signed(options) }),
    media: ({ mime, id, url, data }) => (url ?? id ? { fileData: { mimeType: mime, fileUri: url ?? id } } : { inlineData: { mimeType: mime, data } }),
    reasoning: (text, options) => ({ text, thought: true, ...signed(options) }),
    call: (id, name, input, options) => ({ functionCall: { id, name, args: object(input) }, ...signed(options) }),
    result: (id, name, content) => ({ role: "user", parts: [{ functionResponse: typeof content === "string" ? { id, name, response: { output: content } }
      : { id, name, response: { output: words(content) }, parts: content.filter((part) => part["inlineData"] || part["fileData"]) } }] }),
    message: (role, parts) => ({ role: role === "user" ? role : "model", parts }),
  },
};

/** replyOf is a provider's whole answer around what the model said. */
export function replyOf(format: Format, model: string, said: Json[], usage: Json | undefined): Json {
  switch (format) {
    case "openai": return { model, choices: [{ message: said[0] }], usage };
    case "responses": return { object: "response", model, output: said, usage };
    case "anthropic": return { type: "message", model, ...said[0], usage };
    case "gemini": return { candidates: [{ content: said[0] }], modelVersion: model, usageMetadata: usage };
  }
}
