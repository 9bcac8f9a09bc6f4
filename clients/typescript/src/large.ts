import type { Json } from "./formats.js";
import type { Raw } from "./raw.js";

/** largestRequest is how many bytes are sent with one request. The sidecar takes 16 MiB; what is around them has room. */
export const largestRequest = 8 << 20;

const largeText = 256 << 10; // in an element that is too large for a request
const chunkBytes = 1 << 20;
const texts = new Set(["text", "content", "output", "result", "response", "value"]);

/** withoutLargeTexts is JSON whose large texts lie at the sidecar as contents, and in which their citations stand. */
export async function withoutLargeTexts<V>(raw: Raw, conversationId: string, value: V, key = ""): Promise<V> {
  if (typeof value === "string") {
    return (texts.has(key) && !value.startsWith("data:") ? await shortened(raw, conversationId, value) : value) as V;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const out: unknown[] = [];
    for (const each of value) out.push(await withoutLargeTexts(raw, conversationId, each, key));
    return out as V;
  }
  const out: Json = {};
  // What stands in a result of Gemini's is named by its tool.
  for (const [name, each] of Object.entries(value)) out[name] = await withoutLargeTexts(raw, conversationId, each, key === "response" ? key : name);
  return out as V;
}

/** shortened is a text or, of a large one, which it stores by stream, the citation that stands for it. The same text has the same one. */
export async function shortened(raw: Raw, conversationId: string, text: string): Promise<string> {
  if (text.length <= largeText) return text;
  const bytes = new TextEncoder().encode(text);
  const pieces = async function* () {
    yield { piece: { case: "header" as const, value: { conversationId } } };
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      yield { piece: { case: "chunk" as const, value: bytes.subarray(at, at + chunkBytes) } };
    }
  };
  return (await raw.content.storeContent(pieces())).citation!.text;
}
