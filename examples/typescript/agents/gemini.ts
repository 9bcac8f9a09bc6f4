// An agent over Gemini's generateContent.
//
//     node gemini.js FOLDER WORDS...      the conversation is kept in the folder

// [agent]
import { GoogleGenAI } from "@google/genai";
import { Palimpsest, type Call } from "palimpsest-context";
import { cite, geminiTools, tools } from "./tools.js";

const [dataDir, ...words] = process.argv.slice(2);
const google = new GoogleGenAI({}), model = process.env.MODEL ?? "gemini-3.1-pro", system = "You are terse.";
await using palimpsest = await Palimpsest.local({ dataDir });
const conversation = palimpsest.conversation("agent", { policy: cite });
await conversation.answer(await conversation.waiting(), tools); // what an agent that was killed had begun
for (const said of words) {
  conversation.user(said);
  for (let calls: Call[] | undefined; calls?.length !== 0; await conversation.answer(calls, tools)) {
    const request = await conversation.gemini({ model, system, tools: geminiTools });
    const reply = await google.models.generateContent(request);
    calls = await conversation.add(reply);
    if (calls.length === 0) console.log(reply.text);
  }
}
// [/agent]
