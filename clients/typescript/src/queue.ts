import { randomUUID } from "node:crypto";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";

import { PalimpsestError } from "./errors.js";
import { BatchAppendItemSchema, type BatchAppendMessagesResponse } from "./gen/palimpsest/v1/context_service_pb.js";
import { type Contents, largestRequest } from "./large.js";
import type { Raw } from "./raw.js";

/** Item is a message that goes on record. */
export type Item = MessageInitShape<typeof BatchAppendItemSchema>;

/** Entry is an item that waits, and what the caller gave for it. */
export interface Entry {
  item: Item;
  readonly given: unknown;
  bytes?: number; // once it was measured, and large texts of it were stored
}

type Send<R> = (items: Item[], requestId: string) => Promise<R>;

const mostItems = 1000; // of a request

/** Queue is what goes on record next, in the order in which it was said. */
export class Queue {
  readonly #raw: Raw;
  readonly #id: () => string;
  readonly #contents: Contents;
  #waiting: Entry[] = [];
  #unsettled: (() => Promise<unknown>) | undefined; // a call with entries, of which nobody knows whether it was carried out
  #last: Promise<unknown> = Promise.resolve(); // of the calls that carry entries, one at a time

  constructor(raw: Raw, id: () => string, contents: Contents) {
    this.#raw = raw;
    this.#id = id;
    this.#contents = contents;
  }

  /** items are those that wait. */
  get items(): Item[] {
    return this.#waiting.map(({ item }) => item);
  }

  push(item: Item, given: unknown): Entry {
    const entry = { item, given };
    this.#waiting.push(entry);
    return entry;
  }

  has(entry: Entry): boolean {
    return this.#waiting.includes(entry);
  }

  /** append puts on record what waits. The answer is that to the last entries of it. */
  append(): Promise<BatchAppendMessagesResponse | undefined> {
    return this.commit(async (items, requestId) => (items.length > 0 ? this.#append(items, requestId) : undefined));
  }

  /**
   * commit sends what waits, one call at a time; what is too much for one request goes ahead of it. What may have been carried out is
   * settled before anything else is sent. What is refused waits no longer, and is given back with the error; the rest goes with the next call.
   */
  commit<R>(send: Send<R>): Promise<R> {
    const done = this.#last.then(async () => {
      await this.#settle();
      const batches = await this.#batches();
      const last = batches.pop() ?? [];
      for (const batch of batches) await this.#carry(batch, (items, requestId) => this.#append(items, requestId));
      return this.#carry(last, send);
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  #append(items: Item[], requestId: string): Promise<BatchAppendMessagesResponse> {
    return this.#raw.context.batchAppendMessages({ conversationId: this.#id(), items, requestId });
  }

  async #carry<R>(entries: readonly Entry[], send: Send<R>): Promise<R> {
    const requestId = randomUUID();
    const carry = async () => {
      const reply = await send(entries.map(({ item }) => item), requestId);
      this.#drop(entries);
      return reply;
    };
    try {
      return await carry();
    } catch (thrown) {
      if (entries.length > 0 && isUnknown(thrown)) this.#unsettled = carry;
      else if (thrown instanceof PalimpsestError && thrown.ofInput) this.#giveBack(entries, thrown);
      throw thrown;
    }
  }

  /** #giveBack takes out what was refused: the items that the error names. */
  #giveBack(entries: readonly Entry[], error: PalimpsestError): void {
    const named = new Set(error.violations.flatMap(({ field }) => /\bitems\[(\d+)\]/.exec(field)?.[1] ?? []).map(Number));
    const refused = entries.filter((_, i) => named.has(i) || entries.length === 1);
    error.refused = refused.map(({ given }) => given);
    this.#drop(refused);
  }

  #drop(entries: readonly Entry[]): void {
    this.#waiting = this.#waiting.filter((entry) => !entries.includes(entry));
  }

  async #settle(): Promise<void> {
    if (!this.#unsettled) return;
    try {
      await this.#unsettled();
    } catch (thrown) {
      if (isUnknown(thrown)) throw thrown; // else it was not carried out, and its items go with the next call
    }
    this.#unsettled = undefined;
  }

  async #batches(): Promise<Entry[][]> {
    const batches: Entry[][] = [];
    let room = 0;
    for (const entry of this.#waiting) {
      const bytes = (entry.bytes ??= await this.#measured(entry));
      if (bytes > room || batches.at(-1)?.length === mostItems) {
        batches.push([]);
        room = largestRequest;
      }
      batches.at(-1)!.push(entry);
      room -= bytes;
    }
    return batches;
  }

  /** #measured is how many bytes an entry takes, once its large texts are contents of their own. */
  async #measured(entry: Entry): Promise<number> {
    const bytes = bytesOf(entry.item);
    if (bytes <= largestRequest) return bytes;
    const { message, providerInput } = entry.item;
    if (providerInput?.json) {
      const { json } = await this.#contents.fitted(providerInput.json);
      entry.item = { ...entry.item, providerInput: { ...providerInput, json } } as Item;
    } else if (message) entry.item = { ...entry.item, message: await this.#withCitations(message) } as Item;
    return bytesOf(entry.item);
  }

  async #withCitations(message: NonNullable<Item["message"]>): Promise<NonNullable<Item["message"]>> {
    const parts = [];
    for (const part of message.parts ?? []) {
      const content = part.content;
      if (content?.case === "text") parts.push({ ...part, content: { case: "text", value: await this.#contents.shortened(content.value) } });
      else if (content?.case === "toolResult" && typeof content.value.output?.value === "string") {
        const value = await this.#contents.shortened(content.value.output.value);
        parts.push({ ...part, content: { case: "toolResult", value: { ...content.value, output: { case: "text", value } } } });
      } else parts.push(part);
    }
    return { ...message, parts } as NonNullable<Item["message"]>;
  }
}

/** isUnknown says whether a call that failed may have been carried out. */
export function isUnknown(thrown: unknown): boolean {
  return thrown instanceof PalimpsestError && thrown.unknownOutcome;
}

function bytesOf(item: Item): number {
  return toBinary(BatchAppendItemSchema, create(BatchAppendItemSchema, item)).length;
}
