// Plain and with the adapter, side by side: what the provider gets is the same. See sides.ts.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { scenarios } from "./scenarios.js";
import { addedPerStep, apis, compared, Sidecar } from "./sides.js";

const names = [
  ...["text", "parallel_calls", "tool_error", "streaming", "image_in", "pdf_twice_with_the_same_words", "equal_replies_with_other_reasoning"],
  ...["image_out_of_a_tool_10_KB", "image_out_of_a_tool_100_KB", "image_out_of_a_tool_400_KB", "image_out_of_a_tool_4_MB", "structured_output", "handoff"],
  ...["nested_agent", "swarm", "interrupt_and_resume", "approval", "clear", "first_message_edited", "later_message_edited", "fork", "user_trims"],
  ...["two_sessions", "cancel", "two_hundred_steps", "restart_of_both", "away_and_back"],
];

const sidecars = (process.env["POLICIES"] ?? "none,balanced").split(",").map((policy) => new Sidecar(policy));
after(() => Promise.all(sidecars.map((sidecar) => sidecar.end())));
const only = process.env["SCENARIO"];

for (const sidecar of sidecars) {
  for (const name of names) {
    for (const api of apis) {
      if (only && !`${name} ${api} ${sidecar.policy}`.match(only)) continue;
      test(`${name}, ${api}, ${sidecar.policy}`, async () => {
        assert.ok(scenarios[name], "the scenario has no row");
        assert.deepEqual((await compared(scenarios[name], api, sidecar)).slice(0, 10), []);
      });
    }
  }
}

// A bar of milliseconds means nothing beside other work.
for (const api of process.env["PALIMPSEST_TEST_SPEED"] ? apis : []) {
  test(`what 200 steps wait for, ${api}`, async (t) => {
    const { plain, ours } = await addedPerStep(scenarios["two_hundred_steps"]!, api, sidecars[0]!);
    t.diagnostic(`a step takes ${ours.toFixed(1)} ms, plain ${plain.toFixed(1)} ms`);
    assert.ok(ours - plain <= 10);
  });
}
