package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxExamples is how many examples of each figure are kept, each of another
// conversation.
const maxExamples = 5

// Example says where something was found that must not be. It holds no text of
// the conversation.
type Example struct {
	Figure       string `json:"figure"`
	Conversation string `json:"conversation"`
	Message      int    `json:"message"` // the index that the build was for
	Detail       string `json:"detail"`
}

// Millis are percentiles in milliseconds.
type Millis struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// Report is what a replay found. docs/replay.md defines each figure.
type Report struct {
	Format                string         `json:"format"`
	Window                int32          `json:"window"`
	Budget                int32          `json:"budget"`
	Seconds               float64        `json:"seconds"`
	Conversations         int            `json:"conversations"`
	Messages              int            `json:"messages"`
	Builds                int            `json:"builds"`
	Refused               map[string]int `json:"refused"`
	RefusedShare          float64        `json:"refused_share"`
	RejectedAppends       int            `json:"rejected_appends"`
	WrongRefusals         int            `json:"wrong_refusals"`
	IllegalContexts       int            `json:"illegal_contexts"`
	OverBudget            int            `json:"over_budget"`
	NewestUnitMissing     int            `json:"newest_unit_missing"`
	RequestMissing        int            `json:"request_missing"`
	RequestCut            int            `json:"request_cut"`
	OpeningMissing        int            `json:"opening_missing"`
	OpeningCut            int            `json:"opening_cut"`
	AnswersLost           int            `json:"answers_lost"`
	LargerShowsLess       int            `json:"larger_shows_less"`
	RestoresWithoutEffect int            `json:"restores_without_effect"`
	PrefixBroken          int            `json:"prefix_broken"`
	Errors                int            `json:"errors"`
	ReadbackMismatches    int            `json:"readback_mismatches"`

	ExpansionMismatches int       `json:"expansion_mismatches"`
	Expansions          int       `json:"expansions"`
	ExpiredEarly        int       `json:"expired_early"`
	ExpiredLate         int       `json:"expired_late"`
	PrunedEarly         int       `json:"pruned_early"`
	SavingsMisstated    int       `json:"savings_misstated"`
	Unexplained         int       `json:"unexplained"`
	Unreachable         int       `json:"unreachable"`
	CitedWrongly        int       `json:"cited_wrongly"`
	CitationsOverWeight int       `json:"citations_over_weight"`
	ContentMismatches   int       `json:"content_mismatches"`
	TokensWithout       int64     `json:"tokens_without"`
	TokensWith          int64     `json:"tokens_with"`
	MeanFill            float64   `json:"mean_fill"`
	FilledTokens        int64     `json:"filled_tokens"`
	FilledRoom          int64     `json:"filled_room"`
	StablePrefixShare   float64   `json:"stable_prefix_share"`
	NewestKept          int       `json:"newest_kept"`
	Rewrites            int       `json:"rewrites"`
	CostWithout         float64   `json:"cost_without"`
	CostWith            float64   `json:"cost_with"`
	ReferenceRecall     float64   `json:"reference_recall"`
	AppendMS            Millis    `json:"append_ms"`
	BuildMS             Millis    `json:"build_ms"`
	Examples            []Example `json:"examples"`

	AtEnd       AtEnd        `json:"at_end"`
	LetGo       LetGo        `json:"let_go"`
	Compactions Compactions  `json:"compactions"`
	Reached     Reached      `json:"reached"`
	OwnCalls    OwnCalls     `json:"own_calls"`
	Citations   Citations    `json:"citations"`
	Files       []FileReport `json:"files"`
	// Policy is what was played under, empty for the sidecar's own, Cite whether
	// with citations beside what it says itself, and Against what the same
	// recordings came to under the others, in their order.
	Policy  string    `json:"policy,omitempty"`
	Cite    bool      `json:"cite,omitempty"`
	Against []*Report `json:"against,omitempty"`

	turns []turn
}

// turn pools the contexts of all conversations at one turn.
type turn struct {
	builds        int
	without, with int64
}

// tally is the figures of one conversation, or of several merged.
type tally struct {
	Report
	file                         string // of one conversation
	appends, builds, retrieves   []time.Duration
	filled, room                 int64
	stableTokens, comparedTokens int64
	references, recalled         int
}

