package badinput

import (
	"maps"
	"strings"
	"testing"
)

// agedForgeries make the export of the aged conversation contradict itself, or the rules of the API, in what ages.
func agedForgeries() []forgery {
	left := func(field string, value any) []any {
		erased := line{"content": 0, "originalLengthBytes": 10, "originalLengthChars": 10, "keyedHash": strings.Repeat("0", 64)}
		maps.Copy(erased, line{field: value})
		return []any{erased}
	}
	expiration := func(field string, value any) forgery {
		return set(agedShort, line{field: value}, "message", "parts", 0, "toolResult", "expiration")
	}
	erased := func(value any) forgery { return set(agedErased, value, "message", "parts", 0, "erased") }
	shown := func(field string, value any) forgery { return set(0, value, "edit", "parts", 0, "shown", field) }
	return []forgery{
		set(0, line{"turns": -1}, "message", "expiration"), set(0, line{"turns": 1_000_001}, "message", "expiration"), set(0, line{"compactLength": 0}, "message", "expiration"),
		set(0, line{"mode": secret}, "message", "expiration"), set(0, line{secret: 1}, "message", "expiration"), set(0, secret, "message", "expiration"),
		expiration("turns", -1), expiration("turns", most32), expiration("turns", 1<<40), expiration("compactLength", -1), expiration("mode", 3), expiration("compactMode", secret),
		expiration("compactPromptId", strings.Repeat(secret, 20)), expiration("source", "EXPIRATION_SOURCE_"), expiration("preserveOriginalContent", 1),
		set(0, line{"keepLast": 0}, "message", "parts", 0, "retention"), set(0, line{"keepLast": -1}, "message", "parts", 3, "retention"), set(0, line{"keepLast": 1_000_001}, "message", "parts", 3, "retention"),
		set(0, line{"keepLast": 1, "permanent": true}, "message", "parts", 0, "retention"), set(1, line{"permanent": true}, "message", "parts", 0, "retention"),
		set(0, "PART_VARIANT_DISPLAY_ONLY", "message", "parts", 0, "variant"), set(0, secret, "message", "parts", 1, "variant"), set(0, "", "message", "parts", 1, "plugin"),
		set(0, strings.Repeat(secret, 20), "message", "parts", 3, "plugin"),
		set(0, secret, "message", "parts", 0, "plugin"), set(0, line{"inputs": -1}, "message", "place"), set(0, line{"inputs": 2}, "message", "place"), set(0, line{"carrying": 1}, "message", "place"),
		erased(left("content", -1)), erased(left("content", 1)), erased(left("content", most32)), erased(left("originalLengthBytes", -1)), erased(left("originalLengthBytes", uint64(1)<<62)),
		erased(left("originalLengthBytes", 5)), erased(left("originalLengthChars", -1)), erased(left("keyedHash", secret)), erased(left("keyedHash", strings.Repeat("A", 64))),
		erased(append(left("content", 0), left("content", 0)...)), set(agedErased, `"`+secret+`"`, "message", "parts", 0, "toolResult", "json"), set(agedShort, left("content", 0), "message", "parts", 0, "erased"),
		set(0, 0, "conversation", "head", "seen"), set(0, 12, "conversation", "head", "seenBefore"), set(0, -1, "conversation", "head", "seenBefore"),
		set(0, line{"inputs": 12}, "conversation", "head", "place"), set(0, line{"inputs": 1, "carrying": 2}, "conversation", "head", "place"), set(0, line{"carrying": -1}, "conversation", "head", "place"),
		set(0, line{"turns": -1}, "conversation", "policy", "expiration", "results"), set(0, line{"preserveOriginalContent": false}, "conversation", "policy", "expiration", "results"),
		set(0, -1, "conversation", "policy", "maxWaitNanos"), set(0, 60_000_000_001, "conversation", "policy", "maxWaitNanos"), set(0, line{"mode": secret}, "conversation", "policy", "rewrite"),
		set(0, line{"minGainTokens": -1}, "conversation", "policy", "rewrite"), set(0, line{"maxDeferralTurns": 1001}, "conversation", "policy", "rewrite"), set(0, line{"coldAfterNanos": -1}, "conversation", "policy", "rewrite"), set(0, line{"expectTurns": -1}, "conversation", "policy", "rewrite"), set(0, line{"coldCutPercent": 101}, "conversation", "policy", "rewrite"),
		set(0, line{"allInputs": secret}, "conversation", "policy", "retention"),
		shown("retention", line{"keepLast": 0}), shown("variant", "PART_VARIANT_PERSISTENT_ONLY"), shown("erased", left("content", 0)), shown("toolResult", nil),
		set(5, []any{6}, "edit", "mask"), set(5, []any{-1}, "edit", "mask"), set(5, line{"start": 0, "end": 2}, "edit", "range"), set(6, line{"start": 1, "end": 12}, "edit", "range"),
		set(0, 6, "manifest", "windowRestoredEdit"), set(1, -1, "manifest", "windowRestoredEdit"), swapped("edit", 5, "edit", 6),
	}
}

// TestImport_ForgedAge_IsRefusedAndLeavesNothing imports every forgery of what ages.
func TestImport_ForgedAge_IsRefusedAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	for _, f := range agedForgeries() {
		t.Run(f.what, func(t *testing.T) { w.refusesImport(t, joined(t, f.change(linesOf(t, w.before[agedExport])))) })
	}
	if strings.Contains(w.sidecar.Log(), secret) {
		t.Error("the log repeats what an import said")
	}
}
