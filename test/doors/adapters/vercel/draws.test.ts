// Mixed scenarios, drawn by a seed: PALIMPSEST_DRAWN=1000 PALIMPSEST_SEED=7 for more, or others. What is refused, lost or doubled on the way is a failure.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { asks, call, file, image, pdf, png, streamed, tools } from "./scenarios.js";
import { apis, compared, Sidecar, type Json, type Side } from "./sides.js";

const draws = Number(process.env["PALIMPSEST_DRAWN"] ?? 16);
const seed = Number(process.env["PALIMPSEST_SEED"] ?? 1);
const sidecars = ["none", "balanced", "cite"].map((policy) => new Sidecar(policy));
after(() => Promise.all(sidecars.map((sidecar) => sidecar.end())));

/** random is a generator of numbers from 0 to less than a number: mulberry32. */
function random(state: number): (below: number) => number {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** drawn is a user's day: some things said, each in its way, with lists that are edited, cut, cleared and forked between them. */
export function drawn(number: number) {
  return async (side: Side): Promise<void> => {
    const draw = random(number);
    const pick = <T>(...of: T[]): T => of[draw(of.length)]!;
    let messages: Json[] = [];
    let other: Json[] = [];
    const turns = () => messages.flatMap(({ role }, i) => (role === "user" ? [i] : []));
    const changes: (() => unknown)[] = [
      () => { messages.length = 0; },
      () => { messages.length = pick(0, ...turns()); },
      () => { messages.splice(0, pick(0, ...turns())); },
      () => { const at = turns(); const from = draw(at.length + 1); messages.splice(at[from] ?? 0, (at[from + 1] ?? at[from] ?? 0) - (at[from] ?? 0)); },
      () => { [messages, other] = [other.length > 0 ? other : [...messages], messages]; },
      () => side.restart(),
      () => { messages = structuredClone(messages); },
    ];
    for (let step = 0; step < 8; step++) {
      if (draw(3) === 0) await pick(...changes)();
      const calls = Array.from({ length: draw(4) }, () => pick(call("weather", { city: `city ${draw(3)}` }), call("log", { name: `log ${draw(2)}` }),
        call("fails", { why: "x" }), call("shot", { size: pick("500", "20000") })));
      const thought = draw(2) ? { thinking: `thought ${draw(3)}` } : {};
      await side.script(...(calls.length > 0 ? [{ ...thought, calls, ...(draw(2) ? { text: "I look." } : {}) }] : []), { ...thought, text: `answer ${draw(2)}` });
      const said = pick<Json>({ role: "user", content: `question ${draw(3)}` }, asks("look", file(pdf(draw(3)), "application/pdf")),
        asks("look", image(png(pick(300, 9000)))), { role: "user", content: `a long one ${"that says little ".repeat(500)}` });
      if (draw(2)) {
        await side.agent(tools).ask(messages, said);
      } else {
        messages.push(said);
        await streamed(side.agent(tools).options, messages);
      }
    }
  };
}

for (let number = seed; number < seed + draws; number++) {
  const sidecar = sidecars[number % sidecars.length]!;
  const api = apis[Math.floor(number / sidecars.length) % apis.length]!;
  test(`DRAWS=1 SEED=${number}, ${api}, ${sidecar.policy}`, async () => {
    assert.deepEqual((await compared(drawn(number), api, sidecar)).slice(0, 10), []);
  });
}
