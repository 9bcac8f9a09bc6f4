import { randomUUID } from "node:crypto";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { resultOf, runTool, type Call, type Tools } from "./calls.js";
import { PalimpsestError } from "./errors.js";
import { contextFormat, formatOfReply, wireCalls, type Format, type Json } from "./formats.js";
import type { BatchAppendItemSchema, BuildAppendSchema, BuildContextResponse } from "./gen/palimpsest/v1/context_service_pb.js";
import { type MessageSchema, Role, type ToolCall, type ToolResult } from "./gen/palimpsest/v1/message_pb.js";
import type { PolicySchema } from "./gen/palimpsest/v1/policy_pb.js";
import { OnDivergence, ProviderInputShape as Shape } from "./gen/palimpsest/v1/provider_input_pb.js";
import { isFront, leadsWithSystem, type Known } from "./history.js";
import type { Raw } from "./raw.js";
import { isRecallTool } from "./recall.js";
import { passed, type AnthropicRequest, type BuildFields, type BuildOptions, type GeminiRequest, type OpenAIRequest, type ResponsesRequest } from "./requests.js";
import { Stream } from "./stream.js";
import { waitingCalls } from "./waiting.js";

/** ConversationOptions are settings of a conversation that does not exist yet; one that exists keeps its own. */
export interface ConversationOptions {
  policy?: MessageInitShape<typeof PolicySchema>;
  actorId?: string;
  agentId?: string;
  /** When a reply goes on record: "reply", before its tools run (the default); "step", with the next build, in one commit. */
  durable?: "reply" | "step";
}

/** AddOptions say what a reply does not. */
export interface AddOptions {
  /** Whose reply it is; by default, it says so itself. */
  format?: Format;
  model?: string;
  runId?: string;
  stepId?: string;
  tags?: string[];
  /** True for a reply that was cut off: what is whole of it goes on record. */
  aborted?: boolean;
}

/** SyncOptions say how a whole list is read, and what is built for. */
export interface SyncOptions extends Omit<BuildOptions, "model"> {
  format: Format;
  model?: string;
  /** True to take the record back to where the list differs; by default that is refused with HISTORY_DIVERGED. */
  rewind?: boolean;
  /**
   * True to take it back too, but to let a list with another first message begin another conversation: from then on, id is its id, until a
   * list comes that is another one's.
   */
  anew?: boolean;
}

/** Synced is the view over a whole list. */
export interface Synced {
  /** The arguments of the SDK's call, without the model. */
  readonly request: Json;
  readonly built: BuildContextResponse;
}

/** MessageFields are fields of a message of the API. */
export type MessageFields = Exclude<MessageInitShape<typeof MessageSchema>, MessageShape<typeof MessageSchema>>;

type Item = MessageInitShape<typeof BatchAppendItemSchema>;
type Append = MessageInitShape<typeof BuildAppendSchema>;

const largestReply = 64 << 20;

/** Conversation is one conversation on record at a sidecar. */
export class Conversation {
  readonly #opened: string; // where lists are looked for: one of them may go on elsewhere
  #id: string;
  readonly #raw: Raw;
  readonly #options: ConversationOptions;
  #built: BuildContextResponse | undefined;
  #format: Format | undefined; // of the last build
  #created: Promise<void> | undefined;
  #pending: Item[] = []; // what goes on record next
  #unsettled: (() => Promise<unknown>) | undefined; // a call with pending items, of which nobody knows whether it was carried out
  #last: Promise<unknown> = Promise.resolve(); // of the calls that carry pending items, one at a time
  readonly #added = new WeakMap<object, Added>(); // so that a reply that is added a second time is not doubled
  #known: Known = { count: 0, sha256: "" };
  readonly #results = new Map<string, ToolResult>(); // of calls, until they are pending

  constructor(id: string, raw: Raw, options: ConversationOptions) {
    this.#opened = this.#id = id;
    this.#raw = raw;
    this.#options = options;
  }

  /** id is the id of the conversation; after a sync with anew, of the one in which the list stands. */
  get id(): string {
    return this.#id;
  }

