// What people do with the SDK. A scenario is played plain and with the adapter: see sides.ts.
import { deflateSync } from "node:zlib";

import { jsonSchema } from "ai";

import { ai, seven, type Json, type Scenario, type Side } from "./sides.js";

/** noise is so many bytes, the same for the same seed, and none that compress. */
function noise(size: number, seed = 0): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, (_, i) => ((i + seed) * 2654435761) >>> 13));
}

const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
export const png = (size: number) => Buffer.concat([pixel, deflateSync(noise(size))]).toString("base64");
export const pdf = (seed: number) => Buffer.concat([Buffer.from("%PDF-1.4\n"), noise(500, seed)]).toString("base64");

const takes = (...names: string[]) => jsonSchema<Json>({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: names });
const shown = (data: string): Json => (seven ? { type: "file", data: { type: "data", data }, mediaType: "image/png" } : { type: "image-data", data, mediaType: "image/png" });
export const tools: Record<string, any> = {
  weather: ai.tool({ description: "Tells the weather.", inputSchema: takes("city"), execute: ({ city }: Json) => ({ city: city, sky: "rain" }) }),
  log: ai.tool({ description: "Reads a log.", inputSchema: takes("name"), execute: ({ name }: Json) => `${name}: ${"a line that says little\n".repeat(name === "billing" ? 2000 : 150)}` }),
  fails: ai.tool({ description: "Fails.", inputSchema: takes("why"), execute: () => { throw new Error("disk full"); } }),
  shot: ai.tool({
    description: "Takes a picture.", inputSchema: takes("size"), execute: ({ size }: Json) => png(Number(size)),
    toModelOutput: ({ output }: Json) => ({ type: "content", value: [{ type: "text", text: "the screen" }, shown(output)] }),
  }),
  pay: ai.tool({ description: "Pays.", inputSchema: takes("sum"), needsApproval: true, execute: ({ sum }: Json) => `paid ${sum}` }),
  choose: ai.tool({ description: "Asks the user.", inputSchema: takes("of") }),
};

export const call = (name: string, args: Json) => ({ name, arguments: args });
const thinks = (text: string, n: number) => ({ text, thinking: `thought ${n}` });
export const image = (data: string): Json => ({ type: "image", image: data, mediaType: "image/png" });
export const file = (data: string, mediaType: string): Json => ({ type: "file", data, mediaType });
export const asks = (text: string, ...files: Json[]): Json => ({ role: "user", content: [{ type: "text", text }, ...files] });

/** streamed streams a reply, and keeps it; what is stopped, as far as it came. */
export async function streamed(options: Json, messages: Json[], stop?: (chunk: Json) => boolean): Promise<void> {
  const abort = new AbortController();
  const result = ai.streamText({ ...options, messages, abortSignal: abort.signal, onError() {} });
  for await (const chunk of result.fullStream) {
    if (!stop?.(chunk)) continue;
    abort.abort();
    messages.push({ role: "assistant", content: chunk.text });
    return;
  }
  messages.push(...(await (result.responseMessages ?? (await result.response).messages)));
}

async function imageOut(side: Side, size: number): Promise<void> {
  await side.script({ calls: [call("shot", { size: String(size) })] }, { text: "a screen" });
  const messages: Json[] = [];
  const agent = side.agent({ shot: tools["shot"] });
  await agent.ask(messages, "look");
  await agent.ask(messages, "again");
}

