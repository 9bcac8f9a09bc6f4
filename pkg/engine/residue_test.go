package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func withResidue(m conversation.Message, provider, json string) conversation.Message {
	m.Parts[0].Residue = &conversation.Residue{Provider: provider, JSON: json}
	return m
}

// TestEngine_Build_Residue_ForItsProviderAlone: it weighs where it is merged back, and leaves with a decision and its weight elsewhere; of
// words that were corrected it says nothing any more.
func TestEngine_Build_Residue_ForItsProviderAlone(t *testing.T) {
	t.Parallel()
	const refused = `{"type":"refusal"}`
	b := newEager()
	b.append(t, "c", user("go"), withResidue(answer("no"), "openai", refused), withResidue(answer("so"), "anthropic", refused), user("on"))
	built := b.asked(t, "c", 10_000, func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat })
	if out := string(built.MessagesJSON); !strings.Contains(out, `"refusal":"no"`) || !strings.Contains(out, `"content":"so"`) {
		t.Error(out)
	}
	at := slices.IndexFunc(built.Decisions, func(d conversation.Decision) bool { return d.Reason == conversation.ReasonResidueDropped })
	if at < 0 || built.Decisions[at].First != 2 || built.Decisions[at].After >= built.Decisions[at].Before {
		t.Errorf("%+v", built.Decisions)
	}
	b.correct(t, "c", 1, 0, "well")
	built = b.asked(t, "c", 10_000, func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat })
	if out := string(built.MessagesJSON); strings.Contains(out, "refusal") || !strings.Contains(out, "well") {
		t.Errorf("corrected: %s", out)
	}
}

// TestEngine_Build_Residue_IsErased: what was said beside a result goes with it, from the record and from the count of bytes.
func TestEngine_Build_Residue_IsErased(t *testing.T) {
	t.Parallel()
	b, original := newEager(), hiding(4000)
	b.append(t, "c", user("go"), call("k"), withResidue(resultLiving("k", original, erasing(removed(1))), "anthropic", `{"toolset_name":"`+secret+`"}`))
	before := b.head(t, "c").Bytes
	b.turn(t, "c")
	b.append(t, "c", user("more"))
	b.turn(t, "c")
	b.wantErased(t, "c", 2, 0, original)
	if got, want := b.head(t, "c").Bytes, before-int64(len(original)+len(`{"toolset_name":"`+secret+`"}`))+int64(len("more")); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
