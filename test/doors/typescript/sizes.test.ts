// What is large, what is refused, and what is said while the sidecar is away.

import { strict as assert } from "node:assert";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Palimpsest, type Conversation, type Json } from "palimpsest-context";
import { Role } from "palimpsest-context/proto";

import { formats, policy } from "./toy.js";

let palimpsest: Palimpsest;
before(async () => { palimpsest = await Palimpsest.local({ timeoutMs: 60_000 }); });
after(() => palimpsest.close());

const line = "a line of a log that says little\n";
const lines = (megabytes: number) => line.repeat(Math.ceil((megabytes << 20) / line.length));
const call = (id: string) => ({ id, type: "function", function: { name: "log", arguments: "{}" } });
const calling = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
const reply = (message: object) => ({ object: "chat.completion", choices: [{ index: 0, message }] });
const text = (value: string) => [{ content: { case: "text" as const, value } }];

async function count(conversation: Conversation, client = palimpsest): Promise<number> {
  return (await client.raw.conversation.getConversation({ conversationId: conversation.id })).conversation!.messageCount;
}

for (const [megabytes, results] of [[100, 1], [12, 10], [6, 3]] as const) {
  test(`${results} results of ${megabytes} MB in one turn`, async () => {
    const conversation = palimpsest.conversation(`results-${megabytes}`, { policy });
    await conversation.user("go").openai({ model: "m" });
    const calls = await conversation.add(reply(calling(...Array.from({ length: results }, (_, i) => `c${i}`))));
    await conversation.answer(calls, { log: (_, { id }) => id + lines(megabytes) });
    const { messages } = await conversation.openai({ model: "m" });
    assert.equal(messages.length, 2 + results);
    for (const message of messages.slice(2)) assert.ok(message.content.length < 3000);
    const { sources } = await palimpsest.raw.content.listSources({ conversationId: conversation.id });
    assert.equal(sources.filter(({ totalBytes }) => totalBytes > megabytes << 20).length, results);
  });
}

test("more messages than a request takes", async () => {
  const conversation = palimpsest.conversation("many");
  for (let i = 0; i < 1500; i++) conversation.user(`m${i}`);
  await conversation.flush();
  assert.equal(await count(conversation), 1500);
});

test("what is refused is named and given back, and the rest goes on", async () => {
  const conversation = palimpsest.conversation("refused");
  const bad = { content: "nobody says this" };
  conversation.user("one").message(bad, "openai").user("two").result({ id: "nobody's", name: "log" }, "x");
  await assert.rejects(conversation.flush(), (thrown: any) => {
    assert.equal(thrown.reason, "INVALID_FIELD");
    assert.deepEqual(thrown.refused, [bad]);
    return true;
  });
  await assert.rejects(conversation.openai({ model: "m" }), (thrown: any) => thrown.refused.length === 1 && thrown.reason === "RESULT_WITHOUT_CALL");
  assert.deepEqual((await conversation.openai({ model: "m" })).messages.map(({ content }) => content), ["one", "two"]);
});

test("a list of more than a request takes, and the program's restart", async () => {
  const list: Json[] = [{ role: "user", content: "go" }];
  for (let i = 0; i < 24; i++) list.push(calling(`c${i}`), { role: "tool", tool_call_id: `c${i}`, content: `${i} ${lines(1)}` });
  const options = { format: "openai", model: "m", rewind: true } as const;
  const first = await palimpsest.conversation("list", { policy }).sync(list, options);
  assert.equal(first.request["messages"].length, list.length);
  list.push({ role: "assistant", content: "fine" }, { role: "user", content: "more" });
  const again = await palimpsest.conversation("list").sync(list, options);
  assert.deepEqual([again.built.receipts.length, again.built.history!.rewound, again.built.history!.knownCount], [2, undefined, list.length]);
  list.push(calling("last"), { role: "tool", tool_call_id: "last", content: lines(20) });
  const large = await palimpsest.conversation("list").sync(list, options);
  assert.equal(large.built.receipts.length, 2);
  assert.match(large.request["messages"].at(-1).content, /a line of a log/);
});

type Play = (client: Palimpsest, stop: () => Promise<void>, start: () => Promise<void>) => Promise<void>;

/** withSidecar gives a client of a sidecar that can be stopped and started again, with its data or without. */
async function withSidecar(play: Play, keeps = true): Promise<void> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  await new Promise((resolve) => listener.close(resolve));
  const dataDir = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const local = () => Palimpsest.local({ dataDir: keeps ? dataDir : undefined, flags: ["--listen", address] });
  let running = await local();
  const start = async () => { running = await local(); };
  const client = new Palimpsest(address, { timeoutMs: 2000 });
  try {
    await play(client, () => running.close(), start);
  } finally {
    await client.close();
    await running.close();
    rmSync(dataDir, { recursive: true });
  }
}

test("a reply that came while the sidecar was away goes on record later", () => withSidecar(async (client, stop, start) => {
  const conversation = client.conversation("kept");
  const passing = client.conversation("passing", { onUnavailable: "pass" });
  for (const each of [conversation, passing]) await each.user("one").openai({ model: "m" });
  await stop();
  await assert.rejects(conversation.add(reply({ role: "assistant", content: "1" })), { name: "PalimpsestError" });
  assert.deepEqual((await passing.add(reply(calling("c")))).map(({ id, name }) => [id, name]), [["c", "log"]]);
  await start();
  for (const each of [conversation, passing]) {
    await each.flush();
    assert.equal(await count(each, client), 2);
  }
}));

