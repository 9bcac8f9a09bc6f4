import { createHash } from "node:crypto";

import type { Json } from "./formats.js";
import type { Raw } from "./raw.js";

/** largestRequest is how many bytes are sent with one request. The sidecar takes 16 MiB; one message may be larger than a request should be. */
export const largestRequest = 8 << 20;
const largestMessage = 15 << 20;

const largeText = 256 << 10; // in a message that is too large for a request
const chunkBytes = 1 << 20;
const texts = new Set(["text", "content", "output", "result", "response", "value"]);

/** Contents stores by stream what is too large for a request. */
export class Contents {
  readonly #raw: Raw;
  readonly #id: () => string;
  readonly #cited = new Map<string, string>(); // citations, by conversation and text

  constructor(raw: Raw, id: () => string) {
    this.#raw = raw;
    this.#id = id;
  }

  /**
   * fitted is a message in JSON as it can be sent; changed says whether the model sees it so. Large texts become contents, for which their
   * citations stand. Media has no such place: the record names what is too large, and the model sees the original.
   */
  async fitted(json: string): Promise<{ json: string; changed: boolean }> {
    const message: unknown = JSON.parse(json);
    const shortened = await this.#shorten(message, "");
    const changed = shortened !== message;
    const out = changed ? JSON.stringify(shortened) : json;
    return { json: Buffer.byteLength(out) > largestMessage ? JSON.stringify(withoutMedia(shortened)) : out, changed };
  }

  /** #shorten gives back the same object if nothing in it is large. */
  async #shorten(value: unknown, key: string): Promise<unknown> {
    if (typeof value === "string") return texts.has(key) && !value.startsWith("data:") ? this.shortened(value) : value;
    if (typeof value !== "object" || value === null) return value;
    let out: Json = value;
    for (const [name, each] of Object.entries(value)) {
      // What stands in a list is of its key, and what stands in a result of Gemini's is named by its tool.
      const short = await this.#shorten(each, Array.isArray(value) || key === "response" ? key : name);
      if (short === each) continue;
      if (out === value) out = (Array.isArray(value) ? [...value] : { ...value }) as Json;
      out[name] = short;
    }
    return out;
  }

  /** shortened is a text or, of a large one, the citation that stands for it. The same text has the same one. */
  async shortened(text: string): Promise<string> {
    if (text.length <= largeText) return text;
    const bytes = new TextEncoder().encode(text);
    const conversationId = this.#id();
    const key = `${createHash("sha256").update(bytes).digest("hex")} ${conversationId}`;
    const known = this.#cited.get(key);
    if (known !== undefined) return known;
    const pieces = async function* () {
      yield { piece: { case: "header" as const, value: { conversationId, reuse: true } } };
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        yield { piece: { case: "chunk" as const, value: bytes.subarray(at, at + chunkBytes) } };
      }
    };
    const { citation } = await this.#raw.content.storeContent(pieces());
    this.#cited.set(key, citation!.text);
    return citation!.text;
  }
}

/** withoutMedia names the media in a message that is large, in place of it. */
function withoutMedia(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withoutMedia(each));
  const { type, inlineData, inline_data, image_url, input_audio, source, file, file_data } = value as Json;
  if ([inlineData, inline_data, image_url, input_audio, source, file, file_data].some((media) => sizeOf(media) > largeText)) {
    const text = `[a file of ${sizeOf(value)} bytes in base64]`;
    return inlineData || inline_data ? { text } : { type: String(type).startsWith("input_") && !input_audio ? "input_text" : "text", text };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutMedia(each)]));
}

function sizeOf(media: unknown): number {
  return media === undefined ? 0 : JSON.stringify(media).length;
}
