package plan_test

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// grows are the fields of view.Loaded that passes may fill: units as they were written, what was read, and what is missing.
var grows = []string{"unitCaches", "lines", "Extras"}

// deep hashes all that a value leads to, behind pointers and in unexported fields too.
func deep(values ...any) string {
	h, seen := sha256.New(), map[uintptr]bool{}
	for _, v := range values {
		walk(h, reflect.ValueOf(v), seen)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func walk(h hash.Hash, v reflect.Value, seen map[uintptr]bool) {
	fmt.Fprint(h, v.Kind(), ";")
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			walk(h, v.Elem(), seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			walk(h, v.Elem(), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[view.Loaded]() || !slices.Contains(grows, v.Type().Field(i).Name) {
				walk(h, v.Field(i), seen)
			}
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(h, v.Len(), ";")
		for i := range v.Len() {
			walk(h, v.Index(i), seen)
		}
	case reflect.Map:
		var entries []string
		for _, key := range v.MapKeys() {
			of := sha256.New()
			walk(of, key, seen)
			walk(of, v.MapIndex(key), seen)
			entries = append(entries, string(of.Sum(nil)))
		}
		slices.Sort(entries)
		fmt.Fprint(h, strings.Join(entries, ""))
	case reflect.Func, reflect.Chan, reflect.Invalid:
	default:
		fmt.Fprint(h, v, ";")
	}
}

// TestPlan_Passes_WriteNothingThatTheyAreGiven: no pass writes through a pointer into the draft or into what the build is given.
func TestPlan_Passes_WriteNothingThatTheyAreGiven(t *testing.T) {
	t.Parallel()
	turns, length := int32(1), int32(100)
	life := &conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactFirstChars, CompactLength: &length}
	on, off := true, false
	erase := &conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationRemove, PreserveOriginal: &off}
	for name, s := range map[string]*scene{
		"all fits":        {messages: full(), window: 200_000},
		"full, no model":  {messages: full(), window: 2000},
		"full, slid":      {messages: full(), window: 2000, policy: conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow}}},
		"no room at all":  {messages: full(), window: 260},
		"a large result":  {messages: []conversation.Message{asked("Read."), called("a"), returned("a", words(900), nil)}, window: 2000},
		"expired results": {messages: []conversation.Message{asked("Read."), called("a"), returned("a", words(200), life), answered("Done."), asked("And then?")}, window: 4000, turn: 3, seen: 4},
		"erased results":  {messages: []conversation.Message{asked("Read."), called("a"), returned("a", words(200), erase), answered("Done."), asked("And then?")}, window: 4000, turn: 3, seen: 4},
		"copies": {messages: []conversation.Message{asked("Read."), called("a"), returned("a", lines(40), nil), called("b"), returned("b", lines(40), nil)}, window: 40_000,
			policy: conversation.Policy{Deduplication: conversation.DeduplicationPolicy{On: &on}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := 0
			for range 2 { // the second time with the summary that the first one wants
				g := s.given(t)
				_, err := plan.Follow(g, func(pass string, d *plan.Decided, run func() error) error {
					draft, edits := d.Draft, len(d.Edits)
					before := deep(g, draft)
					err := run()
					if after := deep(g, draft); after != before {
						t.Errorf("%s has written what it was given", pass)
					}
					if len(d.Edits) > edits || d.Composed != draft.Composed {
						changed++
					}
					return err
				})
				if w := pass.Wanted(err); w != nil && w.Spans != nil {
					s.wait = pass.Allowance{Left: time.Second, Draft: w.Spans.Job.Extract(extracts())}
				}
			}
			if changed == 0 {
				t.Error("no pass has done anything")
			}
		})
	}
}
