import { createHash } from "node:crypto";

import type { Json } from "./formats.js";
import { type Contents, largestRequest } from "./large.js";

/** Known is the front of a list that the sidecar has read before. */
export interface Known {
  readonly count: number;
  readonly sha256: string;
}

/** List is a caller's whole list as it is sent, and what stands in it for elements that are too large for a request. */
export interface List {
  readonly elements: readonly string[];
  readonly standIns: ReadonlyMap<number, Json>;
}

const nothing: Known = { count: 0, sha256: "" };

/** listOf writes a list's elements, with those that are too large as they can be sent. */
export async function listOf(messages: readonly unknown[], contents: Contents): Promise<List> {
  const elements = messages.map((message) => JSON.stringify(message));
  const standIns = new Map<number, Json>();
  for (const [i, element] of elements.entries()) {
    if (element.length * 3 <= largestRequest || bytesOf(element) <= largestRequest) continue;
    const { json, changed } = await contents.fitted(element);
    elements[i] = json;
    if (changed) standIns.set(i, JSON.parse(json) as Json);
  }
  return { elements, standIns };
}

/** fronts are the sidecar's hashes over the first elements, as they are sent: over all of them, all but the last, and so on. */
export function fronts(elements: readonly string[], most: number): Known[] {
  const out: Known[] = [];
  let hash: Uint8Array = Buffer.alloc(32);
  for (const [i, element] of elements.entries()) {
    hash = createHash("sha256").update(hash).update(element).digest();
    if (i >= elements.length - most) out.unshift({ count: i + 1, sha256: Buffer.from(hash).toString("hex") });
  }
  return out;
}

/** isFront says whether a list still begins as it did. */
export function isFront(known: Known, elements: readonly string[]): boolean {
  if (known.count === 0 || known.count > elements.length) return false;
  return fronts(elements.slice(0, known.count), 1)[0]!.sha256 === known.sha256;
}

/** part is how far a request can go, in a list behind what is known. */
export function part(elements: readonly string[], known: Known = nothing): number {
  let room = largestRequest;
  let end = known.count;
  while (end < elements.length && (room -= bytesOf(elements[end]!)) >= 0) end++;
  return Math.max(end, Math.min(known.count + 1, elements.length));
}

/** leadsWithSystem says whether a system prompt stands in a list, before all else. */
export function leadsWithSystem(list: unknown): boolean {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const role = typeof first === "object" && first !== null && "role" in first ? first.role : undefined;
  return role === "system" || role === "developer";
}

/** isFirst says whether a list holds nothing of a model's. */
export function isFirst(elements: readonly string[]): boolean {
  return elements.every((element) => ["user", "system", "developer"].includes((JSON.parse(element) as Json | null)?.role));
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
