package summaries

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

const (
	// marker is in a result that is erased in turn 100. It looks like what a summary must not lose.
	marker = "/srv/secret-9f3b7c21e4.key"
	// drafted is in what the model writes.
	drafted = "this-was-written-by-the-model"
)

// gated is a model that answers when it is let, with what it was asked about and words of its own.
type gated struct{ asked, let chan struct{} }

func newGated() *gated { return &gated{asked: make(chan struct{}, 100), let: make(chan struct{})} }

// Complete implements summarize.Model.
func (g *gated) Complete(ctx context.Context, c summarize.Call) (summarize.Answer, error) {
	g.asked <- struct{}{}
	select {
	case <-g.let:
	case <-ctx.Done():
		return summarize.Answer{}, ctx.Err()
	}
	said := drafted
	if strings.Contains(c.Prompt, marker) {
		said += ": " + marker
	}
	return summarize.Answer{Text: summed(said), InputTokens: 1, OutputTokens: 1}, nil
}

// fenced is a conversation on bolt for which a summary is being prepared.
type fenced struct {
	*world
	store store.Store
	path  string
	model *gated
	key   engine.Key
	steps int
	alone bool // nothing more is prepared
}

// lives of the results that the fence is tried with: the indices are those of what begins says.
const (
	compacted = 4 // is compacted in turn 3, so that it can be expanded
	erasedAt  = 6 // is erased in turn 100
	passes    = 8 // is compacted in turn 60
)

func living(id, output string, e conversation.Expiration) []conversation.Message {
	out := exchange(id, output)
	e.CompactMode, e.CompactLength = conversation.CompactFirstChars, new(int32(100))
	out[1].Parts[0].Result.Expiration = &e
	return out
}

