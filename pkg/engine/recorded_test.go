package engine_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// unpacked is a recorded file as it was.
func unpacked(t *testing.T, recorded string) string {
	t.Helper()
	packed, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	path := filepath.Join(t.TempDir(), "palimpsest.db")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, z)
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEngine_RecordedFile_BuildsTheSameBytes: json-slots.db.gz was written when slots and the catalogue were JSON, by conversations
// with every kind of state. The file next to it records what the code built then. Neither is ever written again.
func TestEngine_RecordedFile_BuildsTheSameBytes(t *testing.T) {
	s, err := bolt.Open(unpacked(t, "testdata/json-slots.db.gz"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := lifeBench(s, func(o *engine.Options) { // without a model, so that nothing depends on when it answers
		o.Defaults.Compaction.Strategy = conversation.StrategySummarize
		o.Defaults.Pruning = conversation.PruningPolicy{Off: ptr(false), ProtectTokens: ptr(int32(100)), MinimumTokens: ptr(int32(0)), EraseAfter: ptr(time.Hour)}
	})
	b.ids.Store(9 << 32)
	defer b.Close()
	var said strings.Builder
	note := func(id, what string, v any) {
		told, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&said, "%s %s %x\n", id, what, sha256.Sum256(told))
	}
	b.wantCatalogue(t)
	for _, id := range []string{"long", "erased", "pruned", "cited", "due"} {
		b.tellRecorded(t, id, note)
	}
	b.now = b.now.Add(2 * time.Hour)
	b.sweep(t)
	for _, id := range []string{"erased", "pruned", "cited", "due"} {
		b.tellRecorded(t, id, note)
	}
	const noted = "testdata/json-slots.txt"
	want, err := os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	if got := said.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func (b *bench) wantCatalogue(t *testing.T) {
	t.Helper()
	profiles, _, err1 := b.ModelProfiles(ctx, "default", "", 10)
	policies, _, err2 := b.ActionPolicies(ctx, "default", "", 10)
	prompts, _, err3 := b.Prompts(ctx, "default", "", 10)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	removed := conversation.Expiration{Turns: ptr(int32(3)), Mode: conversation.ExpirationRemove, PreserveOriginal: ptr(false)}
	want := []any{
		[]conversation.ModelProfile{{
			Model: "m", ContextWindowTokens: ptr(int32(9000)), ReservedOutputTokens: ptr(int32(500)), Factor: ptr(1.25), InputPrice: ptr(3.0), CacheReadPrice: ptr(0.3),
		}},
		[]conversation.ActionPolicy{
			{Key: conversation.ActionKey{AgentActionID: "a"}, Expiration: removed},
			{Key: conversation.ActionKey{ToolName: "search"}, Expiration: *compacted(2, 40), DefaultPromptID: "brief"},
		},
		[]conversation.Prompt{{ID: "brief", Version: 2, Template: "Say <b>very briefly</b>: {{content}}", Models: []string{"m/x"}, MaxOutput: 400}},
	}
	if diff := cmp.Diff(want, []any{profiles, policies, prompts}); diff != "" {
		t.Error(diff)
	}
}

// tellRecorded notes what a conversation builds, as it was and as it goes on.
func (b *bench) tellRecorded(t *testing.T, id string, note func(id, what string, v any)) {
	t.Helper()
	manifests, _, err := b.Manifests(ctx, keyOf(id), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		r, err := b.Manifest(ctx, keyOf(id), m.Seq, conversation.FormatUnspecified)
		if err == nil { // one that showed what was erased since builds no more
			note(id, fmt.Sprint("manifest ", m.Seq), r.SHA256)
		}
	}
	for _, src := range b.listed(t, id) {
		whole, kind := b.whole(id, src.ContentID)
		note(id, "content "+src.ContentID, []any{whole, kind})
	}
	for i, budget := range []int32{1500, 4000, 1200, 3000} {
		b.append(t, id, answer(words(500)), user(fmt.Sprint("and ", i)))
		r := b.asked(t, id, budget, func(r *engine.BuildRequest) {
			r.Model, r.Format = "m", conversation.FormatOpenAIChat
		})
		if id == "long" && i == 1 && !strings.Contains(string(r.MessagesJSON), gist) {
			t.Error("the draft that was ready is not published")
		}
		note(id, fmt.Sprint("build of ", budget), []any{string(r.MessagesJSON), r.SHA256, r.Tokens.Total})
		if _, _, err := b.ReportUsage(ctx, keyOf(id), r.Manifest.Seq, "", engine.Usage{Input: int32(r.Tokens.Total) + 20, Output: 5}); err != nil {
			t.Fatal(err)
		}
	}
}
