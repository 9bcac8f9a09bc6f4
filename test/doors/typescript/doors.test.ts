// What the package promises, with the providers' SDKs against fakes that refuse what the providers refuse.

import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { Palimpsest, type Conversation } from "palimpsest-context";
import { Role, type Message } from "palimpsest-context/proto";

import { tools } from "./agents/tools.js";
import { formats, play, policy, question, reset, stats, step, streamed, whole } from "./toy.js";

let palimpsest: Palimpsest;
before(async () => { palimpsest = await Palimpsest.local(); });
after(() => palimpsest.close());

async function record(conversation: Conversation): Promise<Message[]> {
  await conversation.flush();
  return (await palimpsest.raw.conversation.listMessages({ conversationId: conversation.id })).messages;
}

function textOf(message: Message | undefined): string {
  return message?.parts.map(({ content }) => (content.case === "text" ? content.value : "")).join("") ?? "";
}

for (const format of formats) {
  for (const streams of [false, true]) {
    test(`${format}, ${streams ? "streamed" : "whole"}: seven calls, none refused`, async () => {
      await reset();
      const conversation = palimpsest.conversation(`toy-${format}-${streams}`, { policy });
      assert.equal(await play(conversation, format, question, streams), 5);
      assert.match(textOf((await record(conversation)).at(-1)), /FATAL billing/);
      assert.equal(await play(conversation, format, "Say that twice.", streams), 2);

      const seen = await stats();
      assert.deepEqual(seen.refusals, []);
      assert.equal(seen.requests, 7);
      assert.deepEqual(seen.calls, { get_weather: 2, web_search: 1, fetch_log: 1, retrieve_content: 1, expand_message: 1, search_conversation: 1 });
      assert.ok(seen.largest_bytes < 40_000, `a request had ${seen.largest_bytes} bytes`);
      const results = (await record(conversation)).flatMap(({ parts }) => parts).flatMap(({ content }) => (content.case === "toolResult" ? content.value : []));
      assert.deepEqual(results.filter(({ recalledFrom }) => recalledFrom).map(({ name }) => name).sort(),
        ["expand_message", "retrieve_content", "search_conversation"], "what was recalled names its source");
    });
  }

  test(`${format}: a stream that breaks off leaves what is whole, and the agent goes on`, async () => {
    await reset();
    const conversation = palimpsest.conversation(`abort-${format}`, { policy }).user(question);
    const stream = conversation.stream(streamed(conversation, format, "fake-abort"));
    await assert.rejects(stream.drain());
    assert.deepEqual(stream.calls, [], "nobody waits for calls of a reply that was cut off");
    const cut = (await record(conversation)).at(-1)!;
    assert.equal(cut.role, Role.ASSISTANT);
    assert.deepEqual(cut.tags, ["aborted"]);
    assert.equal(cut.parts.filter(({ content }) => content.case === "toolCall").length, 1, "the call that was whole");

    conversation.user("Go on.");
    while ((await step(conversation, format, true)).length > 0);
    assert.deepEqual((await stats()).refusals, []);
  });

  test(`${format}: who leaves the loop of a stream keeps what had come`, async () => {
    const conversation = palimpsest.conversation(`left-${format}`).user(question);
    for await (const event of conversation.stream(streamed(conversation, format))) if (JSON.stringify(event).includes('"Let')) break;
    const messages = await record(conversation);
    assert.equal(messages.length, 2);
    assert.match(textOf(messages[1]), /^Let/);
    assert.deepEqual(messages[1]!.tags, ["aborted"]);
  });

  test(`${format}: durable "step" has one commit a step`, async () => {
    await reset();
    const conversation = palimpsest.conversation(`step-${format}`, { policy, durable: "step" });
    assert.equal(await play(conversation, format, question), 5);
    const { revision } = conversation.built!;
    assert.equal(await play(conversation, format, "Say that twice."), 2);
    assert.equal(conversation.built!.revision - revision, 2n, "two steps");
    assert.deepEqual((await stats()).refusals, []);
    assert.match(textOf((await record(conversation)).at(-1)), /FATAL billing/);
  });

  test(`${format}: a reply that is added twice is on record once`, async () => {
    const conversation = palimpsest.conversation(`twice-${format}`).user(question);
    const reply = await whole(conversation, format);
    const calls = await conversation.add(reply);
    assert.equal(calls.length, 2);
    assert.deepEqual(await conversation.add(reply), calls);
    assert.equal((await record(conversation)).length, 2);
  });
}

const cutItems = {
  responses: [
    { type: "response.created", response: { id: "r", object: "response", model: "fake", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { type: "web_search_call", id: "w", status: "in_progress" } },
  ],
  anthropic: [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "fake", content: [], usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} } },
  ],
};
for (const [format, events] of Object.entries(cutItems)) {
  test(`${format}: what the provider was about to do when the stream broke off is no part of the reply`, async () => {
    const conversation = palimpsest.conversation(`cut-${format}`).user(question);
    const breaking = async function* () {
      yield* events;
      throw new Error("the connection is gone");
    };
    await assert.rejects(conversation.stream(breaking()).drain(), /is gone/);
    assert.equal((await record(conversation)).length, 1);
  });
}

test("tools run side by side, and what they throw is a result", async () => {
  const conversation = palimpsest.conversation("tools").user(question);
  const calls = await conversation.add(await whole(conversation, "openai"));
  let running = 0;
  let most = 0;
  const slow = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running--;
    throw new Error("the service is down");
  };
  await conversation.answer([...calls, { ...calls[0]!, id: "other", name: "unknown" }].slice(0, 2), { get_weather: slow, web_search: slow });
  assert.equal(most, 2);
  const results = (await record(conversation)).slice(2).map(({ parts: [part] }) => part!.content);
  assert.deepEqual(results.map((content) => content.case === "toolResult" && [content.value.state, content.value.output.value]),
    [[2, "the service is down"], [2, "the service is down"]]);
});

