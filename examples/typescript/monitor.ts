// Watches what happens to the messages of a conversation while an agent works, and adds up what was saved.
//
//     node monitor.js [ADDRESS]      127.0.0.1:7171 by default

import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { credentials, Metadata, type CallOptions, type ServiceError } from "@grpc/grpc-js";

import { ContextServiceClient, ExpandMode, type BuildContextRequest, type BuildContextResponse } from "./gen/palimpsest/v1/context_service.js";
import { ConversationServiceClient, type WatchEventsResponse } from "./gen/palimpsest/v1/conversation_service.js";
import { DecisionReason, EventType, type LifecycleEvent } from "./gen/palimpsest/v1/event.js";
import { CompactMode, ExpirationMode, type Expiration } from "./gen/palimpsest/v1/expiration.js";
import { Role, type Message, type Part } from "./gen/palimpsest/v1/message.js";
import { RewriteMode } from "./gen/palimpsest/v1/policy.js";

const address = process.argv[2] ?? "127.0.0.1:7171";
const context = new ContextServiceClient(address, credentials.createInsecure());
const record = new ConversationServiceClient(address, credentials.createInsecure());
const conversationId = `monitor-${randomUUID()}`;

type Rpc<Q, R> = (request: Q, metadata: Metadata, options: Partial<CallOptions>, done: (e: ServiceError | null, reply: R) => void) => unknown;
const call = <Q, R>(stub: unknown, rpc: Rpc<Q, R>, request: Q) => new Promise<R>((resolve, reject) =>
  rpc.call(stub, request, new Metadata(), { deadline: Date.now() + 10_000 }, (e, reply) => (e ? reject(e) : resolve(reply))));

const check = (holds: boolean, what: string) => {
  assert.ok(holds, what);
  console.log(`  ${what}`);
};

// [watch]
interface Watching {
  seen: LifecycleEvent[];
  token: string; // of the last event that was dealt with
  stop: () => void;
}

/** watch follows the conversation from a token on: from its first event, without one. */
function watch(token = ""): Watching {
  const stream = record.watchEvents({ conversationId, resumeToken: token }); // it has no end of its own, and so no deadline
  const watching: Watching = { seen: [], token, stop: () => stream.cancel() };
  stream.on("data", (reply: WatchEventsResponse) => {
    watching.seen.push(reply.event!);
    watching.token = reply.resumeToken!;
    console.log(`  | ${describe(reply.event!)}`);
  });
  stream.on("error", () => undefined); // stopped, or the server left: call watch again with the token
  return watching;
}

function describe(e: LifecycleEvent): string {
  const what = EventType[e.type!].replace("EVENT_TYPE_", "").toLowerCase();
  const why = DecisionReason[e.reason!].replace("DECISION_REASON_", "").toLowerCase();
  const saved = e.tokensSaved ? `, ${e.tokensSaved} tokens saved` : "";
  return `[turn ${e.turn}] message ${e.messageIndex} ${what}: ${why}${saved}${e.view?.canExpand ? ", can be expanded" : ""}`;
}
// [/watch]

// The same events come in the answers of the calls that caused them.
const answered: LifecycleEvent[] = [];

async function append(message: Message): Promise<number> {
  const reply = await call(context, context.appendMessage, { conversationId, message });
  answered.push(...reply.events!);
  return reply.receipt!.index!;
}

async function build(more: BuildContextRequest = {}): Promise<BuildContextResponse> {
  const reply = await call(context, context.buildContext, { conversationId, ...more });
  answered.push(...reply.events!);
  return reply;
}

const say = (role: Role, value: string) => append({ role, parts: [{ content: { $case: "text", value } }] });

/** use plays a call of a tool, and returns the index of its result. */
async function use(name: string, output: string, expiration: Expiration): Promise<number> {
  const asks: Part = { content: { $case: "toolCall", value: { callId: name, name, argumentsJson: "{}" } } };
  const says: Part = { content: { $case: "toolResult", value: { callId: name, name, output: { $case: "text", value: output }, expiration } } };
  await append({ role: Role.ROLE_ASSISTANT, parts: [asks] });
  return append({ role: Role.ROLE_TOOL, parts: [says] });
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !condition() && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const compacted: Expiration = { turns: 1, mode: ExpirationMode.EXPIRATION_MODE_COMPACT, compactMode: CompactMode.COMPACT_MODE_FIRST_N_CHARS, compactLength: 200 };
const removed: Expiration = { turns: 0, mode: ExpirationMode.EXPIRATION_MODE_REMOVE };

await call(record, record.createConversation, {
  conversation: { id: conversationId, policy: { rewrite: { mode: RewriteMode.REWRITE_MODE_EAGER } } },
});
const watching = watch();

console.log("turns 1 to 4: a log is read, a job is looked at twice, and the user goes on");
await say(Role.ROLE_USER, "Why did the nightly job fail?");
await build();
const log = await use("read_log", "2026-03-01 02:00:07 worker 4: retrying the upload of part 17\n".repeat(60), compacted);
await build();
const early = await use("job_state", "running, 40 %", removed);
await build();
const late = await use("job_state", "failed: disk full", removed);
await build();
await until(() => watching.seen.length >= answered.length);

const kinds = (index: number) => answered.filter((e) => e.messageIndex === index).map((e) => EventType[e.type!].replace("EVENT_TYPE_", ""));
check(kinds(log).join() === "ADDED,COMPACTED", "the log was compacted");
check(kinds(early).join() === "ADDED,EXPIRED,REMOVED" && kinds(early - 1).join() === "ADDED,REMOVED", "the first look at the job has left, and its call with it");
check(kinds(late).join() === "ADDED", "the second is the newest: it stays");

console.log("the watcher goes away, and the agent works on");
watching.stop();
const before = answered.length;
await say(Role.ROLE_ASSISTANT, "A disk is full.");
await say(Role.ROLE_USER, "Which? Look at the log again.");
const expanded = await call(context, context.expandMessage,
  { conversationId, target: { $case: "messageIndex", value: log }, mode: ExpandMode.EXPAND_MODE_RESTORE });
answered.push(...expanded.events!);
await build();

console.log("it comes back with its token");
const again = watch(watching.token);
await until(() => watching.seen.length + again.seen.length >= answered.length);
again.stop();
check(again.seen.length === answered.length - before, "it is told what it has missed, and nothing twice");
check(kinds(log).join() === "ADDED,COMPACTED,EXPANDED", "the log was expanded");
assert.deepEqual([...watching.seen, ...again.seen].map(describe), answered.map(describe));
console.log("  the stream and the answers tell the same events in the same order");

const saved = answered.reduce((sum, e) => sum + Number(e.tokensSaved!), 0);
const view = await build({ sameTurn: true, dryRun: true });
check(saved > 0, `${saved} tokens saved in all, what was expanded counted against it; the view weighs ${view.tokens!.total}`);
context.close();
record.close();
