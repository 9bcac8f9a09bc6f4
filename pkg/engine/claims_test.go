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

// TestEngine_Build_RestoredOpening_IsNotCut: a compaction leaves an opening whole that was brought back, and the view after it stands.
func TestEngine_Build_RestoredOpening_IsNotCut(t *testing.T) {
	b := newBench(0)
	summarise := conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize}}
	ask := func() conversation.Window {
		r := buildRequest("c", conversation.FormatOpenAIChat, 4000)
		r.PolicyOverride = summarise
		got, err := b.Build(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return got.Manifest.Window
	}
	b.append(t, "c", user(words(1800)), answer(words(1000)), user("go on"), answer(words(1600)))
	if win := ask(); len(win.Cuts) == 0 {
		t.Fatalf("nothing is cut: %+v", win)
	}
	b.expanded(t, 0)
	if win := ask(); len(win.Cuts) > 0 {
		t.Fatalf("it was brought back, and is cut: %+v", win)
	}
	b.append(t, "c", user("and then"), answer(words(1200)))
	win := ask()
	if _, cut := win.CutOf(0, 0); cut {
		t.Errorf("it was brought back, and is cut: %+v", win)
	}
	b.append(t, "c", user("and now"))
	if next := ask(); next.Start != win.Start {
		t.Errorf("the start moves from %d to %d, and nothing is in need of it", win.Start, next.Start)
	}
}
