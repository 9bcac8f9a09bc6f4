import { randomUUID } from "node:crypto";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { resultOf, runTool, type Call, type Tools } from "./calls.js";
import { PalimpsestError } from "./errors.js";
import { contextFormat, formatOfReply, wireCalls, type Format, type Json } from "./formats.js";
import type { BuildAppendSchema, BuildContextResponse } from "./gen/palimpsest/v1/context_service_pb.js";
import { type MessageSchema, Role, type ToolCall, type ToolResult } from "./gen/palimpsest/v1/message_pb.js";
import type { PolicySchema } from "./gen/palimpsest/v1/policy_pb.js";
import { OnCut, OnDivergence, type HistoryOptionsSchema, ProviderInputShape as Shape } from "./gen/palimpsest/v1/provider_input_pb.js";
import { Contents } from "./large.js";
import { fronts, isFront, leadsWithSystem, listOf, part, type Known } from "./lists.js";
import { pieceOf, substituted, type Piece } from "./piece.js";
import { isUnknown, Queue, type Entry, type Item } from "./queue.js";
import type { Raw } from "./raw.js";
import { isRecallTool } from "./recall.js";
import { passed, type AnthropicRequest, type BuildFields, type BuildOptions, type GeminiRequest, type OpenAIRequest, type ResponsesRequest } from "./requests.js";
import { Stream } from "./stream.js";
import { Views } from "./views.js";
import { waitingCalls } from "./waiting.js";

/** ConversationOptions are settings of a conversation that does not exist yet; one that exists keeps its own. */
export interface ConversationOptions {
  policy?: MessageInitShape<typeof PolicySchema>;
  actorId?: string;
  agentId?: string;
  /** When a reply goes on record: "reply", before its tools run (the default); "step", with the next build, in one commit. */
  durable?: "reply" | "step";
  /**
   * What happens where the sidecar is away: "raise" (the default) throws; with "pass", view gives the list as it is, if it was always shown
   * so, else the last view and what is new, and a reply goes on record later.
   */
  onUnavailable?: "raise" | "pass";
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

/** ViewOptions say how a whole list is read, and what is shown of it. */
export interface ViewOptions extends Omit<SyncOptions, "rewind" | "anew"> {
  /** What happens where the list differs from the record: "refuse", "rewind", or "new" (the default), as anew of sync. */
  differs?: "refuse" | "rewind" | "new";
  /** Whether the model goes on to see messages that the list no longer holds, and that no build left out: "keep" or "hide" (the default). */
  cut?: "keep" | "hide";
}

/** Synced is the view over a whole list. */
export interface Synced {
  /** The arguments of the SDK's call, without the model. */
  readonly request: Json;
  readonly built: BuildContextResponse;
}

/** MessageFields are fields of a message of the API. */
export type MessageFields = Exclude<MessageInitShape<typeof MessageSchema>, MessageShape<typeof MessageSchema>>;

type Append = MessageInitShape<typeof BuildAppendSchema>;
type History = Exclude<MessageInitShape<typeof HistoryOptionsSchema>, MessageShape<typeof HistoryOptionsSchema>>;

const largestReply = 64 << 20;
const newest = 64; // elements behind which a large list may have ended when the sidecar read it last
const divergences = { refuse: OnDivergence.REFUSE, rewind: OnDivergence.REWIND, new: OnDivergence.NEW };

/** Conversation is one conversation on record at a sidecar. */
export class Conversation {
  readonly #opened: string; // where lists are looked for: one of them may go on elsewhere
  #id: string;
  readonly #raw: Raw;
  readonly #options: ConversationOptions;
  #built: BuildContextResponse | undefined;
  #format: Format | undefined; // of the last build
  #created: Promise<void> | undefined;
  readonly #contents: Contents;
  readonly #queue: Queue; // what goes on record next
  readonly #views = new Views();
  #passed = false; // whether the last list is on no record
  readonly #added = new WeakMap<object, Added>(); // so that a reply that is added a second time is not doubled
  #known: Known = { count: 0, sha256: "" };
  readonly #results = new Map<string, ToolResult>(); // of calls, until they are pending

