package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// important gives the results of a message an importance.
func important(i conversation.Importance, m conversation.Message) conversation.Message {
	for p := range m.Parts {
		if m.Parts[p].Result != nil {
			m.Parts[p].Result.Importance = i
		}
	}
	return m
}

// TestEngine_Build_HighStandsBesideSummaries: a unit of high importance stays in full through several summaries, and none of them tells of
// it. Everything else about the conversation is reported as usual.
func TestEngine_Build_HighStandsBesideSummaries(t *testing.T) {
	for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
		b := summarizes(strategy)
		b.append(t, "c", user("Read the parts."))
		b.worked(t, "c", 0, 5, 100, 8000)
		kept := b.append(t, "c", call("high"), important(conversation.ImportanceHigh, result("high", "the key is in /srv/vault/key.pem "+words(200)))).Messages[0].Index
		made := 0
		for i, r := range b.worked(t, "c", 5, 250, 100, 8000) {
			made += len(summarizedIn(r))
			if s, ok := message(r, kept+1); !ok || !strings.Contains(s, "/srv/vault/key.pem") {
				t.Fatalf("strategy %d, build %d: the result is shown as %.80q", strategy, i, s)
			}
			for _, m := range r.Messages {
				if m.Summary > 0 && strings.Contains(m.Parts[0].Text.Inline, "vault") {
					t.Fatalf("strategy %d, build %d: a summary tells of it: %s", strategy, i, m.Parts[0].Text.Inline)
				}
			}
			if r.Tokens.Total > 8000 {
				t.Fatalf("strategy %d, build %d: %d tokens", strategy, i, r.Tokens.Total)
			}
		}
		if made < 3 {
			t.Errorf("strategy %d: %d summaries", strategy, made)
		}
		for _, m := range []int32{kept, kept + 1} {
			if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: &m, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 }}); conversation.KindOf(err) != conversation.NotEdited {
				t.Errorf("strategy %d: expanding message %d, which is in view: %v", strategy, m, err)
			}
		}
		list, err := b.Messages(ctx, engine.MessagesRequest{
			Key: keyOf("c"), Range: conversation.Range{First: kept - 1, End: kept + 3}, Limit: 10, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 },
		})
		var inView []bool
		for i := range list.Messages {
			inView = append(inView, list.Messages[i].InView)
		}
		if err != nil || !slices.Equal(inView, []bool{false, true, true, false}) {
			t.Errorf("strategy %d: in view are %v, %v", strategy, inView, err)
		}
		// A budget without room for it leaves it out, and says so.
		small := b.asked(t, "c", 1500, asMessages)
		if _, ok := message(small, kept); ok || small.Tokens.Total > 1500 || small.Tokens.Total < 700 {
			t.Errorf("strategy %d: %d tokens of 1500, shown %t", strategy, small.Tokens.Total, ok)
		}
		if cuts := slices.DeleteFunc(small.Manifest.Window.Cuts, func(c conversation.Cut) bool { return c.Summary > 0 }); len(cuts) != 1 || cuts[0].Message != kept {
			t.Errorf("strategy %d: the unit is weighed as %+v", strategy, cuts)
		}
		for _, m := range []int32{kept, kept + 1} {
			if d := decision(small, m); d == nil || !slices.ContainsFunc(small.Decisions, func(d conversation.Decision) bool {
				return d.First <= m && m <= d.Last && d.Kind == conversation.DecisionLeftOut && d.Reason == conversation.ReasonNoRoom
			}) {
				t.Errorf("strategy %d: message %d: %+v", strategy, m, small.Decisions)
			}
		}
		if again := b.asked(t, "c", 8000, asMessages); !shows(again, "vault") {
			t.Errorf("strategy %d: the own budget does not show it any more", strategy)
		}
		b.rebuildsAll(t, "c", 257)
	}
}

// TestEngine_Build_HighHasATenth: the newest important units that fit together stay, the others are summarized, and a decision says so
// once.
func TestEngine_Build_HighHasATenth(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	var first []int32
	for i := range 5 { // of 250 tokens each: three have room in 800
		k := fmt.Sprint("h", i)
		first = append(first, b.append(t, "c", call(k), important(conversation.ImportanceHigh, result(k, fmt.Sprintf("finding-%d ", i)+words(210)))).Messages[0].Index)
	}
	told := map[int32]int{}
	var last *engine.BuildResult
	for _, r := range b.worked(t, "c", 0, 120, 100, 8000) {
		last = r
		for _, d := range r.Decisions {
			if d.Kind == conversation.DecisionSummarized && d.Reason == conversation.ReasonOverBudgetShare {
				told[d.First]++
				if d.Last != d.First+1 || d.Summary == 0 || d.Before < 200 {
					t.Errorf("%+v", d)
				}
			}
		}
	}
	for i, index := range first {
		if s, _ := message(last, index+1); (i >= 2) != strings.Contains(s, "finding-") {
			t.Errorf("unit %d is shown as %.40q", i, s)
		}
		if want := map[bool]int{true: 0, false: 1}[i >= 2]; told[index] != want {
			t.Errorf("unit %d: told %d times", i, told[index])
		}
	}
}

