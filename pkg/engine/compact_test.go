package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// summarises is a bench that summarises what outgrows its budget, without a model.
func summarises(strategy conversation.Strategy) *bench {
	return lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Defaults = conversation.Policy{
			Compaction: conversation.CompactionPolicy{Strategy: strategy}, Pruning: conversation.PruningPolicy{Off: ptr(true)},
		}
	})
}

// worked appends so many exchanges, each of about so many tokens, and builds after each.
func (b *bench) worked(t testing.TB, id string, from, n, tokens int, budget int32) []*engine.BuildResult {
	t.Helper()
	var out []*engine.BuildResult
	for i := from; i < from+n; i++ {
		k := fmt.Sprint("k", i)
		b.append(t, id, call(k), result(k, fmt.Sprintf("step %d of the work: file /srv/data/part%d.csv was read. %s", i, i, words(tokens))))
		out = append(out, b.asked(t, id, budget, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral }))
	}
	return out
}

func TestEngine_Build_SummarisesWhatOutgrowsItsBudget(t *testing.T) {
	b := summarises(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "You are careful."), user("Read the parts. You must never delete a file."))
	made := 0
	for i, r := range b.worked(t, "c", 0, 300, 100, 8000) {
		if r.Tokens.Total > r.Tokens.Budget {
			t.Fatalf("build %d: %d tokens over %d", i, r.Tokens.Total, r.Tokens.Budget)
		}
		for _, e := range r.Events {
			if e.Type == conversation.EventSummarised {
				made++
				t.Logf("build %d: summary s%d of %d-%d, %d tokens, of which summaries %d; saved %d", i, e.Summary, e.Index, e.Last, r.Tokens.Total, r.Tokens.Summaries, e.Saved)
				if r.Tokens.Total*100 > r.Tokens.Budget*55 {
					t.Errorf("build %d: %d tokens of %d after a compaction", i, r.Tokens.Total, r.Tokens.Budget)
				}
			}
			if e.Type == conversation.EventCompactionFailed {
				t.Errorf("build %d: %+v", i, e)
			}
		}
		if len(r.Degradations) > 0 {
			t.Errorf("build %d: %+v", i, r.Degradations)
		}
	}
	if made < 5 {
		t.Errorf("%d summaries", made)
	}
	last := b.asked(t, "c", 8000, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
	for _, m := range last.Messages {
		if m.Summary > 0 {
			if !strings.Contains(m.Parts[0].Text.Inline, "never delete a file") {
				t.Error("the rule is lost")
			}
		}
	}
	b.rebuildsAll(t, "c", 301)
}