  /** built is the last build, with tokens, decisions and all else that it says. */
  get built(): BuildContextResponse | undefined {
    return this.#built;
  }

  /** user says something with the next build; fields are further ones of the message, such as name. */
  user(text: string, fields: MessageFields = {}): this {
    return this.say({ ...fields, role: Role.USER, parts: [{ content: { case: "text", value: text } }] });
  }

  /** say puts a message on record with the next build: one of the API's own. */
  say(message: MessageInitShape<typeof MessageSchema>): this {
    this.#pending.push({ message });
    return this;
  }

  /** message puts a message on record with the next build, or a list of them: as a provider takes it, by default that of the last build. */
  message(message: object, format: Format | undefined = this.#format): this {
    if (!format) throw new TypeError("no build has said yet whose message this is: name its format");
    this.#pending.push({ providerInput: { format: contextFormat[format], shape: Shape.MESSAGE, json: JSON.stringify(message) } });
    return this;
  }

  /** openai makes what chat.completions.create takes. */
  async openai<const O extends BuildOptions>(options: O): Promise<OpenAIRequest<O>> {
    return { ...passed(options), ...await this.#request("openai", options) } as OpenAIRequest<O>;
  }

  /** responses makes what responses.create takes. */
  async responses<const O extends BuildOptions & { include?: readonly string[] }>(options: O): Promise<ResponsesRequest<O>> {
    const { include, ...request } = await this.#request("responses", options);
    const all = new Set([...(options.include ?? []), ...(include ?? [])]);
    return { ...passed(options), ...request, include: [...all] } as unknown as ResponsesRequest<O>;
  }

  /** anthropic makes what messages.create takes. */
  async anthropic<const O extends BuildOptions>(options: O): Promise<AnthropicRequest<O>> {
    return { ...passed(options), ...await this.#request("anthropic", options) } as AnthropicRequest<O>;
  }

  /** gemini makes what models.generateContent takes. */
  async gemini<const O extends BuildOptions & { config?: object }>(options: O): Promise<GeminiRequest<O>> {
    const { contents, ...config } = await this.#request("gemini", options);
    return { ...passed(options), contents, config: { ...options.config, ...config } } as unknown as GeminiRequest<O>;
  }

  /** add puts a reply on record as the SDK returned it, its usage with it, and returns the calls that wait for a result. */
  async add(reply: object, options: AddOptions = {}): Promise<Call[]> {
    return this.#add(reply, options);
  }

  /** stream hands on the events of a reply. When they end, the reply goes on record; calls has those that wait for a result. */
  stream<E>(events: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>, options: AddOptions = {}): Stream<E> {
    return new Stream(events, ({ format, reply }, aborted) => this.#add(reply, { format, ...options, aborted }));
  }

  /**
   * answer runs the tools that were called, side by side, and the sidecar's own among them. The results go on record with the next build.
   * A tool that throws has a result that tells the model so. Where the sidecar cannot be reached, answer throws; called again with the
   * same calls, it does not run a tool twice.
   */
  async answer(calls: readonly Call[], tools: Tools = {}): Promise<void> {
    const ends = await Promise.allSettled(calls.map((call) => this.#resultOf(call, tools)));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    for (const call of calls) this.result(call, undefined);
  }

  /** result is what a tool returned, for loops that run their tools themselves. What recall has answered stays as it is. */
  result(call: { id: string; name: string }, value: unknown, state: "completed" | "error" = "completed"): this {
    const result = this.#results.get(call.id) ?? resultOf(call, value, state);
    this.#results.delete(call.id);
    return this.say({ role: Role.TOOL, parts: [{ content: { case: "toolResult", value: result } }] });
  }

  /** recall answers a call of one of the sidecar's tools, and returns the text for the model. */
  async recall(name: string, args: string | object, callId: string): Promise<string> {
    const argumentsJson = typeof args === "string" ? args : JSON.stringify(args);
    await this.#create();
    const reply = await this.#raw.context.answerToolCall({ conversationId: this.id, toolCall: { callId, name, argumentsJson } });
    const result = reply.toolResult!;
    this.#results.set(callId, result); // it names its source, so that it is not cited in its turn
    return result.output.case === "text" ? result.output.value : "";
  }

  /** waiting are the calls at the end of the record that no result answers: where a program goes on that was stopped before its tools were done. */
  async waiting(): Promise<Call[]> {
    await this.flush();
    return waitingCalls(this.#raw.conversation, this.id);
  }

  /** flush puts on record now what waits for the next build. */
  async flush(): Promise<void> {
    await this.#commit(async (items, requestId) => {
      if (items.length > 0) await this.#raw.context.batchAppendMessages({ conversationId: this.id, items, requestId });
    });
  }

  /**
   * sync takes the caller's whole list of messages, an array or an object with the keys of a request, puts on record what is new in it,
   * and builds. A front that the sidecar has read before is not sent again.
   */
  async sync(messages: readonly unknown[] | Json, options: SyncOptions): Promise<Synced> {
    const elements = Array.isArray(messages) ? messages.map((message) => JSON.stringify(message)) : undefined;
    // A system prompt that leads the list is on no record: without another, it has to be sent each time.
    const complete = Boolean(options.system) || !leadsWithSystem(messages);
    const known = elements && complete && isFront(this.#known, elements) ? this.#known : undefined;
    const onDivergence = options.anew ? OnDivergence.NEW : options.rewind ? OnDivergence.REWIND : OnDivergence.REFUSE;
    const send = async (from: Known | undefined) => {
      const json = elements ? `[${elements.slice(from?.count ?? 0).join()}]` : JSON.stringify(messages);
      const history = { onDivergence, ...(from ? { knownCount: from.count, knownSha256: from.sha256 } : {}) };
      return this.#build(options.format, options, { providerInput: { format: contextFormat[options.format], shape: Shape.HISTORY, json, history } }, this.#opened);
    };
    const built = await send(known).catch((thrown: unknown) => {
      if (known && isReason(thrown, "HISTORY_PREFIX_UNKNOWN")) return send(undefined);
      throw thrown;
    });
    this.#results.clear(); // what was recalled came with the list
    if (built.history?.conversationId) this.#id = built.history.conversationId;
    if (elements && built.history) this.#known = { count: built.history.knownCount, sha256: built.history.knownSha256 };
    return { request: requestOf(built), built };
  }

  async #request(format: Format, options: BuildOptions): Promise<Json> {
    const build = async (items: Item[], requestId: string) => {
      const fields = { promptCache: true, requestId, ...options.build };
      return requestOf(await this.#build(format, { recallTools: true, ...options, build: fields }, items.length > 0 ? { items } : undefined));
    };
    return options.build?.dryRun ? build(this.#pending, "") : this.#commit(build); // a dry run leaves what is pending
  }

  async #build(format: Format, options: Omit<BuildOptions, "model"> & { model?: string }, append: Append | undefined, conversationId = this.#id): Promise<BuildContextResponse> {
    const request: BuildFields = {
      conversationId,
      format: contextFormat[format],
      model: options.model ?? "",
      fixedInput: { systemPrompt: options.system ?? "", toolsJson: options.tools?.length ? JSON.stringify(options.tools) : "" },
      complete: true,
      recallTools: options.recallTools ?? false,
      ...options.build,
      ...(append ? { append } : {}),
    };
    await this.#create();
    const build = this.#raw.context.buildContext;
    this.#built = await build(request).catch((thrown: unknown) => {
      // It takes room of the sidecar's to be ready for a large answer, and few are.
      if (request.maxReplyBytes !== undefined || !isReason(thrown, "REPLY_TOO_LARGE")) throw thrown;
      return build({ ...request, requestId: request.requestId ? `${request.requestId}-large` : "", maxReplyBytes: largestReply });
    });
    this.#format = format;
    return this.#built;
  }

  async #add(reply: Json, options: AddOptions): Promise<Call[]> {
    let added = this.#added.get(reply);
    if (!added) {
      added = this.#replyOf(reply, options);
      this.#added.set(reply, added);
      this.#pending.push(added.item);
    }
    if (!added.calls) await this.#appendReply(reply, added);
    return added.calls!;
  }

  #replyOf(reply: Json, options: AddOptions): Added {
    const { format = formatOfReply(reply) ?? this.#format, ...rest } = options;
    if (!format) throw new TypeError("this is no reply of a provider's: name its format");
    const later = this.#options.durable === "step";
    const json = JSON.stringify(reply);
    const read = later ? withCallIds(format, JSON.parse(json)) : reply;
    const item = { providerInput: { format: contextFormat[format], shape: Shape.RESPONSE, json: later ? JSON.stringify(read) : json, ...rest } };
    const wire = wireCalls(format, read);
    const added: Added = { item, custom: new Set(wire.filter((call) => call.custom).map((call) => call.id)) };
    if (later) {
      added.calls = options.aborted ? [] : wire.map(({ arguments: argumentsJson, ...call }) => ({ ...call, argumentsJson, recalls: isRecallTool(call.name) }));
    }
    return added;
  }

  async #appendReply(reply: Json, added: Added): Promise<void> {
    try {
      await this.#commit(async (items, requestId) => {
        const { calls } = await this.#raw.context.batchAppendMessages({ conversationId: this.id, items, requestId });
        added.calls = calls.map(({ toolCall, recalls }) => callOf(toolCall!, recalls, added.custom));
      });
    } catch (thrown) {
      if (!isUnknown(thrown)) { // nobody can put it on record as it is
        this.#pending = this.#pending.filter((item) => item !== added.item);
        this.#added.delete(reply);
      }
      throw thrown;
    }
  }

  async #resultOf(call: Call, tools: Tools): Promise<void> {
    if (this.#results.has(call.id)) return;
    if (call.recalls && !Object.hasOwn(tools, call.name)) await this.recall(call.name, call.argumentsJson, call.id);
    else this.#results.set(call.id, await runTool(call, tools));
  }

  /** #commit sends what is pending, one call at a time. What may have been carried out is settled before anything else is sent. */
  #commit<R>(send: (items: Item[], requestId: string) => Promise<R>): Promise<R> {
    const run = async () => {
      await this.#create();
      await this.#settle();
      const items = new Set(this.#pending);
      const requestId = randomUUID();
      const carry = async () => {
        const reply = await send([...items], requestId);
        this.#pending = this.#pending.filter((item) => !items.has(item));
        return reply;
      };
      try {
        return await carry();
      } catch (thrown) {
        if (items.size > 0 && isUnknown(thrown)) this.#unsettled = carry;
        throw thrown;
      }
    };
    const done = this.#last.then(run);
    this.#last = done.catch(() => undefined);
    return done;
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

  #create(): Promise<void> {
    const { durable, ...settings } = this.#options;
    if (Object.keys(settings).length === 0) return Promise.resolve(); // an append creates it
    this.#created ??= this.#raw.conversation.createConversation({ conversation: { id: this.id, ...settings } }).then(() => undefined, (thrown: unknown) => {
      if (isReason(thrown, "CONVERSATION_EXISTS")) return;
      this.#created = undefined;
      throw thrown;
    });
    return this.#created;
  }
}

/** Added is a reply that is on record, or will be. */
interface Added {
  readonly item: Item;
  readonly custom: ReadonlySet<string>;
  calls?: Call[];
}

/** withCallIds gives ids to the calls that have none, as Gemini's: the record and the results have the same then. */
function withCallIds(format: Format, reply: Json): Json {
  for (const part of format === "gemini" ? reply.candidates?.[0]?.content?.parts ?? [] : []) {
    if (part.functionCall) part.functionCall.id ??= `call_${randomUUID()}`;
  }
  return reply;
}

function callOf(call: ToolCall, recalls: boolean, custom: ReadonlySet<string>): Call {
  return { id: call.callId, name: call.name, argumentsJson: call.argumentsJson, recalls, custom: custom.has(call.callId) };
}

function isUnknown(thrown: unknown): boolean {
  return thrown instanceof PalimpsestError && thrown.unknownOutcome;
}

function requestOf(built: BuildContextResponse): Json {
  return JSON.parse(built.rendered!.requestJson) as Json;
}

function isReason(thrown: unknown, reason: string): boolean {
  return thrown instanceof PalimpsestError && thrown.reason === reason;
}
