// An agent over OpenAI's Responses that prints while the model speaks.
//
//     node responses.js FOLDER WORDS...      the conversation is kept in the folder

// [agent]
import OpenAI from "openai";
import { Palimpsest, type Call } from "palimpsest-context";
import { cite, responsesTools, tools } from "./tools.js";

const [dataDir, ...words] = process.argv.slice(2);
const openai = new OpenAI(), model = process.env.MODEL ?? "gpt-5.1", system = "You are terse.";
await using palimpsest = await Palimpsest.local({ dataDir });
const conversation = palimpsest.conversation("agent", { policy: cite });
await conversation.answer(await conversation.waiting(), tools); // what an agent that was killed had begun
for (const said of words) {
  conversation.user(said);
  for (let calls: Call[] | undefined; calls?.length !== 0; await conversation.answer(calls, tools)) {
    const request = await conversation.responses({ model, system, tools: responsesTools, stream: true });
    const events = conversation.stream(openai.responses.create(request));
    for await (const event of events) if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
    calls = events.calls;
  }
}
// [/agent]
