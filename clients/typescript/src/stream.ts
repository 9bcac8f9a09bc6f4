import type { Call } from "./calls.js";
import type { Json } from "./formats.js";
import { Assembler, type Assembled } from "./streams.js";

/** Stream hands on the events of a reply, and puts the reply on record when they end. */
export class Stream<E> implements AsyncIterable<E> {
  readonly #events: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>;
  readonly #end: (reply: Assembled, aborted: boolean) => Promise<Call[]>;
  #calls: Call[] | undefined;

  constructor(events: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>, end: (reply: Assembled, aborted: boolean) => Promise<Call[]>) {
    this.#events = events;
    this.#end = end;
  }

  /** calls are those that wait for a result, once the events have ended: none of a reply that was cut off. */
  get calls(): Call[] {
    if (!this.#calls) throw new Error("the stream has not been read to its end");
    return this.#calls;
  }

  /** A reply that breaks off, by an error or because the caller leaves the loop, goes on record as far as it is whole. */
  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, void> {
    const assembler = new Assembler();
    let cut = true;
    try {
      for await (const event of await this.#events) {
        assembler.take(event as Json);
        yield event;
      }
      cut = false;
    } finally {
      const reply = assembler.whole();
      this.#calls = reply ? await this.#end(reply, cut) : [];
    }
  }

  /** drain reads to the end, for callers who want no events, and returns the calls. */
  async drain(): Promise<Call[]> {
    for await (const _ of this);
    return this.calls;
  }
}