// TestEngine_Build_LowIsOneLineToSummaries: summaries get its first words only, but its names are counted.
func TestEngine_Build_LowIsOneLineToSummaries(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	log := "All 14 tests of the parser passed.\n" + strings.Repeat("ok step\n", 100) + "ERROR: fatal failure of the disk in /var/lib/store/data.bin\n"
	for i := range 3 {
		k := fmt.Sprint("low", i)
		b.append(t, "c", call(k), important(conversation.ImportanceLow, result(k, log)))
	}
	text := ""
	for _, r := range b.worked(t, "c", 0, 60, 100, 8000) {
		for _, m := range r.Messages {
			if m.Summary > 0 && text == "" {
				text = m.Parts[0].Text.Inline
			}
		}
	}
	body, list, found := strings.Cut(text, "Not told above")
	if !found || strings.Contains(body, "data.bin") || !strings.Contains(list, "/var/lib/store/data.bin") {
		t.Error(text)
	}
}

// TestEngine_Append_Importance_IsResolvedOnce: it comes from the result, its message, its actions or its tool, at the time of the append.
// The server has no default for it.
func TestEngine_Append_Importance_IsResolvedOnce(t *testing.T) {
	b := newBench(1 << 20)
	put := func(i conversation.Importance) {
		t.Helper()
		for _, key := range []conversation.ActionKey{{ToolName: "search"}, {ActionID: "fetch"}} {
			if err := b.PutActionPolicy(ctx, "default", conversation.ActionPolicy{Key: key, Importance: i}, engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fetched := func(m conversation.Message) conversation.Message {
		m.Actions = []conversation.ActionRef{{ActionID: "fetch"}}
		return m
	}
	const low, normal, high = conversation.ImportanceLow, conversation.ImportanceNormal, conversation.ImportanceHigh
	put(high)
	messageSays := result("c", "y")
	messageSays.Importance = normal
	b.append(t, "c", fetched(text(conversation.RoleSystem, "s")), user("u"), fetched(answer("a")), call("a", "b", "c"),
		result("a", "x"), important(low, result("b", "x")), messageSays)
	put(low)
	want := []conversation.Importance{0, 0, high, 0, 0, 0, normal}
	results := map[int]conversation.Importance{4: high, 5: low, 6: normal}
	for i, m := range b.records(t, "c") {
		if m.Importance != want[i] || m.Parts[0].Result != nil && m.Parts[0].Result.Importance != results[i] {
			t.Errorf("message %d: %d, %+v", i, m.Importance, m.Parts[0].Result)
		}
	}
}

// TestEngine_Build_NormalIsAsIfNobodySaidSo: the bytes are the same.
func TestEngine_Build_NormalIsAsIfNobodySaidSo(t *testing.T) {
	play := func(i conversation.Importance) (out []string) {
		b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
			o.Defaults = conversation.Policy{
				Pruning:    conversation.PruningPolicy{Off: ptr(false), ProtectTokens: ptr(int32(1000)), MinimumTokens: ptr(int32(500))},
				Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize},
			}
		})
		b.append(t, "c", user("go"))
		for s := range 80 {
			k := fmt.Sprint("k", s)
			m := call(k)
			m.Importance = i
			b.append(t, "c", m, important(i, result(k, fmt.Sprintf("read /srv/part%d.csv ", s)+words(100))))
			r := b.asked(t, "c", 2500, nil)
			out = append(out, string(r.MessagesJSON), fmt.Sprintf("%+v %+v", r.Decisions, r.Tokens))
		}
		return out
	}
	unset, normal := play(conversation.ImportanceUnspecified), play(conversation.ImportanceNormal)
	for i := range unset {
		if unset[i] != normal[i] {
			t.Fatalf("build %d:\n%.600s\n%.600s", i/2, unset[i], normal[i])
		}
	}
	if !strings.Contains(strings.Join(unset, ""), "content cleared") || !strings.Contains(strings.Join(unset, ""), "Summary of messages") {
		t.Error("nothing was pruned, or summarized")
	}
}

// TestEngine_Build_ImportantOpening_IsTheOpening: an important opening has the opening's claim and not that of important units. It is shown
// even if other important units have taken their room.
func TestEngine_Build_ImportantOpening_IsTheOpening(t *testing.T) {
	t.Parallel()
	b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Defaults = conversation.Policy{
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize}, Pruning: conversation.PruningPolicy{Off: ptr(true)},
		}
		o.Defaults.Fit.KeepOpening = ptr(false)
	})
	opening := user("begin: " + words(10))
	opening.Importance = conversation.ImportanceHigh
	b.append(t, "c", opening, answer("yes"), user("go on"))
	for i := range 2 {
		k := fmt.Sprint("high", i)
		b.append(t, "c", call(k), important(conversation.ImportanceHigh, result(k, words(210))))
	}
	b.worked(t, "c", 0, 120, 100, 8000)
	for _, budget := range []int32{8000, 2400, 1600} {
		r := b.asked(t, "c", budget, func(r *engine.BuildRequest) { r.PolicyOverride.Fit.KeepOpening = ptr(true) })
		if !strings.Contains(string(r.MessagesJSON), "begin: ") {
			t.Errorf("budget %d, %d tokens: window %+v", budget, r.Tokens.Total, r.Manifest.Window)
		}
	}
}