func newTally() *tally {
	return &tally{Report: Report{Refused: map[string]int{}, Examples: []Example{}, AtEnd: newAtEnd(), LetGo: newLetGo()}}
}

// fail counts something that must not be and keeps the first example.
func (c *conversation) fail(figure string, n *int, detail string) {
	*n++
	c.example(Example{figure, c.name, c.index, detail})
}

func (t *tally) example(e Example) {
	kept := 0
	for _, old := range t.Examples {
		if old.Figure != e.Figure {
			continue
		}
		if kept++; old.Conversation == e.Conversation {
			return
		}
	}
	if kept < maxExamples {
		t.Examples = append(t.Examples, e)
	}
}

// turn adds a context to the chart of its turn.
func (t *tally) turn(without, with int) {
	t.turns = append(t.turns, turn{1, int64(without), int64(with)})
}

// merge adds another conversation's figures.
func (t *tally) merge(o *tally) {
	for _, pair := range [][2]*int{
		{&t.Conversations, &o.Conversations},
		{&t.Messages, &o.Messages},
		{&t.Builds, &o.Builds},
		{&t.RejectedAppends, &o.RejectedAppends},
		{&t.WrongRefusals, &o.WrongRefusals},
		{&t.IllegalContexts, &o.IllegalContexts},
		{&t.OverBudget, &o.OverBudget},
		{&t.NewestUnitMissing, &o.NewestUnitMissing},
		{&t.RequestMissing, &o.RequestMissing},
		{&t.RequestCut, &o.RequestCut},
		{&t.OpeningMissing, &o.OpeningMissing},
		{&t.OpeningCut, &o.OpeningCut},
		{&t.AnswersLost, &o.AnswersLost},
		{&t.LargerShowsLess, &o.LargerShowsLess},
		{&t.RestoresWithoutEffect, &o.RestoresWithoutEffect},
		{&t.PrefixBroken, &o.PrefixBroken},
		{&t.Errors, &o.Errors},
		{&t.ReadbackMismatches, &o.ReadbackMismatches},
		{&t.ExpansionMismatches, &o.ExpansionMismatches},
		{&t.Expansions, &o.Expansions},
		{&t.ExpiredEarly, &o.ExpiredEarly},
		{&t.ExpiredLate, &o.ExpiredLate},
		{&t.PrunedEarly, &o.PrunedEarly},
		{&t.Unexplained, &o.Unexplained},
		{&t.Unreachable, &o.Unreachable},
		{&t.CitedWrongly, &o.CitedWrongly},
		{&t.CitationsOverWeight, &o.CitationsOverWeight},
		{&t.ContentMismatches, &o.ContentMismatches},
		{&t.SavingsMisstated, &o.SavingsMisstated},
		{&t.Rewrites, &o.Rewrites},
		{&t.references, &o.references},
		{&t.recalled, &o.recalled},
	} {
		*pair[0] += *pair[1]
	}
	for _, pair := range [][2]*int64{
		{&t.TokensWithout, &o.TokensWithout},
		{&t.TokensWith, &o.TokensWith},
		{&t.filled, &o.filled},
		{&t.room, &o.room},
		{&t.stableTokens, &o.stableTokens},
		{&t.comparedTokens, &o.comparedTokens},
	} {
		*pair[0] += *pair[1]
	}
	t.NewestKept = leastOf(t.NewestKept, o.NewestKept)
	t.CostWith += o.CostWith
	t.CostWithout += o.CostWithout
	t.AtEnd.add(&o.AtEnd)
	t.LetGo.add(&o.LetGo)
	t.Compactions.add(o.Compactions)
	t.OwnCalls.add(o.OwnCalls)
	t.Citations.add(&o.Citations)
	t.Reached.Summaries += o.Reached.Summaries
	t.Reached.Messages += o.Reached.Messages
	o.addTo(t.Files)
	t.mergeLists(o)
}

func (t *tally) mergeLists(o *tally) {
	for reason, n := range o.Refused {
		t.Refused[reason] += n
	}
	for _, e := range o.Examples {
		t.example(e)
	}
	t.appends = append(t.appends, o.appends...)
	t.builds = append(t.builds, o.builds...)
	t.retrieves = append(t.retrieves, o.retrieves...)
	for i, add := range o.turns {
		if i == len(t.turns) {
			t.turns = append(t.turns, turn{})
		}
		t.turns[i].builds += add.builds
		t.turns[i].without += add.without
		t.turns[i].with += add.with
	}
}

