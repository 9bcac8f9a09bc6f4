package property

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// windowPolicy draws how a view is kept in its window.
func (g *generator) windowPolicy() conversation.Policy {
	number := func(name string, values ...int32) *int32 {
		if n := rapid.IntRange(-1, len(values)-1).Draw(g.t, name); n >= 0 {
			return &values[n]
		}
		return nil
	}
	names := func(name, value string) *[]string {
		return rapid.SampledFrom([]*[]string{nil, {}, {value}}).Draw(g.t, name)
	}
	p := g.policy()
	p.Retention, p.Expiration = conversation.RetentionPolicy{}, conversation.ExpirationPolicy{}
	p.Pruning = conversation.PruningPolicy{
		Off:           rapid.SampledFrom([]*bool{nil, nil, new(true)}).Draw(g.t, "no pruning"),
		ProtectTokens: number("protect", 0, 50, 300, 2000), MinimumTokens: number("minimum", 0, 100, 1500), MaxPartTokens: number("max part", 40, 1000),
		ProtectedTools: names("protected", "search"), ProtectedPrefixes: names("prefixes", "fs."),
	}
	p.Compaction = conversation.CompactionPolicy{
		Strategy: rapid.SampledFrom([]conversation.Strategy{
			conversation.StrategyUnspecified, conversation.StrategySummarize, conversation.StrategyHierarchical,
			conversation.StrategyHierarchical, conversation.StrategySlidingWindow,
		}).Draw(g.t, "strategy"),
		ThresholdMessages: number("threshold", 0, 4, 12), PreparePercent: number("prepare", 20, 60), KeepRecent: number("keep", 1, 3, 8),
		TailPercent: number("tail", 5, 60), TargetPercent: number("compaction target", 15, 80), MinShrinkPercent: number("shrink", 1, 30),
		FanOut: number("fan out", 2, 3), SummaryTokens: number("summary", 100, 300), ListTokens: number("list", 0, 60, 2000),
		SummaryInputTokens: number("summary input", 1000, 4000), LivePrefix: rapid.SampledFrom([]*bool{nil, nil, new(true)}).Draw(g.t, "live prefix"),
	}
	p.Fit.TargetPercent = number("fit target", 20, 80)
	p.Fit.KeepOpening = rapid.SampledFrom([]*bool{nil, nil, new(true), new(false)}).Draw(g.t, "opening")
	p.Citations = conversation.CitationsPolicy{On: rapid.SampledFrom([]*bool{nil, nil, nil, new(true)}).Draw(g.t, "cites"), ThresholdChars: new(int32(200))}
	p.Deduplication = conversation.DeduplicationPolicy{
		On: rapid.SampledFrom([]*bool{nil, new(true), new(true)}).Draw(g.t, "deduplicates"), MinLines: number("min lines", 2, 6),
		ExcludedTools: rapid.SampledFrom([]*[]string{nil, nil, {"search"}}).Draw(g.t, "excluded"),
	}
	return p
}

// changePolicy switches to another policy on the way.
func (j *journey) changePolicy() {
	p := j.g.windowPolicy()
	r := engine.UpdateRequest{Key: j.key, Request: j.request("UpdateConversation"), Change: func(i store.Info) (store.Info, error) {
		i.Policy = p
		return i, nil
	}}
	if err := j.insist(func() error { _, err := j.engine.Update(ctx, r); return err }); err != nil {
		j.t.Fatalf("update: %v", err)
	}
	j.policy = p
	j.t.Logf("policy: pruning %+v, strategy %d", p.Pruning, p.Compaction.Strategy)
}

