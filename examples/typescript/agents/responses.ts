// An agent with the OpenAI SDK: Responses, streamed. Each argument is something that the user says.

import OpenAI from "openai";
import { Palimpsest } from "palimpsest-context";
import { responsesTools, tools } from "./tools.js";

const openai = new OpenAI();
await using palimpsest = await Palimpsest.local();
const conversation = palimpsest.conversation("billing", { policy: { citations: { enabled: true } } });
for (const words of process.argv.slice(2)) {
  conversation.user(words);
  for (let working = true; working; ) {
    const request = await conversation.responses({ model: process.env.MODEL!, system: "You look after billing.", tools: responsesTools, stream: true });
    const stream = conversation.stream(openai.responses.create(request));
    for await (const event of stream) if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
    await conversation.answer(stream.calls, tools);
    working = stream.calls.length > 0;
  }
}
