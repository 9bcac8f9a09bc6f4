// A scenario is played twice, plain and with the adapter, each against a session of its own in the fakes, and what the provider got is compared
// member by member.
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import * as sdk from "ai";
import { Palimpsest } from "palimpsest-context";
import { palimpsest } from "palimpsest-context/vercel";

export type Json = Record<string, any>;
export type Api = "openai" | "responses" | "anthropic" | "gemini";
export const apis: Api[] = ["openai", "responses", "anthropic", "gemini"];
export const ai = sdk as any; // versions 6 and 7, which name things differently
export const seven = "isStepCount" in ai;
(globalThis as Json)["AI_SDK_LOG_WARNINGS"] = false;

const models: Record<Api, string> = { openai: "gpt-5.1", responses: "gpt-5.1", anthropic: "claude-sonnet-4-5", gemini: "gemini-3-pro-preview" };
const lists: Record<Api, string> = { openai: "messages", responses: "input", anthropic: "messages", gemini: "contents" };
const recall = ["expand_message", "retrieve_content", "search_conversation"];
const settings: Record<Api, Json> = {
  openai: {},
  responses: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
  anthropic: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  gemini: { google: { thinkingConfig: { includeThoughts: true } } },
};

/** Sidecar keeps what it has on disk, so that it can go away and come back. */
export class Sidecar {
  readonly #folder = mkdtempSync(join(tmpdir(), "sides-"));
  readonly address = `unix://${this.#folder}/s.sock`;
  #process: ChildProcess | undefined;

  constructor(readonly policy: string) {}

