package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// megabyte is a list of about 1 MB: an agent's calls and results, of a few KB each.
func megabyte(tb testing.TB, f conversation.Format) []string {
	tb.Helper()
	list := native(tb, f, user("begin"))
	for i := 0; i < 200; i++ {
		id := fmt.Sprint("id", i)
		list = append(list, native(tb, f, call(id))...)
		list = append(list, native(tb, f, result(id, strings.Repeat(fmt.Sprintf(`{"line": %d, "said": "some words of a result"}`, i), 104)))...)
	}
	return list
}

// historyCosts returns the time of the fastest of several builds without a list, with a whole list, and with the tail of a list whose
// prefix is known. The latter two are by place or not.
func historyCosts(t *testing.T, f conversation.Format, byPlace bool) (alone, whole, tail time.Duration) {
	t.Helper()
	b := listBench(nil)
	defer b.Close()
	list := megabyte(t, f)
	request := func() engine.BuildRequest {
		return engine.BuildRequest{Key: keyOf("c"), Format: f, Budget: budgetOf(1_000_000)}
	}
	step := func(list []string, known *engine.HistoryResult, altered bool) (*engine.HistoryResult, time.Duration) {
		began := time.Now()
		h := b.historyOf(t, f, list, int(known.KnownCount), known.KnownSHA256)
		h.ByPlace = byPlace
		if altered { // so that the server does not know the list
			h.Input.Elements = slices.Clone(h.Input.Elements)
			h.Input.Elements[0] += fmt.Sprint(time.Now().UnixNano())
		}
		r, err := b.Step(ctx, engine.StepRequest{Build: request(), Append: engine.AppendRequest{History: h}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Appended.History, time.Since(began)
	}
	none := &engine.HistoryResult{}
	known, _ := step(list, none, false)
	alone, whole, tail = time.Hour, time.Hour, time.Hour
	for range 15 {
		began := time.Now()
		if _, err := b.Build(ctx, request()); err != nil {
			t.Fatal(err)
		}
		alone = min(alone, time.Since(began))
		_, took := step(list, none, true)
		whole = min(whole, took)
		_, took = step(list, known, false)
		tail = min(tail, took)
	}
	return alone, whole, tail
}

func TestEngine_History_OfOneMegabyte_CostsLittle(t *testing.T) {
	testlane.Speed(t)
	for _, f := range listFormats {
		for _, byPlace := range []bool{false, true} {
			alone, whole, tail := historyCosts(t, f, byPlace)
			t.Logf("format %d, by place %t: a build %v, with a list of 1 MB %v, with its tail %v", f, byPlace, alone, whole, tail)
			if whole > alone+20*time.Millisecond || tail > alone+2*time.Millisecond {
				t.Errorf("format %d, by place %t: a build takes %v, with a list %v, with its tail %v", f, byPlace, alone, whole, tail)
			}
		}
	}
}
