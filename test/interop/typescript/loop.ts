// Runs an agent's loop against a sidecar, with nothing but generated stubs.
//
//     node dist/loop.js TARGET...    such as 127.0.0.1:50051 or unix:///run/palimpsest.sock
//
// Prints one line for each part that held; the first check that does not ends it.

import { strict as assert } from "node:assert";
import { createHash, randomUUID } from "node:crypto";
import { Metadata, status } from "@grpc/grpc-js";

import { Client, large, options, refused, unary } from "./client.js";
import { ContextFormat } from "./gen/palimpsest/v1/context.js";
import type { ReportUsageResponse } from "./gen/palimpsest/v1/context_service.js";
import type { CountMessagesResponse, GetManifestResponse } from "./gen/palimpsest/v1/conversation_service.js";
import { DecisionKind } from "./gen/palimpsest/v1/event.js";
import { Role, ToolResultState, ViewLevel, type Message, type Part } from "./gen/palimpsest/v1/message.js";

type Json = any; // what JSON.parse gives

const text = (role: Role, value: string): Message => ({ role, parts: [{ content: { $case: "text", value } }] });

const call = (callId: string, name: string, args: object): Part =>
  ({ content: { $case: "toolCall", value: { callId, name, argumentsJson: JSON.stringify(args) } } });

const result = (callId: string, value: string, state = ToolResultState.TOOL_RESULT_STATE_COMPLETED): Message => ({
  role: Role.ROLE_TOOL,
  parts: [{ content: { $case: "toolResult", value: { callId, state, output: { $case: "text", value } } } }],
});

function resultText(message: Message): string {
  const content = message.parts![0]!.content!;
  assert.ok(content.$case === "toolResult" && content.value.output?.$case === "text");
  return content.value.output.value;
}

function fiveMegabytes(): string {
  const lines: string[] = [];
  for (let size = 0, n = 0; size < 5 << 20; n++) {
    const line = `${String(n).padStart(7, "0")}\tnaïve 東京 \u{1f9ed} row ${(n * 7919) % 1000003}\r\n`;
    lines.push(line);
    size += Buffer.byteLength(line);
  }
  return lines.join("");
}

async function agentLoop(client: Client, conversation: string): Promise<void> {
  await client.append(conversation, text(Role.ROLE_SYSTEM, "You are terse. Never guess."));
  await client.append(conversation, text(Role.ROLE_USER, "What is the weather in Kraków and in 東京?"));
  const chat = { format: ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT, model: "some-model" };
  const first = await client.build(conversation, chat);
  assert.equal(first.turn, 1);

  const words: Part = { content: { $case: "text", value: "I look." } };
  const calls = [call("c1", "weather", { city: "Kraków" }), call("c2", "weather", { city: "東京" })];
  await client.append(conversation, { role: Role.ROLE_ASSISTANT, parts: [words, ...calls] });
  await refused(status.FAILED_PRECONDITION, "PENDING_TOOL_CALLS", () => client.build(conversation));
  await client.append(conversation, result("c1", "4 °C, rain"));
  await client.append(conversation, result("c2", "timeout", ToolResultState.TOOL_RESULT_STATE_ERROR));

  const second = await client.build(conversation, chat);
  assert.equal(second.turn, 2);
  assert.equal(second.prefix!.stableBlocks, first.rendered!.blocks, "the earlier blocks are kept");
  const report = () => unary((done: (e: any, r: ReportUsageResponse) => void) => client.loop.reportUsage(
    { conversationId: conversation, manifestId: second.manifestId, usage: { inputTokens: 90, outputTokens: 12 } },
    new Metadata(), options(), done));
  assert.equal((await report()).counted, true);
  assert.equal((await report()).counted, false, "a build's usage counts once");

  const again = await unary((done: (e: any, r: GetManifestResponse) => void) => client.record.getManifest(
    { conversationId: conversation, manifestId: first.manifestId }, new Metadata(), options(), done));
  assert.deepEqual(again.rendered!.messagesJson, first.rendered!.messagesJson, "an earlier build comes back byte for byte");
  assert.equal(again.manifest!.contentSha256, first.rendered!.contentSha256);
}