// reportUsage tells what a provider has counted, or what nobody would.
func (j *journey) reportUsage() {
	if len(j.builds) == 0 {
		return
	}
	b := j.builds[rapid.IntRange(max(0, len(j.builds)-3), len(j.builds)-1).Draw(j.t, "reported build")]
	of := int32(b.Manifest.Tokens)
	u := engine.Usage{
		Input:  rapid.SampledFrom([]int32{of, 0, of * 11 / 10, of / 3, of * 4, 2_000_000_000}).Draw(j.t, "input"),
		Output: rapid.SampledFrom([]int32{0, 50, 1_000_000_000}).Draw(j.t, "output"),
	}
	before := j.head()
	counts := 0
	err := j.insist(func() error {
		_, counted, err := j.engine.ReportUsage(ctx, j.key, b.Manifest.Seq, "", u)
		if counted {
			counts++
		}
		return err
	})
	if moved := j.head().Revision - before.Revision; err != nil || counts > 1 || moved != int64(counts) && !j.faulty {
		j.t.Fatalf("a report of %+v counts %d times, and moves the revision by %d: %v", u, counts, moved, err)
	}
}

// expand brings something back.
func (j *journey) expand() {
	e := j.record[rapid.IntRange(0, len(j.record)-1).Draw(j.t, "expanded")]
	r := engine.ExpandRequest{Key: j.key, Index: &e.index, Request: j.request("ExpandMessage")}
	before := j.head()
	var got *engine.ExpandResult
	err := j.insist(func() (err error) { got, err = j.engine.Expand(ctx, r); return err })
	j.t.Logf("expand %d: %v", e.index, err)
	if err != nil {
		switch kind := conversation.KindOf(err); {
		case kind == conversation.ExpansionTooLarge, kind == conversation.NotEdited && (e.hidden || len(j.builds) == 0 || e.full() && !j.summarized(e)):
		default:
			j.t.Fatalf("an expansion of message %d (hidden %t, in full %t) is refused: %v", e.index, e.hidden, e.full(), err)
		}
		if j.head().Version != before.Version {
			j.t.Fatal("a refused expansion commits")
		}
		return
	}
	if j.head().Revision != before.Revision+1 || got.Revision != before.Revision+1 {
		j.t.Fatalf("an expansion answers revision %d, after %d", got.Revision, before.Revision)
	}
	made := j.take()
	results := len(broughtBack(j.record, e)) - len(unitOf(j.record, e)) // that stand beside calls of the unit: an edit each
	if e.hidden || len(made) != 1+results || made[0].Kind != conversation.EditRestore || !made[0].Range.Contains(e.index) {
		j.t.Fatalf("an expansion of message %d (hidden %t) makes %+v", e.index, e.hidden, made)
	}
	if flatAll(got.Message.Message.Parts) != flatAll(e.message.Parts) {
		j.t.Fatalf("message %d is returned as\n%s\nand was appended as\n%s", e.index, flatAll(got.Message.Message.Parts), flatAll(e.message.Parts))
	}
	again, err := j.engine.Expand(ctx, r)
	if err != nil || !again.Duplicate || again.Revision != got.Revision {
		j.t.Fatalf("a retried expansion answers %+v (%v)", again, err)
	}
}

