package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestEngine_Build_CutRequest_OpenerAdded: what a provider wants first takes its room from the request, and does not drive it out.
func TestEngine_Build_CutRequest_OpenerAdded(t *testing.T) {
	for budget := int32(200_000); budget < 200_008; budget++ {
		b := newBench(0)
		b.append(t, "c", pinned(answer("I am ready.")), user(words(300_000)), answer(words(120_000)))
		r := b.build(t, "c", conversation.FormatAnthropic, budget)
		if cut, ok := r.Manifest.Window.CutOf(1, 0); !ok || cut.Leaves() {
			t.Fatalf("in %d tokens the request is shown as %+v, %t; the context weighs %d", budget, cut, ok, r.Tokens.Total)
		}
	}
}
