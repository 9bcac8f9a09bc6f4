package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

func toolPolicy(name string, length int32) conversation.ActionPolicy {
	return conversation.ActionPolicy{Key: conversation.ActionKey{ToolName: name}, Expiration: *compacted(2, length), DefaultPromptID: "default"}
}

func (b *bench) putPolicy(t testing.TB, p conversation.ActionPolicy) {
	t.Helper()
	if err := b.PutActionPolicy(ctx, "default", p, engine.Request{}); err != nil {
		t.Fatal(err)
	}
}

// TestEngine_ActionPolicies_PutGetListDelete: on every store, policies come back complete.
func TestEngine_ActionPolicies_PutGetListDelete(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := lifeBench(s, nil)
		keys := []conversation.ActionKey{{ToolName: "b"}, {ActionID: "z"}, {AgentActionID: "m"}, {ToolName: "a/b c"}, {ActionID: "a"}, {AgentActionID: "ü"}}
		_, err := b.ActionPolicy(ctx, "default", keys[0])
		expect(t, err, conversation.ActionPolicyNotFound)
		expect(t, b.DeleteActionPolicy(ctx, "default", keys[0], engine.Request{}), conversation.ActionPolicyNotFound)
		for i, key := range keys {
			if _, err := b.PutPrompt(ctx, "default", conversation.Prompt{ID: fmt.Sprint("p", i), Template: "{{content}}"}, engine.Request{}); err != nil {
				t.Fatal(err)
			}
			b.putPolicy(t, conversation.ActionPolicy{Key: key, Expiration: *erasing(summarized(int32(i), 100)), DefaultPromptID: fmt.Sprint("p", i)})
		}
		got, err := b.ActionPolicy(ctx, "default", keys[3])
		if err != nil || got.Key != keys[3] || *got.Expiration.Turns != 3 || !got.Expiration.Erases() || got.Expiration.CompactMode != conversation.CompactSummary || got.DefaultPromptID != "p3" {
			t.Errorf("%+v, %v", got, err)
		}
		want := []conversation.ActionKey{keys[4], keys[1], keys[2], keys[5], keys[3], keys[0]}
		for limit := 1; limit <= 7; limit++ {
			var list []conversation.ActionKey
			for after := ""; ; {
				page, next, err := b.ActionPolicies(ctx, "default", after, limit)
				if err != nil || len(page) > limit {
					t.Fatalf("%+v, %v", page, err)
				}
				for _, p := range page {
					list = append(list, p.Key)
				}
				if next == "" {
					break
				}
				after = next
			}
			if !slices.Equal(list, want) {
				t.Errorf("by %d: %+v", limit, list)
			}
		}
		if list, _, err := b.ActionPolicies(ctx, "other", "", 10); err != nil || len(list) != 0 {
			t.Errorf("another namespace has %+v, %v", list, err)
		}
		b.putPolicy(t, toolPolicy("b", 9))
		if got, err := b.ActionPolicy(ctx, "default", keys[0]); err != nil || *got.Expiration.CompactLength != 9 || got.Expiration.Erases() {
			t.Errorf("replaced: %+v, %v", got, err)
		}
		if err := b.DeleteActionPolicy(ctx, "default", keys[0], engine.Request{}); err != nil {
			t.Fatal(err)
		}
		_, err = b.ActionPolicy(ctx, "default", keys[0])
		expect(t, err, conversation.ActionPolicyNotFound)
	})
}

