import { createHash } from "node:crypto";

/** Known is the front of a list that the sidecar has read before. */
export interface Known {
  readonly count: number;
  readonly sha256: string;
}

/** isFront says whether a list still begins as it did: the sidecar's hash over the first elements, as they are sent. */
export function isFront(known: Known, elements: readonly string[]): boolean {
  if (known.count === 0 || known.count > elements.length) return false;
  let hash: Uint8Array = Buffer.alloc(32);
  for (const element of elements.slice(0, known.count)) {
    hash = createHash("sha256").update(hash).update(element).digest();
  }
  return Buffer.from(hash).toString("hex") === known.sha256;
}

/** leadsWithSystem says whether a system prompt stands in a list, before all else. */
export function leadsWithSystem(list: unknown): boolean {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const role = typeof first === "object" && first !== null && "role" in first ? first.role : undefined;
  return role === "system" || role === "developer";
}