  constructor(id: string, raw: Raw, options: ConversationOptions) {
    this.#opened = this.#id = id;
    this.#raw = raw;
    this.#options = options;
    this.#contents = new Contents(raw, () => this.#id);
    this.#queue = new Queue(raw, () => this.#id, this.#contents);
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
    this.#queue.push({ message }, message);
    return this;
  }

  /** message puts a message on record with the next build, or a list of them: as a provider takes it, by default that of the last build. */
  message(message: object, format: Format | undefined = this.#format): this {
    if (!format) throw new TypeError("no build has said yet whose message this is: name its format");
    this.#queue.push({ providerInput: { format: contextFormat[format], shape: Shape.MESSAGE, json: JSON.stringify(message) } }, message);
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
    await this.#create();
    await this.#queue.append();
  }

  /**
   * sync takes the caller's whole list of messages, an array or an object with the keys of a request, puts on record what is new in it,
   * and builds. A front that the sidecar has read before is not sent again.
   */
  async sync(messages: readonly unknown[] | Json, { rewind, anew, ...options }: SyncOptions): Promise<Synced> {
    const { built } = await this.#listed(messages, options, { onDivergence: divergences[anew ? "new" : rewind ? "rewind" : "refuse"] });
    return { request: requestOf(built), built };
  }

  /** view does the same by place, for whoever keeps objects of its own: what the model should see, as runs of the list's elements. */
  async view(messages: readonly unknown[], { differs = "new", cut = "hide", ...options }: ViewOptions): Promise<Piece[]> {
    const history = { onDivergence: divergences[differs], onCut: cut === "hide" ? OnCut.HIDE : OnCut.KEEP, byPlace: true };
    try {
      const { built, standIns } = await this.#listed(messages, options, history);
      const pieces = substituted(built.history!.view.map(pieceOf), standIns);
      if (this.#passes) this.#views.keep(messages, pieces);
      this.#passed = false;
      return pieces;
    } catch (thrown) {
      const pieces = this.#passes && thrown instanceof PalimpsestError && thrown.away ? this.#views.pass(messages) : undefined;
      if (!pieces) throw thrown;
      this.#passed = true;
      return pieces;
    }
  }

  get #passes(): boolean {
    return this.#options.onUnavailable === "pass";
  }