// compact makes the view smaller now.
func (j *journey) compact() {
	r := engine.CompactRequest{
		Key: j.key, Request: j.request("CompactConversation"),
		Strategy: rapid.SampledFrom([]conversation.Strategy{
			conversation.StrategyUnspecified, conversation.StrategyUnspecified, conversation.StrategySummarize,
			conversation.StrategyHierarchical, conversation.StrategySlidingWindow,
		}).Draw(j.t, "compacted by"),
		KeepRecent:   rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(2)), new(int32(100))}).Draw(j.t, "kept"),
		TargetTokens: rapid.SampledFrom([]*int32{nil, nil, new(int32(100)), new(int32(3000))}).Draw(j.t, "target"),
	}
	before := j.head()
	var got *engine.CompactResult
	err := j.insist(func() (err error) { got, err = j.engine.Compact(ctx, r); return err })
	j.listen()
	j.t.Logf("compact by %d: %v", r.Strategy, err)
	if err != nil {
		if kind := conversation.KindOf(err); kind != conversation.NothingToCompact && kind != conversation.InvalidField || j.head().Revision != before.Revision {
			j.t.Fatalf("a compaction answers %v, revision %d after %d", err, j.head().Revision, before.Revision)
		}
		return
	}
	if got.Revision != before.Revision+1 || j.head().Revision != got.Revision || j.head().Turn != before.Turn {
		j.t.Fatalf("a compaction answers revision %d, turn %d, after %d, %d", got.Revision, j.head().Turn, before.Revision, before.Turn)
	}
	j.slid = true
	policy := j.policy
	policy.Compaction.Strategy = cmp.Or(r.Strategy, policy.Compaction.Strategy)
	at := j.journal()
	at.policy, at.turn = policy, j.turn
	made := at.take()
	if len(made) != len(got.Summaries) {
		j.t.Fatalf("a compaction makes %d edits and tells of %d summaries", len(made), len(got.Summaries))
	}
	for i, s := range got.Summaries {
		if e := made[i]; s.ID != e.Summary.ID || s.Range != e.Range || s.Text != e.Summary.Text.Inline || !slices.Equal(s.Children, e.Summary.Children) {
			j.t.Fatalf("a compaction makes %+v and tells of %+v", e, s)
		}
	}
	again, err := j.engine.Compact(ctx, r)
	if err != nil || !again.Duplicate || again.Revision != got.Revision || !reflect.DeepEqual(again.Summaries, got.Summaries) || again.Range != got.Range {
		j.t.Fatalf("a retried compaction answers\n%+v (%v), not\n%+v", again, err, got)
	}
}

// moveHouse takes the conversation through an export and an import, and goes on with the copy.
func (j *journey) moveHouse() {
	other := j.key
	other.Conversation += "x"
	rest := j.export(j.key) // which the import may keep
	_, err := j.engine.Import(ctx, other, func() (*engine.Record, error) {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		r := rest[0]
		rest = rest[1:]
		return &r, nil
	})
	if err != nil {
		j.t.Fatalf("import: %v", err)
	}
	records, again := j.export(j.key), j.export(other)
	if len(again) != len(records) {
		j.t.Fatalf("%d records are exported of a copy of %d", len(again), len(records))
	}
	for i := range records {
		a, b := records[i], again[i]
		if a.State != nil && len(a.State.Slots)+len(b.State.Slots) == 0 {
			a.State.Slots, b.State.Slots = nil, nil
		}
		if a.Conversation == nil && !reflect.DeepEqual(a, b) {
			before, _ := json.Marshal(a)
			after, _ := json.Marshal(b)
			j.t.Fatalf("record %d is exported as\n%s\nof the copy as\n%s", i, before, after)
		}
	}
	j.bytesCounted()
	j.key = other
	j.t.Logf("moved to %s", other.Conversation)
}

func (j *journey) export(k engine.Key) []engine.Record {
	var out []engine.Record
	if err := j.engine.Export(ctx, k, func(r engine.Record) error { out = append(out, r); return nil }); err != nil {
		j.t.Fatalf("export: %v", err)
	}
	return out
}

// sameAsCold demands of the warm engine what one builds that has never seen the conversation.
func (j *journey) sameAsCold(f conversation.Format, budget int32) {
	r := j.buildRequest(f, budget)
	r.DryRun, r.Request = true, engine.Request{}
	warm, err := j.engine.Build(ctx, r)
	cold := j.newEngine(0)
	defer cold.Close()
	other, coldErr := cold.Build(ctx, r)
	if conversation.KindOf(err) != conversation.KindOf(coldErr) || !bytes.Equal(written(warm), written(other)) {
		j.t.Fatalf("warm builds (%v)\n%s\ncold builds (%v)\n%s", err, written(warm), coldErr, written(other))
	}
	if err == nil && (warm.Prefix != other.Prefix || !reflect.DeepEqual(warm.Decisions, other.Decisions)) {
		j.t.Fatalf("warm reports %+v %+v\ncold %+v %+v", warm.Prefix, warm.Decisions, other.Prefix, other.Decisions)
	}
}

func flatAll(parts []conversation.Part) string {
	var out []string
	for i := range parts {
		out = append(out, flat(&parts[i]))
	}
	return strings.Join(out, "\n")
}
