// An agent with the Google Gen AI SDK. Each argument is something that the user says.

import { GoogleGenAI } from "@google/genai";
import { Palimpsest } from "palimpsest-context";
import { geminiTools, tools } from "./tools.js";

const google = new GoogleGenAI({});
await using palimpsest = await Palimpsest.local();
const conversation = palimpsest.conversation("billing", { policy: { citations: { enabled: true } } });
for (const words of process.argv.slice(2)) {
  conversation.user(words);
  for (let working = true; working; ) {
    const request = await conversation.gemini({ model: process.env.MODEL!, system: "You look after billing.", tools: geminiTools });
    const reply = await google.models.generateContent(request);
    const calls = await conversation.add(reply);
    await conversation.answer(calls, tools);
    working = calls.length > 0;
    if (!working) console.log(reply.text);
  }
}