  async #listed(messages: readonly unknown[] | Json, options: Omit<SyncOptions, "rewind" | "anew">, history: History) {
    await this.flush();
    const { format } = options;
    let id = this.#opened;
    const input = (json: string, from: Known | undefined) => (
      { format: contextFormat[format], shape: Shape.HISTORY, json, history: { ...history, ...(from ? { knownCount: from.count, knownSha256: from.sha256 } : {}) } });
    const build = (json: string, from?: Known) => this.#build(format, options, { providerInput: input(json, from) }, id);
    const list = Array.isArray(messages) ? await listOf(messages, this.#contents) : undefined;
    if (!list) return { built: this.#stands(await build(JSON.stringify(messages))), standIns: new Map<number, Json>() };
    const { elements, standIns } = list;
    const send = async (from?: Known) => {
      let end = part(elements, from);
      for (; end < elements.length; end = part(elements, from)) { // what is too much for one request goes ahead
        const ahead = input(`[${elements.slice(from?.count ?? 0, end).join()}]`, from);
        const read = (await this.#raw.context.appendMessage({ conversationId: id, providerInput: ahead })).history!;
        from = { count: read.knownCount, sha256: read.knownSha256 };
        id = read.conversationId || id;
      }
      return build(`[${elements.slice(from?.count ?? 0).join()}]`, from);
    };
    // A system prompt that leads the list is on no record: without another, it has to be sent each time.
    const complete = Boolean(options.system) || !leadsWithSystem(messages);
    const known = complete && isFront(this.#known, elements) ? [this.#known] : [];
    const large = complete && part(elements) < elements.length;
    for (const from of [...known, ...(large ? fronts(elements, newest) : [])]) {
      if (known[0] !== from && part(elements, from) < elements.length) break;
      const built = await send(from).catch((thrown: unknown) => {
        if (!isReason(thrown, "HISTORY_PREFIX_UNKNOWN")) throw thrown;
      });
      if (built) return { built: this.#stands(built), standIns };
    }
    return { built: this.#stands(await send()), standIns };
  }

  /** #stands notes where a list stands that was read. */
  #stands(built: BuildContextResponse): BuildContextResponse {
    this.#results.clear(); // what was recalled came with the list
    if (built.history?.conversationId) this.#id = built.history.conversationId;
    if (built.history) this.#known = { count: built.history.knownCount, sha256: built.history.knownSha256 };
    return built;
  }

  async #request(format: Format, options: BuildOptions): Promise<Json> {
    const build = async (items: Item[], requestId: string) => {
      const fields = { promptCache: true, requestId, ...options.build };
      return requestOf(await this.#build(format, { recallTools: true, ...options, build: fields }, items.length > 0 ? { items } : undefined));
    };
    await this.#create();
    return options.build?.dryRun ? build(this.#queue.items, "") : this.#queue.commit(build); // a dry run leaves what waits
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
    const before = this.#added.get(reply);
    const added = before ?? this.#replyOf(reply, options);
    if (!before && this.#passed) return added.wire; // it comes with the next list
    this.#added.set(reply, added);
    added.entry ??= this.#queue.push(added.item, reply);
    if (!added.calls) await this.#appendReply(reply, added);
    return added.calls!;
  }

  #replyOf(reply: Json, options: AddOptions): Added {
    const { format = formatOfReply(reply) ?? this.#format, ...rest } = options;
    if (!format) throw new TypeError("this is no reply of a provider's: name its format");
    const later = this.#options.durable === "step";
    const json = JSON.stringify(reply);
    const read = later || this.#passes ? withCallIds(format, JSON.parse(json)) : reply;
    const item = { providerInput: { format: contextFormat[format], shape: Shape.RESPONSE, json: read === reply ? json : JSON.stringify(read), ...rest } };
    const wire = options.aborted ? [] : wireCalls(format, read)
      .map(({ arguments: argumentsJson, ...call }) => ({ ...call, argumentsJson, recalls: isRecallTool(call.name) }));
    return { item, wire, ...(later ? { calls: wire } : {}) };
  }

  async #appendReply(reply: Json, added: Added): Promise<void> {
    try {
      await this.#create();
      const appended = await this.#queue.append();
      const custom = new Set(added.wire.filter((call) => call.custom).map((call) => call.id));
      added.calls = appended ? appended.calls.map(({ toolCall, recalls }) => callOf(toolCall!, recalls, custom)) : added.wire;
    } catch (thrown) {
      if (this.#passes && isUnknown(thrown)) added.calls = added.wire; // it waits
      else if (!this.#queue.has(added.entry!)) this.#added.delete(reply); // nobody can put it on record as it is
      if (!added.calls) throw thrown;
    }
  }

  async #resultOf(call: Call, tools: Tools): Promise<void> {
    if (this.#results.has(call.id)) return;
    if (call.recalls && !Object.hasOwn(tools, call.name)) await this.recall(call.name, call.argumentsJson, call.id);
    else this.#results.set(call.id, await runTool(call, tools));
  }

  #create(): Promise<void> {
    const { durable, onUnavailable, ...settings } = this.#options;
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
  readonly wire: Call[]; // as they stand in the reply
  entry?: Entry;
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

function requestOf(built: BuildContextResponse): Json {
  return JSON.parse(built.rendered!.requestJson) as Json;
}

function isReason(thrown: unknown, reason: string): boolean {
  return thrown instanceof PalimpsestError && thrown.reason === reason;
}
