// The SDK's prompts, in its versions 6 and 7, as a list in the format of the model's provider.
import type { Format, Json } from "../formats.js";
import { dialects } from "./dialects.js";

export type Message = Json;
/** Own is a message of the caller's, or some of its parts, and where it stands. */
export type Own = { at: number; message: Message };
/** Element is what the sidecar reads, and what it stands for: with it goes what the format has no words for. */
export type Element = { sent: Json; own: Own[] };

export function formatOf(provider: string): Format {
  if (provider.includes("anthropic")) return "anthropic";
  if (/^(google|vertex)/i.test(provider)) return "gemini";
  return provider.endsWith(".responses") ? "responses" : "openai";
}

export function elementsOf(format: Format, prompt: readonly Message[]): Element[] {
  const out: Element[] = [];
  let held: Own[] = [];
  for (const [at, message] of prompt.entries()) {
    const apart = message["role"] === "tool" || (format === "responses" && message["role"] === "assistant");
    for (const one of apart ? message["content"].map((part: Json) => ({ ...message, content: [part] })) : [message]) {
      held.push({ at, message: one });
      const sent = said(format, one);
      const last = out.at(-1);
      if (sent?.["type"] === "reasoning" && sent["id"] === last?.sent["id"] && sent["id"]) { // a further part of the same item
        last!.sent["summary"].push(...sent["summary"]);
        last!.own.push(...held.splice(0));
      } else if (sent) out.push({ sent, own: held.splice(0) });
    }
  }
  out.at(-1)?.own.push(...held);
  return out;
}

/** said is a message as the format says it, or the one part of a message that stands by itself. */
function said(format: Format, { role, content }: Message): Json | undefined {
  const dialect = dialects[format];
  if (role === "system") return content && (format === "gemini" ? { role, parts: [{ text: content }] } : { role, content });
  const parts: Json[] = content.flatMap((part: Json) => partOf(format, role, part) ?? []);
  if (parts.length === 0) return format === "openai" && role === "assistant" ? dialect.message(role, []) : undefined;
  return role === "tool" || (format === "responses" && role === "assistant") ? parts[0] : dialect.message(role, parts);
}

function partOf(format: Format, role: string, part: Json): Json | undefined {
  const dialect = dialects[format];
  const { type, text, toolCallId: id, toolName: name, input, output: made, providerExecuted, providerOptions } = part;
  const options = Object.assign({}, ...Object.values(providerOptions ?? {})) as Json;
  if (providerExecuted) return undefined;
  switch (type) {
    case "text": return text ? dialect.text(text, options, role) : undefined;
    case "reasoning": return dialect.reasoning(text, options);
    case "tool-call": return dialect.call(id, name, typeof input === "string" ? input : JSON.stringify(input ?? {}), options);
    case "tool-result": return role === "tool" ? dialect.result(id, name, output(format, made), made.type.startsWith("error")) : undefined;
    case "file": return role === "user" ? media(format, part) : undefined;
  }
  return undefined;
}

function output(format: Format, { type, value, reason }: Json): string | Json[] {
  const piece = (part: Json) => (part["type"] === "text" ? dialects[format].text(part["text"], {}, "tool") : media(format, part));
  if (type === "content") return value.map(piece);
  if (type === "execution-denied") return reason ?? "Tool execution denied.";
  return type.endsWith("text") ? value : JSON.stringify(value);
}

/** media is a file, as parts of messages and of results have it: bytes, base64, an address, or the id of one that the provider keeps. */
function media(format: Format, part: Json): Json {
  const { type = "", mediaType = "", filename, data: held, url, fileId } = part;
  const [kind, data] = held?.type ? [held.type, held[held.type]] : [type, held ?? url ?? fileId];
  if (kind === "text") return dialects[format].text(data, {}, "user");
  const key = data instanceof URL || /url$/.test(kind) ? "url" : /id$|reference$/.test(kind) ? "id" : "data";
  const text = data instanceof URL ? data.href : typeof data === "string" ? data : Object.values(data)[0];
  const value = data instanceof Uint8Array ? Buffer.from(data).toString("base64") : text;
  const mime = /^[^/]+\/[^*]/.test(mediaType) ? mediaType : /^image/.test(mediaType || type) ? "image/png" : "application/octet-stream";
  return dialects[format].media({ mime, name: filename ?? "file", [key]: value as string }) ?? dialects[format].text(`[${filename ?? mime}]`, {}, "user");
}