test("views go on while the sidecar is away: as the list is, or as it was shown last", () => withSidecar(async (client, stop, start) => {
  const options = { format: "openai", model: "m" } as const;
  const whole = client.conversation("whole", { onUnavailable: "pass" });
  const shaped = client.conversation("shaped", { onUnavailable: "pass", policy });
  const raising = client.conversation("raising");
  const list: Json[] = [{ role: "user", content: "one" }, calling("c"), { role: "tool", tool_call_id: "c", content: lines(1) }];
  for (const each of [whole, raising]) await each.view(list.slice(0, 1), options);
  const before = await shaped.view(list, options);
  assert.deepEqual(before.map(({ kind, indexes }) => [kind, indexes]), [["whole", [0, 1]], ["changed", [2]]]);
  await stop();
  const longer = [...list, { role: "assistant", content: "1" }, { role: "user", content: "two" }];
  assert.deepEqual((await whole.view(longer, options)).map(({ kind, indexes }) => [kind, indexes]), [["whole", [0, 1, 2, 3, 4]]]);
  assert.deepEqual(await whole.add(reply({ role: "assistant", content: "2" })), []);
  const passed = await shaped.view(longer, options);
  assert.deepEqual(passed, [...before, { kind: "whole", whole: true, indexes: [3, 4], shown: [] }]);
  assert.deepEqual((await client.conversation("new", { onUnavailable: "pass" }).view(list.slice(0, 1), options)).length, 1);
  await assert.rejects(client.conversation("who knows", { onUnavailable: "pass" }).view(list, options), { name: "PalimpsestError" });
  await assert.rejects(raising.view(longer, options), { name: "PalimpsestError" });
  await start();
  await whole.view([...longer, { role: "assistant", content: "2" }], options);
  assert.equal(await count(whole, client), 6);
}));

test("a sidecar that lost its data between a build and the reply: the next list begins anew", () => withSidecar(async (client, stop, start) => {
  const conversation = client.conversation("lost");
  const options = { format: "openai", model: "m" } as const;
  const list: Json[] = [{ role: "user", content: "one" }];
  await conversation.view(list, options);
  await stop();
  await start();
  await conversation.add(reply({ role: "assistant", content: "1" }));
  for (const said of ["two", "three"]) {
    list.push({ role: "assistant", content: "1" }, { role: "user", content: said });
    assert.deepEqual((await conversation.view(list, options)).map(({ kind, indexes }) => [kind, indexes]), [["whole", list.map((_, i) => i)]]);
  }
  assert.notEqual(conversation.id, "lost");
}, false));

test("a view says by place what is shown of a list", async () => {
  const conversation = palimpsest.conversation("placed", { policy });
  const options = { format: "openai", model: "m", system: "Be terse." } as const;
  const list: Json[] = [{ role: "user", content: "one" }, calling("c"), { role: "tool", tool_call_id: "c", content: lines(1) }];
  const [whole, changed, ...none] = await conversation.view(list, options);
  assert.deepEqual([whole!.whole, whole!.indexes, whole!.shown, none], [true, [0, 1], [], []]);
  assert.deepEqual([changed!.kind, changed!.indexes, changed!.shown[0]!["role"]], ["changed", [2], "tool"]);
  const ids = conversation.id;
  await conversation.add(reply({ role: "assistant", content: "1" }));
  await conversation.view([{ role: "user", content: "another" }], options);
  assert.notEqual(conversation.id, ids);
  list.push({ role: "assistant", content: "1" }, calling("d"), { role: "tool", tool_call_id: "d", content: lines(20) });
  const large = await conversation.view(list, options);
  assert.equal(conversation.id, ids);
  assert.deepEqual(large.flatMap(({ indexes }) => indexes), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([large.at(-1)!.kind, large.at(-1)!.indexes], ["changed", [5]]);
  assert.ok(JSON.stringify(large.at(-1)!.shown).length < 3000);
});

test("media that no request holds is named on record, and stays the caller's own", async () => {
  const data = Buffer.alloc(14 << 20, 7).toString("base64");
  const files: Record<string, Json> = {
    openai: { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` } },
    responses: { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` },
    anthropic: { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
    gemini: { inlineData: { mimeType: "application/pdf", data } },
  };
  for (const format of formats) {
    const list = [{ role: "user", [format === "gemini" ? "parts" : "content"]: [files[format]!] }];
    const [piece] = await palimpsest.conversation(`media-${format}`).view(list, { format, model: "m" });
    assert.deepEqual([piece!.whole, piece!.indexes], [true, [0]]);
  }
});

test("a second sidecar on one folder says so", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const first = await Palimpsest.local({ dataDir });
  await assert.rejects(Palimpsest.local({ dataDir }), /process \d+ has it open/);
  await first.close();
  rmSync(dataDir, { recursive: true });
});

test("what is said is kept in one message of the API's", async () => {
  const conversation = palimpsest.conversation("said", { policy }).say({ role: Role.USER, parts: text(lines(20)) });
  assert.equal((await conversation.openai({ model: "m" })).messages.length, 1);
});