const shapes: [ContextFormat, (messages: Json[], system: Json) => void][] = [
  [ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT, (messages) => {
    assert.deepEqual(messages.map((m) => m.role), ["system", "user", "assistant", "tool", "tool"]);
    assert.deepEqual(messages.slice(3).map((m) => m.tool_call_id), messages[2].tool_calls.map((c: Json) => c.id));
    assert.deepEqual(JSON.parse(messages[2].tool_calls[0].function.arguments), { city: "Kraków" });
  }],
  [ContextFormat.CONTEXT_FORMAT_OPENAI_RESPONSES, (items) => {
    const ids = (type: string) => items.filter((i) => i.type === type).map((i) => i.call_id);
    assert.equal(ids("function_call").length, 2);
    assert.deepEqual(ids("function_call"), ids("function_call_output"));
  }],
  [ContextFormat.CONTEXT_FORMAT_ANTHROPIC, (messages, system) => {
    assert.match(JSON.stringify(system), /You are terse\./);
    assert.deepEqual(messages.map((m) => m.role), ["user", "assistant", "user"]);
    const uses = messages[1].content.filter((b: Json) => b.type === "tool_use").map((b: Json) => b.id);
    const results = messages[2].content.filter((b: Json) => b.type === "tool_result");
    assert.deepEqual(results.map((b: Json) => b.tool_use_id), uses);
    assert.equal(results[1].is_error, true);
  }],
  [ContextFormat.CONTEXT_FORMAT_GEMINI, (contents, system) => {
    assert.match(JSON.stringify(system), /You are terse\./);
    assert.deepEqual(contents.map((c) => c.role), ["user", "model", "user"]);
    const having = (content: Json, key: string) => content.parts.filter((p: Json) => key in p).length;
    assert.equal(having(contents[1], "functionCall"), 2);
    assert.equal(having(contents[2], "functionResponse"), 2);
  }],
];

async function formats(client: Client, conversation: string): Promise<void> {
  for (const [format, shape] of shapes) {
    const { rendered, tokens } = await client.build(conversation, { sameTurn: true, format });
    const system = rendered!.systemJson!, messages = rendered!.messagesJson!;
    const digest = createHash("sha256").update(system).update(Buffer.of(0)).update(messages).digest("hex");
    assert.equal(digest, rendered!.contentSha256);
    assert.ok(tokens!.total! <= tokens!.budget!);
    shape(JSON.parse(messages.toString()), system.length ? JSON.parse(system.toString()) : null);
  }
  const neutral = await client.build(conversation, { sameTurn: true });
  assert.deepEqual(neutral.messages!.map((m) => m.origin!.source!.value), [0, 1, 2, 3, 4]);
  assert.equal(neutral.rendered!.messagesJson!.length, 0, "neutral text does not travel twice");
}

async function badInput(client: Client, conversation: string): Promise<void> {
  const fields = await refused(status.INVALID_ARGUMENT, "INVALID_FIELD", () => client.append("", {}));
  for (const field of ["conversation_id", "message.role", "message.parts"]) {
    assert.ok(fields.includes(field), `${field} is not among ${fields}`);
  }
  const stray = result("never-asked", "42");
  await refused(status.INVALID_ARGUMENT, "RESULT_WITHOUT_CALL", () => client.append(conversation, stray));
  await refused(status.NOT_FOUND, "CONVERSATION_NOT_FOUND", () => client.message(`absent-${conversation}`, 0));
  await refused(status.NOT_FOUND, "MESSAGE_NOT_FOUND", () => client.message(conversation, 999));
  const user = text(Role.ROLE_USER, "x");
  await refused(status.ABORTED, "INDEX_MISMATCH", () => client.append(conversation, user, { expectedIndex: 999 }));
  await refused(status.FAILED_PRECONDITION, "TURN_PASSED", () => client.build(conversation, { turn: 1 }));
  const counted = await unary((done: (e: any, r: CountMessagesResponse) => void) =>
    client.record.countMessages({ conversationId: conversation }, new Metadata(), options(), done));
  assert.equal(counted.messageCount, 5, "nothing was changed by it");
}

