// An agent over Anthropic's Messages.
//
//     node anthropic.js FOLDER WORDS...      the conversation is kept in the folder

// [agent]
import Anthropic from "@anthropic-ai/sdk";
import { Palimpsest, type Call } from "palimpsest-context";
import { cite, anthropicTools, tools } from "./tools.js";

const [dataDir, ...words] = process.argv.slice(2);
const anthropic = new Anthropic(), model = process.env.MODEL ?? "claude-opus-4-8", system = "You are terse.";
await using palimpsest = await Palimpsest.local({ dataDir });
const conversation = palimpsest.conversation("agent", { policy: cite });
await conversation.answer(await conversation.waiting(), tools); // what an agent that was killed had begun
for (const said of words) {
  conversation.user(said);
  for (let calls: Call[] | undefined; calls?.length !== 0; await conversation.answer(calls, tools)) {
    const request = await conversation.anthropic({ model, system, tools: anthropicTools, max_tokens: 4096 });
    const reply = await anthropic.messages.create(request);
    calls = await conversation.add(reply);
    if (calls.length === 0) console.log(reply.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  }
}
// [/agent]
