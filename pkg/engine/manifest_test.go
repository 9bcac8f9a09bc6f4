package engine_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

var allFormats = []conversation.Format{conversation.FormatNeutral, conversation.FormatOpenAIChat, conversation.FormatOpenAIResponses,
	conversation.FormatAnthropic, conversation.FormatGemini}

// TestEngine_Manifest_RebuildsAfterMore: the bytes of an earlier build can be rebuilt after appends, edits and moves of the
// window, with the same SHA-256 (behaviour §13). In another format, they are what a build in that format would have been.
func TestEngine_Manifest_RebuildsAfterMore(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		b.append(t, "c", text(conversation.RoleSystem, "s"), user("go"))
		var built []*engine.BuildResult
		for step := range 25 {
			id := fmt.Sprint("k", step)
			b.append(t, "c", call(id), result(id, words(40+step*10)))
			if step%5 == 4 {
				b.append(t, "c", pinned(user(fmt.Sprint("pin ", step))), text(conversation.RoleSystem, "later"))
			}
			f := allFormats[step%len(allFormats)]
			built = append(built, b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format = f }))
			if step == 12 {
				last := b.head(t, "c").Messages
				b.edit(t, "c", hide(last-4, last-2))
			}
		}
		for _, want := range built {
			got, err := b.Manifest(ctx, keyOf("c"), want.Manifest.Seq, conversation.FormatUnspecified)
			if err != nil {
				t.Fatalf("manifest %d: %v", want.Manifest.Seq, err)
			}
			if got.SHA256 != want.SHA256 || !bytes.Equal(got.MessagesJSON, want.MessagesJSON) || !bytes.Equal(got.System, want.System) ||
				got.Blocks != want.Blocks || fmt.Sprint(got.Breakpoints) != fmt.Sprint(want.Breakpoints) || len(got.Messages) != len(want.Messages) {
				t.Errorf("manifest %d in its own format differs", want.Manifest.Seq)
			}
		}
		last := built[len(built)-1].Manifest.Seq
		for _, f := range allFormats {
			got, err := b.Manifest(ctx, keyOf("c"), last, f)
			want := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format, r.DryRun = f, true })
			if err != nil || got.SHA256 != want.SHA256 {
				t.Errorf("format %d: %v", f, err)
			}
		}
	})
}

func TestEngine_Manifest_Coordinates(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, "s"), pinned(user("p")), call("a"), result("a", words(500)))
	r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Model, r.Fixed.SystemPrompt = "m", "be brief" })
	m := r.Manifest
	if m.Seq != 1 || m.Turn != 1 || m.Model != "m" || m.MessageCount != 4 || m.EditSeq != 1 || m.LeadingSystem != 1 || len(m.Pins) != 1 ||
		m.Budget != 1000 || m.Counter != "o200k" || m.Factor != 1 || len(m.PolicyHash) != 16 || m.SHA256 != r.SHA256 ||
		!m.Time.Equal(b.now) || m.Revision != r.Revision || m.Blocks != r.Blocks || m.Tokens != r.Tokens.Messages || m.FixedTokens != 6 {
		t.Errorf("%+v", m)
	}
	other := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.PolicyOverride.Fit.TargetPercent = ptr(int32(60)) })
	if other.Manifest.PolicyHash == m.PolicyHash {
		t.Error("the policy's hash does not tell policies apart")
	}
}

func TestEngine_Manifests_NewestFirstByPage(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("u"))
	for range 5 {
		b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	}
	var seen []int64
	before, more := int64(0), true
	for more {
		var page []conversation.Manifest
		var err error
		if page, more, err = b.Manifests(ctx, keyOf("c"), before, 2); err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			seen = append(seen, m.Seq)
			before = m.Seq
		}
	}
	if fmt.Sprint(seen) != "[5 4 3 2 1]" {
		t.Errorf("%v", seen)
	}
	for _, seq := range []int64{0, -1, 6, 1 << 60} {
		_, err := b.Manifest(ctx, keyOf("c"), seq, conversation.FormatUnspecified)
		expect(t, err, conversation.ManifestNotFound)
	}
}

// TestEngine_Manifests_AThousandAreKept: at least the last 1,000, and not many more (behaviour §13).
func TestEngine_Manifests_AThousandAreKept(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("u"))
	const builds = 1150
	for range builds {
		b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	}
	list, more, err := b.Manifests(ctx, keyOf("c"), 0, 5000)
	if err != nil || more || len(list) < 1000 || len(list) > 1064 || list[0].Seq != builds {
		t.Errorf("%d are kept, more %v, %v", len(list), more, err)
	}
	if _, err := b.Manifest(ctx, keyOf("c"), builds-999, conversation.FormatUnspecified); err != nil {
		t.Errorf("the thousandth: %v", err)
	}
	_, err = b.Manifest(ctx, keyOf("c"), 1, conversation.FormatUnspecified)
	expect(t, err, conversation.ManifestNotFound)
}