export const scenarios: Record<string, Scenario> = {
  async text(side) {
    await side.script({ text: "hello" }, { text: "hello again" });
    const messages: Json[] = [];
    await side.agent().ask(messages, "hi");
    await side.agent().ask(messages, "again");
  },
  async parallel_calls(side) {
    await side.script({ thinking: "two at once", calls: [call("weather", { city: "Kyoto" }), call("log", { name: "billing" })] }, { text: "rain" });
    const messages: Json[] = [];
    const agent = side.agent(tools);
    await agent.ask(messages, "hi");
    await agent.ask(messages, "again");
  },
  async tool_error(side) {
    await side.script({ calls: [call("fails", { why: "x" })] }, { text: "it failed" });
    const messages: Json[] = [];
    const agent = side.agent(tools);
    await agent.ask(messages, "hi");
    await agent.ask(messages, "again");
  },
  async streaming(side) {
    await side.script({ thinking: "hm", text: "I look.", calls: [call("weather", { city: "Kyoto" }), call("weather", { city: "Nara" })] }, { thinking: "so", text: "rain" });
    const { options } = side.agent(tools);
    const messages: Json[] = [{ role: "user", content: "hi" }];
    await streamed(options, messages);
    messages.push({ role: "user", content: "again" });
    await streamed(options, messages);
  },
  async image_in(side) {
    await side.script({ text: "a pixel" });
    const messages: Json[] = [];
    const agent = side.agent();
    await agent.ask(messages, asks("what is it?", image(png(1000))));
    await agent.ask(messages, asks("and there?", { type: "image", image: new URL("https://example.com/a.png"), mediaType: "image/png" }));
  },
  image_out_of_a_tool_10_KB: (side) => imageOut(side, 10_000),
  image_out_of_a_tool_100_KB: (side) => imageOut(side, 100_000),
  image_out_of_a_tool_400_KB: (side) => imageOut(side, 400_000),
  image_out_of_a_tool_4_MB: (side) => imageOut(side, 3_000_000), // in base64
  async pdf_twice_with_the_same_words(side) {
    await side.script({ text: "read" });
    const messages: Json[] = [];
    const agent = side.agent();
    for (const seed of [1, 2]) await agent.ask(messages, asks("read this", file(pdf(seed), "application/pdf")));
    await agent.ask(messages, "which was first?");
  },
  async equal_replies_with_other_reasoning(side) {
    await side.script(thinks("done", 1), thinks("done", 2), thinks("done", 3));
    const messages: Json[] = [];
    const agent = side.agent();
    for (const said of ["one", "two", "three"]) await agent.ask(messages, said);
  },
  async structured_output(side) {
    await side.script({ text: '{"city": "Kyoto", "rain": true}' });
    const messages: Json[] = [];
    const output = ai.Output.object({ schema: jsonSchema<Json>({ type: "object", properties: { city: { type: "string" }, rain: { type: "boolean" } }, required: ["city", "rain"], additionalProperties: false }) });
    for (const said of ["hi", "again"]) await side.agent().ask(messages, said, { output });
  },
  async handoff(side) {
    await side.script({ text: "billing knows" }, { calls: [call("log", { name: "billing" })] }, { text: "found" });
    const messages: Json[] = [];
    await side.agent(tools).ask(messages, "why?");
    await side.agent(tools, "", { system: "You look after billing." }).ask(messages, "look");
    await side.agent(tools).ask(messages, "thanks");
  },
  async nested_agent(side) {
    await side.script({ calls: [call("research", { of: "rain" })] }, { text: "told" });
    await side.scriptOf("-inner", { calls: [call("weather", { city: "Kyoto" })] }, { text: "it rains" });
    const research = ai.tool({ description: "Finds out.", inputSchema: takes("of"), execute: async ({ of }: Json) => (
      await side.agent({ weather: tools["weather"] }, "-inner", { model: "-inner", system: "You research." }).ask([], of)).text });
    const messages: Json[] = [];
    for (const said of ["why?", "and?"]) await side.agent({ research }).ask(messages, said);
  },
  async swarm(side) {
    const messages: Json[] = [];
    for (const [i, name] of ["-a", "-b", "-a", "-b"].entries()) {
      await side.scriptOf(name, { text: `${name} ${i}` });
      await side.agent({ weather: tools["weather"] }, name, { model: name, system: `You are ${name}.` }).ask(messages, `task ${i}`);
    }
  },
  async interrupt_and_resume(side) {
    await side.script({ calls: [call("choose", { of: "tea" })] }, { text: "tea it is" });
    const messages: Json[] = [];
    const { toolCalls } = await side.agent(tools).ask(messages, "drink?");
    const [{ toolCallId, toolName }] = toolCalls;
    await side.agent(tools).ask(messages, { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: "tea" } }] });
  },
  async approval(side) {
    const messages: Json[] = [];
    for (const approved of [true, false]) {
      await side.script({ calls: [call("pay", { sum: "5" })] }, { text: "settled" });
      const agent = side.agent(tools);
      const { content } = await agent.ask(messages, "pay");
      const asked = content.filter(({ type }: Json) => type === "tool-approval-request");
      await agent.ask(messages, { role: "tool", content: asked.map(({ approvalId }: Json) => ({ type: "tool-approval-response", approvalId, approved, reason: "so" })) });
    }
  },
  async clear(side) {
    await side.script({ text: "one" }, { text: "two" });
    const messages: Json[] = [];
    for (const said of ["hi", "more", "even more"]) await side.agent().ask(messages, said);
    messages.length = 0;
    for (const said of ["something else", "and more"]) await side.agent().ask(messages, said);
  },
  async first_message_edited(side) {
    await side.script({ text: "one" }, { text: "two" });
    const messages: Json[] = [];
    for (const said of ["q0", "q1"]) await side.agent().ask(messages, said);
    messages.length = 0;
    for (const said of ["q0, edited", "q1"]) await side.agent().ask(messages, said);
  },
  async later_message_edited(side) {
    await side.script({ text: "one" }, { text: "two" }, { text: "three" });
    const messages: Json[] = [];
    for (const said of ["q0", "q1", "q2"]) await side.agent().ask(messages, said);
    messages.length = 2;
    for (const said of ["q1, edited", "q2"]) await side.agent().ask(messages, said);
  },
  async fork(side) {
    await side.script({ text: "one" }, { text: "two" }, { text: "three" });
    const stem: Json[] = [];
    await side.agent().ask(stem, "q0");
    const branches = [[...stem], [...stem]];
    for (const said of ["a", "b", "c"]) for (const [i, branch] of branches.entries()) await side.agent().ask(branch, `${said}${i}`);
  },
  async user_trims(side) {
    await side.script({ text: "one" }, { text: "two" }, { text: "three" });
    const messages: Json[] = [];
    for (const said of ["q0", "q1", "q2"]) await side.agent().ask(messages, said);
    messages.splice(0, 2);
    await side.agent().ask(messages, "q3");
    messages.splice(2, 2);
    for (const said of ["q4", "q5"]) await side.agent().ask(messages, said);
  },
  async two_sessions(side) {
    await side.script({ text: "same" });
    const sessions: Json[][] = [[], []];
    for (const said of ["hi", "more", "more"]) for (const [i, messages] of sessions.entries()) await side.agent(tools, `-${i}`).ask(messages, said);
  },
  async cancel(side) {
    await side.script({ text: "a long answer that nobody waits for", slow: true });
    const messages: Json[] = [{ role: "user", content: "hi" }];
    await streamed(side.agent().options, messages, ({ type }) => type === "text-delta");
    await side.script({ text: "short" });
    await side.agent().ask(messages, "then?");
  },
  async two_hundred_steps(side) {
    await side.script(...Array.from({ length: 200 }, (_, i) => ({ calls: [call("weather", { city: `city ${i}` })] })), { text: "end" });
    await side.agent(tools).ask([], "go");
  },
  async restart_of_both(side) {
    await side.script({ thinking: "hm", calls: [call("weather", { city: "Kyoto" })] }, { text: "rain" }, { calls: [call("log", { name: "x" })] }, { text: "end" });
    const messages: Json[] = [];
    await side.agent(tools).ask(messages, "hi");
    await side.restart();
    await side.agent(tools).ask(messages, "again");
  },
  async away_and_back(side) {
    await side.script({ calls: [call("weather", { city: "Kyoto" })] }, { text: "rain" }, { calls: [call("weather", { city: "Nara" })] }, { text: "too" }, { text: "end" });
    const messages: Json[] = [];
    const agent = side.agent(tools);
    await agent.ask(messages, "hi");
    await side.away();
    await agent.ask(messages, "again");
    side.back();
    await agent.ask(messages, "and?");
  },
};