async function requestIds(client: Client, conversation: string): Promise<void> {
  const requestId = randomUUID();
  const message = text(Role.ROLE_ASSISTANT, "Rain in Kraków; 東京 did not answer.");
  const first = await client.append(conversation, message, { requestId });
  const second = await client.append(conversation, message, { requestId });
  assert.deepEqual([first.duplicate, second.duplicate], [false, true]);
  assert.deepEqual([second.index, second.id], [first.index, first.id]);
  const other = text(Role.ROLE_ASSISTANT, "Something else.");
  await refused(status.ALREADY_EXISTS, "REQUEST_ID_REUSED", () => client.append(conversation, other, { requestId }));

  await client.append(conversation, text(Role.ROLE_USER, "Thanks. And the manual?"));
  const asked = { requestId: randomUUID(), format: ContextFormat.CONTEXT_FORMAT_ANTHROPIC };
  const built = [await client.build(conversation, asked), await client.build(conversation, asked)];
  assert.equal(built[0]!.manifestId, built[1]!.manifestId);
  assert.deepEqual(built[0]!.rendered, built[1]!.rendered);
  assert.equal(built[1]!.duplicate, true);
}

async function largeResult(client: Client, conversation: string): Promise<void> {
  const manual = fiveMegabytes();
  await client.append(conversation, { role: Role.ROLE_ASSISTANT, parts: [call("c3", "read_manual", {})] });
  const { index } = await client.append(conversation, result("c3", manual));
  await refused(status.RESOURCE_EXHAUSTED, "REPLY_TOO_LARGE", () => client.message(conversation, index!));
  assert.ok(resultText(await client.message(conversation, index!, large)) === manual, "5 MB come back byte for byte");

  const budget = { contextWindowTokens: 32_000, reservedOutputTokens: 2_000 };
  const built = await client.build(conversation, { format: ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT, budget });
  const shown: string = JSON.parse(built.rendered!.messagesJson!.toString()).at(-1).content;
  assert.ok(shown.startsWith(manual.slice(0, 100)), "the model sees its head");
  assert.ok(shown.length < manual.length / 20, `the model sees it clipped, not ${shown.length} characters`);
  assert.equal(built.tokens!.budget, 30_000n);
  assert.ok(built.tokens!.total! <= 30_000n);
  const clipped = built.decisions!.filter((d) => d.kind === DecisionKind.DECISION_KIND_CLIPPED);
  assert.deepEqual(clipped.map((d) => d.startIndex), [index]);
  const again = await client.message(conversation, index!, large);
  assert.ok(resultText(again) === manual, "the original is still whole");
  assert.equal(again.view!.level, ViewLevel.VIEW_LEVEL_SHORTENED);
}

async function exportAndImport(client: Client, conversation: string): Promise<void> {
  const data = await client.export(conversation);
  for (const line of data.toString().trimEnd().split("\n")) JSON.parse(line);
  const copy = `${conversation}-copy`;
  assert.equal(await client.restore(copy, data), copy);
  const content = (all: Message[]) => all.map((m) => [m.id, m.role, m.parts]);
  assert.deepEqual(content(await client.list(copy)), content(await client.list(conversation)));
  const dry = { sameTurn: true, dryRun: true, format: ContextFormat.CONTEXT_FORMAT_GEMINI };
  const [before, after] = [await client.build(conversation, dry), await client.build(copy, dry)];
  assert.equal(after.rendered!.contentSha256, before.rendered!.contentSha256, "the same context is built from it");
  await refused(status.ALREADY_EXISTS, "CONVERSATION_EXISTS", () => client.restore(copy, data));
}

async function deadline(client: Client, conversation: string): Promise<void> {
  const late = unary((done) => client.loop.buildContext({ conversationId: conversation }, new Metadata(), options(-1), done));
  const error: any = await late.then(() => assert.fail("a call outlived its deadline"), (e) => e);
  assert.equal(error.code, status.DEADLINE_EXCEEDED);
}

const parts = [agentLoop, formats, badInput, requestIds, largeResult, exportAndImport, deadline];

for (const target of process.argv.slice(2)) {
  const client = new Client(target);
  await client.ready();
  const conversation = `typescript-${randomUUID()}`;
  for (const part of parts) {
    await part(client, conversation);
    console.log(`ok ${target.split(":")[0]} ${part.name}`);
  }
  client.close();
}
