import { Channel, type ChannelOptions } from "./channel.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import type { Format, Json } from "./formats.js";
import { recallTools } from "./gen/tools.js";
import { startLocal, type LocalOptions, type LocalSidecar } from "./local.js";
import { rawOf, type Raw } from "./raw.js";

const patienceMs = 1000; // of conversations that go on without the sidecar

/** Palimpsest is a connection to a sidecar: `new Palimpsest("127.0.0.1:7171")`, or `"unix:///run/p.sock"`. */
export class Palimpsest implements AsyncDisposable {
  /** raw are the sidecar's own calls. */
  readonly raw: Raw;
  readonly #channel: Channel;
  readonly #impatient: Raw;
  #sidecar: LocalSidecar | undefined;

  constructor(address: string, options: ChannelOptions = {}) {
    this.#channel = new Channel(address, options);
    this.raw = rawOf(this.#channel);
    this.#impatient = rawOf(this.#channel, patienceMs);
  }

  /** local starts a sidecar beside this process, on a socket of its own, and connects to it. */
  static async local(options: LocalOptions = {}): Promise<Palimpsest> {
    const sidecar = await startLocal(options);
    const palimpsest = new Palimpsest(sidecar.address, options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs });
    palimpsest.#sidecar = sidecar;
    return palimpsest;
  }

  /** conversation is the one with this id. It is created when something is put on record, or with the settings before its first call. */
  conversation(id: string, options: ConversationOptions = {}): Conversation {
    return new Conversation(id, options.onUnavailable === "pass" ? this.#impatient : this.raw, options);
  }

  /** tools are the definitions of the tools by which a model gets text back, as a provider takes them. */
  tools(format: Format, options: { memory?: boolean } = {}): Json[] {
    return structuredClone(recallTools[options.memory ? `${format}_memory` : format]) as Json[];
  }

  /** pid is the process of the sidecar that local started. */
  get pid(): number | undefined {
    return this.#sidecar?.pid;
  }

  /** close ends the connection, and the sidecar that local started. */
  async close(): Promise<void> {
    this.#channel.close();
    await this.#sidecar?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
