// An agent for each API that is killed between the model's reply and the results of its tools, and started again.
//
//     node interrupted.js ADDRESS [kill]

import { strict as assert } from "node:assert";
import { Palimpsest } from "palimpsest-context";

import { tools } from "./agents/tools.js";
import { formats, play, policy, question, whole } from "./toy.js";

const [address, killed] = process.argv.slice(2);
await using palimpsest = new Palimpsest(address!);
for (const format of formats) {
  const conversation = palimpsest.conversation(`interrupted-${format}`, { policy });
  if (killed) {
    conversation.user(question);
    await conversation.add(await whole(conversation, format));
    continue;
  }
  const calls = await conversation.waiting();
  assert.deepEqual(calls.map((call) => call.name), ["get_weather", "web_search"]);
  await conversation.answer(calls, tools);
  assert.equal(await play(conversation, format, "Go on."), 4);
}
if (killed) process.kill(process.pid, "SIGKILL");