func newFenced(t *testing.T) *fenced {
	t.Helper()
	f := &fenced{path: filepath.Join(t.TempDir(), "c.db"), model: newGated(), key: engine.Key{Namespace: "default", Conversation: "c"}}
	var err error
	if f.store, err = bolt.Open(f.path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	f.world = worldOf(f.store, f.model, func(o *engine.Options, _ *summarize.Options) {
		o.Defaults.Rewrite.Mode, o.Defaults.MaxWait = conversation.RewriteEager, new(time.Duration(0))
	})
	t.Cleanup(func() {
		f.close()
		_ = f.store.Close()
	})
	f.summarizing(t, f.key, 0)
	compact, remove := conversation.ExpirationCompact, conversation.ExpirationRemove
	f.say(t, f.key, living("a", strings.Repeat("long ago ", 60), conversation.Expiration{Turns: new(int32(1)), Mode: compact})...)
	f.say(t, f.key, living("b", "the key is "+marker, conversation.Expiration{Turns: new(int32(98)), Mode: remove, PreserveOriginal: new(bool)})...)
	f.say(t, f.key, living("c", strings.Repeat("some day ", 60), conversation.Expiration{Turns: new(int32(58)), Mode: compact})...)
	f.grow(t, func(got *engine.BuildResult) bool { return got.Compaction.State == engine.CompactionPreparing })
	<-f.model.asked
	return f
}

// grow appends and builds until a build is as it is looked for.
func (f *fenced) grow(t *testing.T, until func(*engine.BuildResult) bool) *engine.BuildResult {
	t.Helper()
	for range 60 {
		f.steps++
		f.say(t, f.key, grows(f.steps)...)
		if got := f.next(t, nil); until(got) {
			return got
		}
	}
	t.Fatal("it never comes to that")
	return nil
}

func (f *fenced) next(t *testing.T, change func(*engine.BuildRequest)) *engine.BuildResult {
	t.Helper()
	r := engine.BuildRequest{Key: f.key, Format: conversation.FormatAnthropic}
	if f.alone {
		r.PolicyOverride.Compaction.PreparePercent = new(int32(100))
	}
	if change != nil {
		change(&r)
	}
	got, err := f.Build(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// answered lets the model answer, and waits until what it wrote is kept, or thrown away.
func (f *fenced) answered(t *testing.T) {
	t.Helper()
	close(f.model.let)
	for range 1000 {
		snap, err := f.store.Read(t.Context(), f.key, store.Query{SlotsOf: "build/draft"})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(snap.Slots["build/draft"], []byte("preparing")) {
			time.Sleep(20 * time.Millisecond) // for a goroutine that finds its lease gone
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the draft is never done")
}

// summaries are who wrote the summaries on record; empty for an extract.
func (f *fenced) summaries(t *testing.T) (models []string, all string) {
	t.Helper()
	var b strings.Builder
	err := f.Export(t.Context(), f.key, func(r engine.Record) error {
		if r.Edit != nil && r.Edit.Summary != nil {
			models = append(models, r.Edit.Summary.Model)
			b.WriteString(r.Edit.Summary.Text.Inline + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return models, b.String()
}

// events after which what was prepared must not be published, and such that change nothing that it says.
var fences = map[string]struct {
	kills bool
	do    func(t *testing.T, f *fenced)
}{
	"an erasure": {true, func(t *testing.T, f *fenced) {
		f.next(t, func(r *engine.BuildRequest) { r.Turn = new(int32(110)) })
		if m, err := f.Message(t.Context(), f.key, erasedAt); err != nil || !conversation.Erased(m.Message.Parts) {
			t.Fatalf("nothing was erased: %v", err)
		}
	}},
	"a rewind": {true, func(t *testing.T, f *fenced) {
		if _, err := f.Rewind(t.Context(), engine.RewindRequest{Key: f.key, From: passes + 1}); err != nil {
			t.Fatal(err)
		}
	}},
	"an expansion": {true, func(t *testing.T, f *fenced) {
		if _, err := f.Expand(t.Context(), engine.ExpandRequest{Key: f.key, Index: new(int32(compacted))}); err != nil {
			t.Fatal(err)
		}
	}},
	"another process's summary": {true, func(t *testing.T, f *fenced) {
		other := worldOf(f.store, nil, func(_ *engine.Options, d *summarize.Options) { d.Models = nil })
		defer other.close()
		if _, err := other.Compact(t.Context(), engine.CompactRequest{Key: f.key, KeepRecent: new(int32(4))}); err != nil {
			t.Fatal(err)
		}
	}},
	"an expiry": {false, func(t *testing.T, f *fenced) {
		if got := f.next(t, func(r *engine.BuildRequest) { r.Turn = new(int32(70)) }); events(got, conversation.EventCompacted) == 0 {
			t.Fatal("nothing expired")
		}
	}},
	"pruning": {false, func(t *testing.T, f *fenced) {
		got := f.next(t, func(r *engine.BuildRequest) {
			r.PolicyOverride.Pruning = conversation.PruningPolicy{Off: new(bool), ProtectTokens: new(int32(1500)), MinimumTokens: new(int32(1))}
		})
		if events(got, conversation.EventPruned) == 0 {
			t.Fatal("nothing was pruned")
		}
	}},
	"nothing": {false, func(*testing.T, *fenced) {}},
}

// TestDraft_WhatChangesItsRange_KillsIt, before the model has answered and after (behaviour §8).
func TestDraft_WhatChangesItsRange_KillsIt(t *testing.T) {
	for name, fence := range fences {
		for _, ready := range []bool{false, true} {
			if ready && name == "another process's summary" {
				continue // it is the draft that is published then
			}
			t.Run(name+map[bool]string{false: " while it is prepared", true: " once it is there"}[ready], func(t *testing.T) {
				t.Parallel()
				f := newFenced(t)
				if ready {
					f.answered(t)
					fence.do(t, f)
				} else {
					fence.do(t, f)
					f.answered(t)
				}
				f.published(t, fence.kills)
			})
		}
	}
}

// published looks at the next summary: the draft, unless it is dead.
func (f *fenced) published(t *testing.T, dead bool) {
	t.Helper()
	before, _ := f.summaries(t)
	f.alone = true
	f.grow(t, func(got *engine.BuildResult) bool {
		if dead && strings.Contains(string(got.MessagesJSON), drafted) {
			t.Error("a dead draft is in view")
		}
		return events(got, conversation.EventSummarized) > 0
	})
	models, all := f.summaries(t)
	if by := models[len(before)]; (by == "") != dead {
		t.Errorf("the next summary is by %q", by)
	}
	if strings.Contains(all, drafted) == dead {
		t.Errorf("what was drafted is in a summary: %t", !dead)
	}
}

// TestDraft_OfWhatIsErased_LeavesNothing: erased text is in no slot, no draft, no later summary, no free page of the file.
func TestDraft_OfWhatIsErased_LeavesNothing(t *testing.T) {
	for name, ready := range map[string]bool{"while it is prepared": false, "once it is there": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFenced(t)
			if ready {
				f.answered(t)
			}
			if n := f.found(t, marker); n == 0 {
				t.Fatal("it cannot be found where it is: nothing is tested")
			}
			fences["an erasure"].do(t, f)
			if !ready {
				f.answered(t)
			}
			f.published(t, true)
			for range 200 { // the file is written over in the background
				if f.found(t, marker) == 0 {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("it is %d times in the file", f.found(t, marker))
		})
	}
}

// found counts a text in the store's file, in what is compressed there too.
func (f *fenced) found(t *testing.T, text string) int {
	t.Helper()
	file, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	n := bytes.Count(file, []byte(text))
	reader, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for at := bytes.Index(file, frame); at >= 0; {
		plain, _ := reader.DecodeAll(file[at:min(at+1<<20, len(file))], nil) // what follows the frame is no frame
		n += bytes.Count(plain, []byte(text))
		next := bytes.Index(file[at+1:], frame)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return n
}

// TestSummary_OfWhatIsErasedLater_StaysAndIsMarked (behaviour §2).
func TestSummary_OfWhatIsErasedLater_StaysAndIsMarked(t *testing.T) {
	f := newFenced(t)
	f.answered(t)
	f.published(t, false)
	marked := func() (n, all int) {
		got, err := f.Messages(t.Context(), engine.MessagesRequest{
			Key: f.key, Range: conversation.Range{End: -1}, Current: true, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Summaries {
			if s.Erased {
				n++
			}
		}
		return n, len(got.Summaries)
	}
	if n, all := marked(); n != 0 || all != 1 {
		t.Fatalf("%d of %d summaries are marked", n, all)
	}
	fences["an erasure"].do(t, f)
	if n, all := marked(); n != 1 || all != 1 {
		t.Errorf("%d of %d summaries are marked", n, all)
	}
	if models, _ := f.summaries(t); len(models) != 1 || models[0] == "" {
		t.Errorf("the summaries are by %q", models)
	}
}
