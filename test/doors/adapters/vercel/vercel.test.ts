// The AI SDK on Palimpsest, with its own model class, against fakes that refuse what the provider refuses.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";

import { simulateReadableStream, type ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { again, both, connect, fatal, fetchLog, found, question, record, repeated, reset, stats, streamed, user, whole, type Options } from "./toy.js";

const client = connect();
let name = "";

beforeEach(async () => {
  name = `toy-${randomUUID()}`;
  await reset();
});
after(() => client.close());

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const answer = { content: [{ type: "text" as const, text: "I did." }], finishReason: { unified: "stop" as const, raw: "stop" }, usage, warnings: [] };

const result = (toolCallId: string, value: string) => (
  { type: "tool-result" as const, toolCallId, toolName: "fetch_log", output: { type: "text" as const, value }, providerOptions: { p: { own: true } } });

async function played(): Promise<void> {
  const { requests, refusals, calls, largest_bytes } = await stats();
  const once = Object.fromEntries(["web_search", "fetch_log", "retrieve_content", "expand_message", "search_conversation"].map((tool) => [tool, 1]));
  assert.deepEqual({ requests, refusals, calls }, { requests: 7, refusals: [], calls: { get_weather: 2, ...once } });
  assert.ok(largest_bytes < 20_000, `a request of ${largest_bytes} bytes`);
}

for (const [how, play] of Object.entries({ whole, streamed })) {
  test(`the toy, ${how}: the messages stay whole`, async () => {
    const messages = await both(client, name, play);
    await played();
    assert.equal(JSON.stringify(messages.at(-1)).split(fatal).length, 3);
    assert.ok(JSON.stringify(messages).includes(JSON.stringify(fetchLog())));
    assert.deepEqual(await record(client, name), [...found, ...repeated]);
  });
}

test("regenerating takes the reply back", async () => {
  await whole(client, name, (await both(client, name)).slice(0, -1));
  assert.deepEqual(await record(client, name), [...found, ...repeated]);
});

async function edited(options: Options): Promise<void> {
  const messages = await both(client, name);
  const asked = messages.findIndex(({ content }) => JSON.stringify(content).includes(again));
  await whole(client, name, [...messages.slice(0, asked), user("Thank you.")], options);
}

test("an edit takes back what followed", async () => {
  await edited({});
  assert.deepEqual(await record(client, name), [...found, "user", "assistant"]);
});

test("an edit is refused where the caller says so", async () => {
  await assert.rejects(edited({ differs: "refuse" }), { reason: "HISTORY_DIVERGED" });
  assert.deepEqual(await record(client, name), [...found, ...repeated]);
});

test("killed between reply and result, it goes on", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "palimpsest-")), "messages.json");
  const { signal, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "killed.js"), file, name], { env: { ...process.env, FRAIL: "yes" } });
  assert.equal(signal, "SIGKILL", String(stderr));
  assert.deepEqual(await record(client, name), found.slice(0, 7));
  const messages = await whole(client, name, JSON.parse(readFileSync(file, "utf8")) as ModelMessage[]);
  await whole(client, name, [...messages, user(again)]);
  assert.deepEqual(await record(client, name), [...found, ...repeated]);
  assert.deepEqual((await stats()).refusals, []);
});

test("the view keeps what Chat Completions has no place for", async () => {
  const call = { type: "tool-call" as const, toolCallId: "of-the-provider", toolName: "fetch_log", input: { service: "billing" } };
  const messages: ModelMessage[] = [
    { role: "user", content: [{ type: "text", text: "Read it." }, { type: "file", data: "JVBERg==", mediaType: "application/pdf" }] },
    { role: "assistant", content: [{ type: "reasoning", text: "Hm.", providerOptions: { p: { signature: "s" } } }, call, { ...call, toolCallId: "b" }] },
    { role: "tool", content: [result(call.toolCallId, fetchLog()), result("b", "Nothing.")] },
  ];
  const model = new MockLanguageModelV3({ doGenerate: async () => answer });
  await whole(client, name, messages, { model });
  // JSON leaves out what is undefined.
  const [, user, assistant, tool] = JSON.parse(JSON.stringify(model.doGenerateCalls[0]!.prompt)) as { content: any[] }[];
  assert.deepEqual([user!.content, assistant!.content], [messages[0]!.content, messages[1]!.content]);
  assert.equal(tool!.content[0].toolCallId, "of-the-provider");
  assert.ok(tool!.content[0].output.value.length < 3000);
  assert.deepEqual(tool!.content.slice(1), [result("b", "Nothing.")]);
});

for (const [megabytes, results] of [[100, 1], [12, 10]] as const) {
  test(`${results} results of ${megabytes} MB in one turn, and the next one`, async () => {
    const ids = Array.from({ length: results }, (_, i) => `c${i}`);
    const large = fetchLog().repeat(megabytes + 1).slice(0, megabytes << 20);
    const messages: ModelMessage[] = [
      { role: "user", content: "Read it." },
      { role: "assistant", content: ids.map((toolCallId) => ({ type: "tool-call" as const, toolCallId, toolName: "fetch_log", input: {} })) },
      { role: "tool", content: ids.map((id) => result(id, id + large)) },
    ];
    const model = new MockLanguageModelV3({ doGenerate: async () => answer });
    const said = await whole(client, name, [...await whole(client, name, messages, { model }), user(again)], { model });
    assert.equal(said.length, 6);
    for (const { prompt } of model.doGenerateCalls) {
      const [, , calls, shown] = prompt;
      assert.deepEqual([calls!.content.length, shown!.content.length], [results, results]);
      assert.ok(JSON.stringify(shown).length < 4000 * results);
    }
  });
}

test("an aborted stream leaves nothing, and it goes on", async () => {
  const asked = [user(question)];
  await assert.rejects(streamed(client, name, asked, { model: "fake-abort" }));
  assert.deepEqual(await record(client, name), ["user"]);
  await whole(client, name, asked);
  assert.deepEqual(await record(client, name), found);
  assert.deepEqual((await stats()).refusals, []);
});

test("a stream that ends with an error leaves nothing", async () => {
  const chunks = [
    { type: "text-start" as const, id: "1" },
    { type: "text-delta" as const, id: "1", delta: "Let me" },
    { type: "error" as const, error: new Error("overloaded") },
    { type: "finish" as const, finishReason: { unified: "error" as const, raw: "error" }, usage },
  ];
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
  await assert.rejects(streamed(client, name, [user(question)], { model }));
  assert.deepEqual(await record(client, name), ["user"]);
});
