// An agent over OpenAI's Chat Completions.
//
//     node openai.js FOLDER WORDS...      the conversation is kept in the folder

// [agent]
import OpenAI from "openai";
import { Palimpsest, type Call } from "palimpsest-context";
import { cite, openaiTools, tools } from "./tools.js";

const [dataDir, ...words] = process.argv.slice(2);
const openai = new OpenAI(), model = process.env.MODEL ?? "gpt-5.1", system = "You are terse.";
await using palimpsest = await Palimpsest.local({ dataDir });
const conversation = palimpsest.conversation("agent", { policy: cite });
await conversation.answer(await conversation.waiting(), tools); // what an agent that was killed had begun
for (const said of words) {
  conversation.user(said);
  for (let calls: Call[] | undefined; calls?.length !== 0; await conversation.answer(calls, tools)) {
    const request = await conversation.openai({ model, system, tools: openaiTools });
    const reply = await openai.chat.completions.create(request);
    calls = await conversation.add(reply);
    if (calls.length === 0) console.log(reply.choices[0]?.message.content);
  }
}
// [/agent]