  start(): void {
    const flags = ["--store", "bolt", "--data-dir", join(this.#folder, "data"), "--listen", this.address, "--default-policy", this.policy];
    this.#process ??= spawn(process.env["PALIMPSEST_BINARY"]!, ["serve", ...flags], { stdio: "ignore" });
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.#process?.once("exit", resolve) ?? resolve(undefined));
    this.#process?.kill("SIGKILL");
    await gone;
    this.#process = undefined;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Request is what a provider was sent, why it refused that, and when it came. */
export interface Request { body: Json; refused: string; at: number }

/** Agent is a model with tools; with us, on a conversation of its own. */
export interface Agent {
  /** What generateText and its like take. */
  readonly options: Json;
  /** ask says something, and keeps what comes of it in messages. */
  ask(messages: Json[], said?: string | Json, more?: Json): Promise<any>;
}

/** Side is one run of a scenario: plain, where there is no sidecar, or with the adapter. */
export class Side {
  readonly #thread = `side-${randomUUID()}`;
  readonly #asked = new Map<string, Request[]>();
  #client: Palimpsest | undefined;

  constructor(readonly api: Api, readonly sidecar?: Sidecar) {
    this.#connect();
  }

  #connect(): void {
    this.sidecar?.start();
    this.#client = this.sidecar && new Palimpsest(this.sidecar.address, { timeoutMs: 20_000 });
  }

  /** script is what an agent's model answers from now on, one request after the other; the last one to all that come then. */
  async script(...lines: Json[]): Promise<void> {
    return this.scriptOf("", ...lines);
  }

  async scriptOf(name: string, ...lines: Json[]): Promise<void> {
    if (!this.#asked.has(name)) this.#asked.set(name, []);
    const thinking = this.api === "anthropic" ? { thinking: "hm" } : {}; // without which it takes no calls back
    await fetch(this.#root(name), { method: "PUT", body: JSON.stringify(lines.map((line) => ({ ...thinking, ...line, ids: true }))) });
  }

  /** #fetch keeps what an agent's provider is sent, before it is sent. */
  #fetch(name: string): typeof fetch {
    return async (url, init) => {
      const body = JSON.parse(String(init!.body)) as Json;
      const request: Request = { body, refused: "", at: performance.now() };
      this.#asked.get(name)!.push(request);
      const answer = await fetch(url as string, { ...init!, body: JSON.stringify(asPublished(this.api, body)) });
      if (answer.status === 400) request.refused = await answer.clone().text();
      if (this.api !== "anthropic" || body["stream"]) return answer;
      return new Response((await answer.text()).replaceAll('"citations":null,', ""), answer); // which version 6 of the SDK does not read
    };
  }

  #root(name: string): string {
    return `${process.env["FAKES"]}/s/${this.#thread}${name}`;
  }

  /** agent is one that talks on a conversation; model names its script, if another one's is not its own. */
  agent(tools: Json = {}, conversation = "", { model: script = "", system = "Be terse.", ...more }: Json = {}): Agent {
    const at = { baseURL: `${this.#root(script)}/v1`, apiKey: "x", fetch: this.#fetch(script) };
    const inner = {
      openai: () => createOpenAI(at).chat(models.openai),
      responses: () => createOpenAI(at).responses(models.responses),
      anthropic: () => createAnthropic(at)(models.anthropic),
      gemini: () => createGoogleGenerativeAI(at)(models.gemini),
    }[this.api]();
    const ours = this.#client && palimpsest(this.#client.conversation(this.#thread + conversation, { onUnavailable: "pass" }));
    const options = {
      model: ours ? ai.wrapLanguageModel({ model: inner, middleware: ours.middleware }) : inner,
      tools: { ...tools, ...ours?.tools },
      stopWhen: ai.stepCountIs(300),
      maxRetries: 0,
      [seven ? "instructions" : "system"]: system,
      providerOptions: settings[this.api],
      ...more,
    };
    return {
      options,
      ask: async (messages, said, more = {}) => {
        if (said !== undefined) messages.push(typeof said === "string" ? { role: "user", content: said } : said);
        const result = await ai.generateText({ ...options, messages, ...more });
        messages.push(...(result.responseMessages ?? result.response.messages)); // in version 7 the latter are the last step's
        return result;
      },
    };
  }

  /** restart lets both begin anew: the sidecar is killed, and what the agent's process held is gone. */
  async restart(): Promise<void> {
    await this.away();
    await this.#client?.close();
    this.#connect();
  }

  async away(): Promise<void> {
    await this.sidecar?.kill();
  }

  back(): void {
    this.sidecar?.start();
  }

  /** requests are what the provider was sent, agent by agent. */
  get requests(): Request[][] {
    return [...this.#asked.values()];
  }

  async end(): Promise<void> {
    for (const name of this.#asked.keys()) await fetch(this.#root(name), { method: "DELETE" });
    await this.#client?.close();
  }
}

/** asPublished is a request as the fakes take it: they know the published types alone, and providers take more than those. */
function asPublished(api: Api, body: Json): Json {
  const copy = structuredClone(body);
  for (const [i, item] of (copy["input"] ?? []).entries()) {
    if (item.role === "assistant" && Array.isArray(item.content)) {
      Object.assign(item, { type: "message", status: "completed", id: item.id ?? `msg_${i}` });
      for (const part of item.content) part.annotations ??= [];
    }
    for (const list of [item.content, item.output]) if (Array.isArray(list)) for (const part of list) if (part.type === "input_image") part.detail ??= "auto";
  }
  if (api !== "gemini") return copy;
  const contents: Json[] = [];
  for (const { role, parts } of copy["contents"]) {
    const kept = parts.filter(({ thought, thoughtSignature }: Json) => !thought || thoughtSignature);
    if (contents.at(-1)?.["role"] === role) contents.at(-1)!["parts"].push(...kept);
    else contents.push({ role, parts: kept });
  }
  return { ...copy, contents };
}

export type Scenario = (side: Side) => Promise<unknown>;

/** played is what the provider was sent in a scenario. */
export async function played(scenario: Scenario, side: Side): Promise<Request[][]> {
  try {
    await scenario(side);
    return side.requests;
  } finally {
    await side.end();
  }
}

/** compared plays both sides, and is in what they differ. */
export async function compared(scenario: Scenario, api: Api, sidecar: Sidecar): Promise<string[]> {
  const plain = await played(scenario, new Side(api));
  const ours = await played(scenario, new Side(api, sidecar));
  const found = JSON.stringify(ours.map((requests) => requests.at(-1))).includes(recall[0]!) ? [] : ["the adapter was not there"];
  plain.forEach((requests, i) => {
    if (requests.length !== ours[i]!.length) found.push(`the model is asked ${ours[i]!.length} times, plain ${requests.length}`);
    requests.forEach((request, n) => {
      const our = ours[i]![n];
      if (!our) return;
      if (request.refused || our.refused) found.push(`request ${n} is refused: plain ${request.refused}, ours ${our.refused}`);
      found.push(...sidesOf(api, sidecar.policy, request.body, our.body).map((difference) => `request ${n}: ${difference}`));
    });
  });
  return found;
}

function sidesOf(api: Api, policy: string, plain: Json, ours: Json): string[] {
  for (const allowed of Object.values(allowedDifferences)) allowed(api, plain, ours);
  if (policy === "none") return differences(plain, ours, "");
  const { [lists[api]]: theirs = [], ...one } = plain;
  const { [lists[api]]: mine = [], ...other } = ours;
  return [...differences(one, other, ""), ...shrunk(theirs, mine)];
}

/** allowedDifferences are those between both sides that have a reason. Each takes what it allows out of both. */
const allowedDifferences = {
  /** The tools by which the model gets text back stand behind the agent's own. */
  recallTools(api: Api, plain: Json, ours: Json): void {
    const named = (tool: Json) => recall.includes((tool["function"] ?? tool)["name"]);
    if (api === "gemini") for (const tool of ours["tools"] ?? []) tool["functionDeclarations"] = tool["functionDeclarations"]?.filter((each: Json) => !named(each));
    const left = (ours["tools"] ?? []).filter((tool: Json) => (api === "gemini" ? tool["functionDeclarations"]?.length !== 0 : !named(tool)));
    if (left.length > 0) ours["tools"] = left;
    else for (const member of ["tools", "tool_choice", "toolConfig"]) delete ours[member]; // what the SDK says of tools where there are any
  },
};

function differences(plain: any, ours: any, at: string): string[] {
  if (plain && ours && typeof plain === "object" && typeof ours === "object" && Array.isArray(plain) === Array.isArray(ours) && (!Array.isArray(plain) || plain.length === ours.length)) {
    return [...new Set([...Object.keys(plain), ...Object.keys(ours)])].flatMap((key) => differences(plain[key], ours[key], `${at}.${key}`));
  }
  return plain === ours ? [] : [`${at}: plain ${told(plain)}, ours ${told(ours)}`];
}

/** shrunk says where a list is not whole, and yet not smaller, or lacks what a user said. */
function shrunk(plain: Json[], ours: Json[]): string[] {
  const [theirs, mine] = [plain.map((each) => JSON.stringify(each)), ours.map((each) => JSON.stringify(each))];
  const other = mine.filter((each) => !theirs.includes(each)).join("").length;
  const lost = theirs.filter((each) => !mine.includes(each));
  const users = lost.filter((each) => JSON.parse(each).role === "user" && !/tool_result|functionResponse/.test(each));
  return [...(other > 0 && other >= lost.join("").length ? [`what is not whole is not smaller: ${told(mine.filter((each) => !theirs.includes(each)))}`] : []),
    ...users.map((each) => `what a user said is lost: ${each.slice(0, 200)}`)];
}

function told(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)} (${text.length} characters)` : text;
}

/** addedPerStep is the median of a step's milliseconds, plain and with the adapter, in turns. */
export async function addedPerStep(scenario: Scenario, api: Api, sidecar: Sidecar): Promise<{ plain: number; ours: number }> {
  const steps: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    for (const [i, side] of [new Side(api), new Side(api, sidecar)].entries()) {
      const at = (await played(scenario, side))[0]!.map((request) => request.at);
      steps[i]!.push(...at.slice(1).map((later, n) => later - at[n]!));
    }
  }
  const [plain, ours] = steps.map((all) => all.sort((a, b) => a - b)[all.length >> 1]!);
  return { plain: plain!, ours: ours! };
}