// report works out the shares.
func (t *tally) report(c *Command, s *session, took time.Duration) *Report {
	r := t.Report
	r.Format, r.Window, r.Budget, r.Seconds = c.Format, c.Window, int32(s.budget()), took.Seconds()
	if s.policy != nil {
		r.Policy, r.Cite = s.policy.name, s.policy.cite
	}
	refused := 0
	for n := range maps.Values(t.Refused) {
		refused += n
	}
	r.RefusedShare = share(refused, r.Builds)
	r.MeanFill, r.FilledTokens, r.FilledRoom = share(t.filled, t.room), t.filled, t.room
	r.StablePrefixShare = share(t.stableTokens, t.comparedTokens)
	r.ReferenceRecall = share(t.recalled, t.references)
	r.AppendMS, r.BuildMS, r.Citations.RetrieveMS = millis(t.appends), millis(t.builds), millis(t.retrieves)
	r.Citations.Mean = share(float64(r.Citations.After), float64(r.Citations.Count))
	return &r
}

// share is part of whole, and 0 of nothing.
func share[N int | int64 | float64](part, whole N) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func millis(d []time.Duration) Millis {
	if len(d) == 0 {
		return Millis{}
	}
	slices.Sort(d)
	at := func(percent int) float64 { return float64(d[(len(d)-1)*percent/100]) / float64(time.Millisecond) }
	return Millis{P50: at(50), P95: at(95), P99: at(99)}
}

// verdict returns an error that wraps ErrJudged if a figure that must be 0 is
// not, or if nothing was built, under whatever policy.
func (r *Report) verdict() error {
	var broken []string
	for _, r := range r.all() {
		for _, fault := range r.broken() {
			if name := r.title(); name != "" {
				fault = "under " + name + ": " + fault
			}
			broken = append(broken, fault)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrJudged, strings.Join(broken, ", "))
}

// title names what was played under; empty for the sidecar's own policy.
func (r *Report) title() string {
	switch {
	case !r.Cite:
		return r.Policy
	case r.Policy == "":
		return ownPolicy + citedMark
	default:
		return r.Policy + citedMark
	}
}

// What the sidecar's own policy is called beside others, and what marks one in
// which citations were switched on.
const (
	ownPolicy = "own"
	citedMark = "+cite"
)

// all are the reports of all policies, this one first.
func (r *Report) all() []*Report { return append([]*Report{r}, r.Against...) }

// broken says what must not be.
func (r *Report) broken() (out []string) {
	for _, f := range r.mustBeZero() {
		if f.n != 0 {
			out = append(out, fmt.Sprintf("%s %d", f.name, f.n))
		}
	}
	if r.Builds == 0 {
		out = append(out, "nothing was built")
	}
	return out
}

type figure struct {
	name string
	n    int
}

func (r *Report) mustBeZero() []figure {
	return []figure{
		{"wrong_refusals", r.WrongRefusals},
		{"illegal_contexts", r.IllegalContexts},
		{"over_budget", r.OverBudget},
		{"newest_unit_missing", r.NewestUnitMissing},
		{"request_missing", r.RequestMissing},
		{"request_cut", r.RequestCut},
		{"opening_missing", r.OpeningMissing},
		{"opening_cut", r.OpeningCut},
		{"answers_lost", r.AnswersLost},
		{"larger_shows_less", r.LargerShowsLess},
		{"restores_without_effect", r.RestoresWithoutEffect},
		{"prefix_broken", r.PrefixBroken},
		{"errors", r.Errors},
		{"readback_mismatches", r.ReadbackMismatches},
		{"expansion_mismatches", r.ExpansionMismatches},
		{"expired_early", r.ExpiredEarly},
		{"expired_late", r.ExpiredLate},
		{"pruned_early", r.PrunedEarly},
		{"savings_misstated", r.SavingsMisstated},
		{"unexplained", r.Unexplained},
		{"unreachable", r.Unreachable},
		{"cited_wrongly", r.CitedWrongly},
		{"citations_over_weight", r.CitationsOverWeight},
		{"content_mismatches", r.ContentMismatches},
	}
}
