// An agent that is killed between the model's reply and the results of its tools, and started again.
//
//     node interrupted.js ADDRESS FORMAT [kill]

import { strict as assert } from "node:assert";
import { Palimpsest, type Format } from "palimpsest-context";

import { tools } from "./agents/tools.js";
import { play, policy, question, whole } from "./toy.js";

const [address, name, killed] = process.argv.slice(2);
const format = name as Format;
await using palimpsest = new Palimpsest(address!);
const conversation = palimpsest.conversation(`interrupted-${format}`, { policy });
if (killed) {
  conversation.user(question);
  await conversation.add(await whole(conversation, format));
  process.kill(process.pid, "SIGKILL");
}
const calls = await conversation.waiting();
assert.deepEqual(calls.map((call) => call.name), ["get_weather", "web_search"]);
await conversation.answer(calls, tools);
console.log(await play(conversation, format, "Go on."));
