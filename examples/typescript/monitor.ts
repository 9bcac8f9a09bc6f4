// Watches what happens to the messages of a conversation while an agent works, and adds up what was saved.
//
//     node monitor.js [ADDRESS]      127.0.0.1:7171 by default

import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { Palimpsest, type Init } from "palimpsest-context";
import {
  CompactMode, DecisionReason, EventType, ExpandMode, ExpirationMode, RewriteMode, Role,
  type BuildContextResponse, type ExpirationSchema, type LifecycleEvent, type MessageSchema,
} from "palimpsest-context/proto";

const palimpsest = new Palimpsest(process.argv[2] ?? "127.0.0.1:7171");
const conversationId = `monitor-${randomUUID()}`;
const { context, conversation: record } = palimpsest.raw;

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
  const stop = new AbortController();
  const watching: Watching = { seen: [], token, stop: () => stop.abort() };
  const follow = async () => {
    for await (const { event, resumeToken } of record.watchEvents({ conversationId, resumeToken: token }, { signal: stop.signal })) {
      watching.seen.push(event!);
      watching.token = resumeToken;
      console.log(`  | ${describe(event!)}`);
    }
  };
  follow().catch(() => undefined); // stopped, or the server left: call watch again with the token
  return watching;
}

function describe(e: LifecycleEvent): string {
  const what = EventType[e.type].toLowerCase();
  const why = DecisionReason[e.reason].toLowerCase();
  const saved = e.tokensSaved ? `, ${e.tokensSaved} tokens saved` : "";
  return `[turn ${e.turn}] message ${e.messageIndex} ${what}: ${why}${saved}${e.view?.canExpand ? ", can be expanded" : ""}`;
}
// [/watch]

// The same events come in the answers of the calls that caused them.
const answered: LifecycleEvent[] = [];

async function append(message: Init<typeof MessageSchema>): Promise<number> {
  const reply = await context.appendMessage({ conversationId, message });
  answered.push(...reply.events);
  return reply.receipt!.index;
}

async function build(more: { sameTurn?: boolean; dryRun?: boolean } = {}): Promise<BuildContextResponse> {
  const reply = await context.buildContext({ conversationId, ...more });
  answered.push(...reply.events);
  return reply;
}

const say = (role: Role, value: string) => append({ role, parts: [{ content: { case: "text", value } }] });

type Expiration = Init<typeof ExpirationSchema>;

/** use plays a call of a tool, and returns the index of its result. */
async function use(name: string, output: string, expiration: Expiration): Promise<number> {
  await append({ role: Role.ASSISTANT, parts: [{ content: { case: "toolCall", value: { callId: name, name, argumentsJson: "{}" } } }] });
  const result = { callId: name, name, output: { case: "text" as const, value: output }, expiration };
  return append({ role: Role.TOOL, parts: [{ content: { case: "toolResult", value: result } }] });
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !condition() && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const compacted: Expiration = { turns: 1, mode: ExpirationMode.COMPACT, compactMode: CompactMode.FIRST_N_CHARS, compactLength: 200 };
const removed: Expiration = { turns: 0, mode: ExpirationMode.REMOVE };

await record.createConversation({ conversation: { id: conversationId, policy: { rewrite: { mode: RewriteMode.EAGER } } } });
const watching = watch();

console.log("turns 1 to 4: a log is read, a job is looked at twice, and the user goes on");
await say(Role.USER, "Why did the nightly job fail?");
await build();
const log = await use("read_log", "2026-03-01 02:00:07 worker 4: retrying the upload of part 17\n".repeat(60), compacted);
await build();
const early = await use("job_state", "running, 40 %", removed);
await build();
const late = await use("job_state", "failed: disk full", removed);
await build();
await until(() => watching.seen.length >= answered.length);

const kinds = (index: number) => answered.filter((e) => e.messageIndex === index).map((e) => EventType[e.type]);
check(kinds(log).join() === "ADDED,COMPACTED", "the log was compacted");
check(kinds(early).join() === "ADDED,EXPIRED,REMOVED" && kinds(early - 1).join() === "ADDED,REMOVED", "the first look at the job has left, and its call with it");
check(kinds(late).join() === "ADDED", "the second is the newest: it stays");

console.log("the watcher goes away, and the agent works on");
watching.stop();
const before = answered.length;
await say(Role.ASSISTANT, "A disk is full.");
await say(Role.USER, "Which? Look at the log again.");
const expanded = await context.expandMessage({ conversationId, target: { case: "messageIndex", value: log }, mode: ExpandMode.RESTORE });
answered.push(...expanded.events);
await build();

console.log("it comes back with its token");
const again = watch(watching.token);
await until(() => watching.seen.length + again.seen.length >= answered.length);
again.stop();
check(again.seen.length === answered.length - before, "it is told what it has missed, and nothing twice");
check(kinds(log).join() === "ADDED,COMPACTED,EXPANDED", "the log was expanded");
assert.deepEqual([...watching.seen, ...again.seen].map(describe), answered.map(describe));
console.log("  the stream and the answers tell the same events in the same order");

const saved = answered.reduce((sum, e) => sum + Number(e.tokensSaved), 0);
const view = await build({ sameTurn: true, dryRun: true });
check(saved > 0, `${saved} tokens saved in all, what was expanded counted against it; the view weighs ${view.tokens!.total}`);
await palimpsest.close();
