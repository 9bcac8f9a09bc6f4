// An agent with the OpenAI SDK: Chat Completions. Each argument is something that the user says.

import OpenAI from "openai";
import { Palimpsest } from "palimpsest-context";
import { openaiTools, tools } from "./tools.js";

// [agent]
const openai = new OpenAI();
await using palimpsest = await Palimpsest.local();
const conversation = palimpsest.conversation("billing", { policy: { citations: { enabled: true } } });
for (const words of process.argv.slice(2)) {
  conversation.user(words);
  for (let working = true; working; ) {
    const request = await conversation.openai({ model: process.env.MODEL!, system: "You look after billing.", tools: openaiTools });
    const reply = await openai.chat.completions.create(request);
    const calls = await conversation.add(reply);
    await conversation.answer(calls, tools);
    working = calls.length > 0;
    if (!working) console.log(reply.choices[0]?.message.content);
  }
}
// [/agent]