test("messages of a provider's, and results of a loop of one's own", async () => {
  const conversation = palimpsest.conversation("own").message([{ role: "user", content: "one" }, { role: "user", content: question }], "openai");
  const calls = await conversation.add(await whole(conversation, "openai"));
  for (const call of calls) conversation.result(call, { ran: call.name });
  const { messages } = await conversation.openai({ model: "fake" });
  assert.deepEqual(messages.map(({ role }) => role), ["user", "user", "assistant", "tool", "tool"]);
  assert.equal(messages[3].content, '{"ran":"get_weather"}');
  assert.throws(() => palimpsest.conversation("new").message({ role: "user", content: "whose?" }), TypeError);
});

test("a context that is larger than answers usually are is asked for again, and said once", async () => {
  const conversation = palimpsest.conversation("large", { policy: { fit: { contextWindowTokens: 20_000_000, reservedOutputTokens: 1 } } });
  const { messages } = await conversation.user("many words ".repeat(250_000)).openai({ model: "fake" });
  assert.ok(JSON.stringify(messages).length > 2_700_000);
  assert.equal((await record(conversation)).length, 1);
});

test("a dry run leaves what is pending", async () => {
  const conversation = palimpsest.conversation("dry").user("hello");
  const looked = await conversation.openai({ model: "fake", build: { dryRun: true } });
  assert.equal(looked.messages.length, 1);
  assert.equal((await conversation.openai({ model: "fake" })).messages.length, 1);
  assert.equal((await record(conversation)).length, 1);
});

test("a build that is refused puts nothing on record, and what was said goes with the next", async () => {
  const conversation = palimpsest.conversation("refused", { durable: "step" }).user(question);
  const calls = await conversation.add(await whole(conversation, "openai"));
  await assert.rejects(conversation.openai({ model: "fake" }), { reason: "PENDING_TOOL_CALLS" });
  assert.equal((await palimpsest.raw.conversation.getConversation({ conversationId: "refused" })).conversation!.messageCount, 1);
  await conversation.answer(calls, tools);
  assert.equal((await conversation.openai({ model: "fake" })).messages.length, 4);
});

/** requests returns what notes the lists that are sent from now on, and stops. */
function requests(): () => { elements: number; known: number }[] {
  const context = palimpsest.raw.context as { buildContext: (request: any) => unknown };
  const build = context.buildContext;
  const seen: { elements: number; known: number }[] = [];
  context.buildContext = (request) => {
    const { json, history } = request.append.providerInput;
    seen.push({ elements: JSON.parse(json).length, known: history.knownCount ?? 0 });
    return build(request);
  };
  return () => {
    context.buildContext = build;
    return seen;
  };
}

test("whole lists: a list that grows, a front that is known, a list that differs", async () => {
  const conversation = palimpsest.conversation("synced", { policy });
  const list: any[] = [{ role: "user", content: "one" }];
  const first = await conversation.sync(list, { format: "openai", model: "fake", system: "be terse" });
  assert.deepEqual(first.request.messages.map((message: any) => message.role), ["system", "user"]);
  list.push({ role: "assistant", content: "1" }, { role: "user", content: "two" });
  const sent = requests();
  const second = await conversation.sync(list, { format: "openai", model: "fake" });
  assert.deepEqual(sent(), [{ elements: 2, known: 1 }]);
  assert.equal(second.built.history!.knownCount, 3);
  assert.equal(second.built.receipts.length, 2);
  assert.deepEqual(second.request.messages, list);

  const edited = [list[0], list[1], { role: "user", content: "three" }];
  await assert.rejects(conversation.sync(edited, { format: "openai" }), { reason: "HISTORY_DIVERGED" });
  const rewound = await conversation.sync(edited, { format: "openai", rewind: true });
  assert.deepEqual(rewound.request.messages, edited);
  assert.ok(rewound.built.history!.rewound);
});

test("whole lists: a front that the sidecar knows no more is sent again", async () => {
  const conversation = palimpsest.conversation("forgotten");
  const list = [{ role: "user", content: "one" }, { role: "assistant", content: "1" }, { role: "user", content: "two" }];
  await conversation.sync(list, { format: "openai" });
  await palimpsest.raw.context.rewindConversation({ conversationId: "forgotten", fromIndex: 1 });
  const sent = requests();
  const again = await conversation.sync([...list, { role: "assistant", content: "2" }, { role: "user", content: "three" }], { format: "openai" });
  assert.deepEqual(sent(), [{ elements: 2, known: 3 }, { elements: 5, known: 0 }]);
  assert.equal(again.request.messages.length, 5);
});

test("a tool of the sidecar's is answered by hand", async () => {
  const conversation = palimpsest.conversation("recall").user("hello");
  await conversation.flush();
  assert.match(await conversation.recall("expand_message", { id: "0" }, "r1"), /hello/);
});

test("definitions of tools, for each provider", () => {
  for (const format of formats) assert.match(JSON.stringify(palimpsest.tools(format)), /retrieve_content/);
  assert.match(JSON.stringify(palimpsest.tools("gemini", { memory: true })), /search_memory/);
  assert.doesNotMatch(JSON.stringify(palimpsest.tools("gemini")), /search_memory/);
});
