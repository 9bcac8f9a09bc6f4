// An agent with the Anthropic SDK. Each argument is something that the user says.

import Anthropic from "@anthropic-ai/sdk";
import { Palimpsest } from "palimpsest-context";
import { anthropicTools, tools } from "./tools.js";

const anthropic = new Anthropic();
await using palimpsest = await Palimpsest.local();
const conversation = palimpsest.conversation("billing", { policy: { citations: { enabled: true } } });
for (const words of process.argv.slice(2)) {
  conversation.user(words);
  for (let working = true; working; ) {
    const request = await conversation.anthropic({ model: process.env.MODEL!, max_tokens: 4096, system: "You look after billing.", tools: anthropicTools });
    const reply = await anthropic.messages.create(request);
    const calls = await conversation.add(reply);
    await conversation.answer(calls, tools);
    working = calls.length > 0;
    if (!working) console.log(reply.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  }
}