// TestEngine_Prompts_Versions: a prompt's version counts its changes, and starts again after a deletion.
func TestEngine_Prompts_Versions(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		service := summarize.New(summarize.Options{Providers: map[string]summarize.Model{"m": writes(gist, 0)}})
		defer service.Close()
		b := lifeBench(s, func(o *engine.Options) { o.Summaries = service })
		put := func(id, template string, r engine.Request) *conversation.Prompt {
			t.Helper()
			p, err := b.PutPrompt(ctx, "default", conversation.Prompt{ID: id, Template: template, Models: []string{"m/x"}, MaxOutput: 9}, r)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		for version := int32(1); version <= 3; version++ {
			if p := put("a", fmt.Sprint("v", version), engine.Request{}); p.Version != version || p.Template != fmt.Sprint("v", version) {
				t.Errorf("%+v", p)
			}
		}
		p, err := b.Prompt(ctx, "default", "a")
		if err != nil || p.Version != 3 || p.Template != "v3" || !slices.Equal(p.Models, []string{"m/x"}) || p.MaxOutput != 9 {
			t.Errorf("%+v, %v", p, err)
		}
		once := request("PutPrompt", "r", "x")
		if p := put("a", "v4", once); p.Version != 4 {
			t.Errorf("%+v", p)
		}
		if p := put("a", "v4", once); p.Version != 4 { // the first outcome
			t.Errorf("repeated: %+v", p)
		}
		_, err = b.PutPrompt(ctx, "default", conversation.Prompt{ID: "a"}, request("PutPrompt", "r", "y"))
		expect(t, err, conversation.RequestIDReused)
		put("b", "x", engine.Request{})
		put("A", "x", engine.Request{})
		list, next, err := b.Prompts(ctx, "default", "", 2)
		if err != nil || len(list) != 2 || list[0].ID != "A" || list[1].ID != "a" || next == "" {
			t.Errorf("%+v, %q, %v", list, next, err)
		}
		list, next, err = b.Prompts(ctx, "default", next, 2)
		if err != nil || len(list) != 1 || list[0].ID != "b" || next != "" {
			t.Errorf("%+v, %q, %v", list, next, err)
		}
		gone := request("DeletePrompt", "d", "x")
		for range 2 { // a repeated deletion is answered as the first
			if err := b.DeletePrompt(ctx, "default", "a", gone); err != nil {
				t.Error(err)
			}
		}
		expect(t, b.DeletePrompt(ctx, "default", "a", engine.Request{}), conversation.PromptNotFound)
		_, err = b.Prompt(ctx, "default", "a")
		expect(t, err, conversation.PromptNotFound)
		if p := put("a", "anew", engine.Request{}); p.Version != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// TestEngine_Catalogue_Limits: at most 1,000 entries of each kind, each at most 64 KiB; replacing one is no new one.
func TestEngine_Catalogue_Limits(t *testing.T) {
	b := newEager()
	for i := range 1000 {
		b.putPolicy(t, toolPolicy(fmt.Sprint("t", i), 1))
	}
	expect(t, b.PutActionPolicy(ctx, "default", toolPolicy("one more", 1), engine.Request{}), conversation.LimitExceeded)
	b.putPolicy(t, toolPolicy("t7", 2))
	if _, err := b.PutPrompt(ctx, "default", conversation.Prompt{ID: "p", Template: "x"}, engine.Request{}); err != nil {
		t.Errorf("another kind: %v", err)
	}
	if err := b.DeleteActionPolicy(ctx, "default", conversation.ActionKey{ToolName: "t0"}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	b.putPolicy(t, toolPolicy("one more", 1))
	_, err := b.PutPrompt(ctx, "default", conversation.Prompt{ID: "p", Template: strings.Repeat("x", store.MaxSlot)}, engine.Request{})
	expect(t, err, conversation.LimitExceeded)
	if p, err := b.Prompt(ctx, "default", "p"); err != nil || p.Version != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestEngine_Catalogue_TwoEngines: an engine sees the changes of another one within a second, and its own at once.
func TestEngine_Catalogue_TwoEngines(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := lifeBench(s, nil)
		other := lifeBench(s, nil)
		other.ids.Store(1 << 32)
		length := func(b *bench) int32 {
			t.Helper()
			p, err := b.ActionPolicy(ctx, "default", conversation.ActionKey{ToolName: "t"})
			if conversation.KindOf(err) == conversation.ActionPolicyNotFound {
				return 0
			}
			if err != nil {
				t.Fatal(err)
			}
			return *p.Expiration.CompactLength
		}
		for n := int32(1); n <= 3; n++ {
			before := length(other)
			b.putPolicy(t, toolPolicy("t", n))
			if length(b) != n {
				t.Errorf("own change %d is not seen", n)
			}
			if got := length(other); got != n && got != before {
				t.Errorf("between: %d", got)
			}
			other.now = other.now.Add(time.Second)
			if got := length(other); got != n {
				t.Errorf("a second later: %d, want %d", got, n)
			}
		}
		if err := other.DeleteActionPolicy(ctx, "default", conversation.ActionKey{ToolName: "t"}, engine.Request{}); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(time.Second)
		if length(b) != 0 || length(other) != 0 {
			t.Error("a deletion is not seen")
		}
	})
}

// TestEngine_Catalogue_ConcurrentChanges: two engines change one namespace at once; nothing is lost, and no version is given twice.
func TestEngine_Catalogue_ConcurrentChanges(t *testing.T) {
	b := newEager()
	other := lifeBench(b.store, nil)
	other.ids.Store(1 << 32)
	var all sync.WaitGroup
	versions := make(chan int32, 40)
	for i := range 40 {
		all.Go(func() {
			e := []*bench{b, other}[i%2]
			p := retry(t, func() (*conversation.Prompt, error) {
				return e.PutPrompt(ctx, "default", conversation.Prompt{ID: "shared", Template: "x"}, engine.Request{})
			})
			versions <- p.Version
			_ = retry(t, func() (any, error) {
				return nil, e.PutActionPolicy(ctx, "default", toolPolicy(fmt.Sprint("t", i), int32(i+1)), engine.Request{})
			})
			if _, _, err := e.ActionPolicies(ctx, "default", "", 100); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(versions)
	var got []int32
	for v := range versions {
		got = append(got, v)
	}
	slices.Sort(got)
	for i, v := range got {
		if v != int32(i+1) {
			t.Fatalf("versions %v", got)
		}
	}
	for _, e := range []*bench{b, other} {
		e.now = e.now.Add(time.Second)
		list, _, err := e.ActionPolicies(ctx, "default", "", 100)
		if err != nil || len(list) != 40 {
			t.Errorf("%d policies, %v", len(list), err)
		}
	}
}
