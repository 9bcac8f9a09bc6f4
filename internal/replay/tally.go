package replay

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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

func (m Millis) String() string {
	return fmt.Sprintf("%.2f ms (p50), %.2f ms (p95), %.2f ms (p99)", m.P50, m.P95, m.P99)
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
	WrongRefusals         int            `json:"wrong_refusals" must:"0"`
	IllegalContexts       int            `json:"illegal_contexts" must:"0"`
	OverBudget            int            `json:"over_budget" must:"0"`
	NewestUnitMissing     int            `json:"newest_unit_missing" must:"0"`
	RequestMissing        int            `json:"request_missing" must:"0"`
	RequestCut            int            `json:"request_cut" must:"0"`
	OpeningMissing        int            `json:"opening_missing" must:"0"`
	OpeningCut            int            `json:"opening_cut" must:"0"`
	AnswersLost           int            `json:"answers_lost" must:"0"`
	LargerShowsLess       int            `json:"larger_shows_less" must:"0"`
	RestoresWithoutEffect int            `json:"restores_without_effect" must:"0"`
	PrefixBroken          int            `json:"prefix_broken" must:"0"`
	Errors                int            `json:"errors" must:"0"`
	ReadbackMismatches    int            `json:"readback_mismatches" must:"0"`

	ExpansionMismatches  int       `json:"expansion_mismatches" must:"0"`
	Expansions           int       `json:"expansions"`
	ExpiredEarly         int       `json:"expired_early" must:"0"`
	ExpiredLate          int       `json:"expired_late" must:"0"`
	PrunedEarly          int       `json:"pruned_early" must:"0"`
	SavingsMisstated     int       `json:"savings_misstated" must:"0"`
	Unexplained          int       `json:"unexplained" must:"0"`
	Unreachable          int       `json:"unreachable" must:"0"`
	CitedWrongly         int       `json:"cited_wrongly" must:"0"`
	CitationsOverWeight  int       `json:"citations_over_weight" must:"0"`
	ContentMismatches    int       `json:"content_mismatches" must:"0"`
	CopiesMissing        int       `json:"copies_missing" must:"0"`
	TokensWithout        int64     `json:"tokens_without"`
	TokensWith           int64     `json:"tokens_with"`
	MeanFill             float64   `json:"mean_fill"`
	FilledTokens         int64     `json:"filled_tokens"`
	FilledRoom           int64     `json:"filled_room"`
	StablePrefixShare    float64   `json:"stable_prefix_share"`
	NewestKept           int       `json:"newest_kept" merge:"least"`
	Rewrites             int       `json:"rewrites"`
	CostWithout          float64   `json:"cost_without"`
	CostWith             float64   `json:"cost_with"`
	ReferenceRecall      float64   `json:"reference_recall"`
	ContentRecall        float64   `json:"content_recall"`
	ForeignContentRecall float64   `json:"foreign_content_recall"`
	AppendMS             Millis    `json:"append_ms"`
	BuildMS              Millis    `json:"build_ms"`
	Examples             []Example `json:"examples"`

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
	// Cap is what views were capped at if --caps says so. The report of all caps
	// of a policy holds means, and those of each in Caps.
	Policy  string    `json:"policy,omitempty"`
	Cite    bool      `json:"cite,omitempty"`
	Cap     int32     `json:"cap,omitempty"`
	Caps    []*Report `json:"caps,omitempty"`
	Against []*Report `json:"against,omitempty"`
	// Bounds are what somebody comes to who knows the future, with --bound.
	Bounds []Bound `json:"bounds,omitempty"`

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
	references, content          recalled // of the next message
	foreignContent               recalled // of that what others than the agent said
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
	addFigures(reflect.ValueOf(&t.Report).Elem(), reflect.ValueOf(&o.Report).Elem())
	t.filled += o.filled
	t.room += o.room
	t.stableTokens += o.stableTokens
	t.comparedTokens += o.comparedTokens
	t.references.merge(o.references)
	t.content.merge(o.content)
	t.foreignContent.merge(o.foreignContent)
	o.addTo(t.Files)
	t.mergeLists(o)
}

// addFigures adds the figures of a struct to those of the same names of another, with those of the structs and maps in it. A field with the tag
// merge:"max" keeps the larger of both, one with merge:"least" the smaller of those that are not 0. What is no figure stays.
func addFigures(into, from reflect.Value) {
	for i := range into.NumField() {
		field := into.Type().Field(i)
		to, of := into.Field(i), from.FieldByName(field.Name)
		rule := field.Tag.Get("merge")
		switch {
		case !field.IsExported(), !of.IsValid():
		case to.Kind() == reflect.Struct:
			addFigures(to, of)
		case to.Kind() == reflect.Map:
			for entry := of.MapRange(); entry.Next(); {
				sum := entry.Value().Int()
				if n := to.MapIndex(entry.Key()); n.IsValid() {
					sum += n.Int()
				}
				to.SetMapIndex(entry.Key(), reflect.ValueOf(int(sum)))
			}
		case to.CanFloat() && rule == "max":
			to.SetFloat(max(to.Float(), of.Float()))
		case to.CanFloat():
			to.SetFloat(to.Float() + of.Float())
		case to.CanInt() && rule == "max":
			to.SetInt(max(to.Int(), of.Int()))
		case to.CanInt() && rule == "least":
			to.SetInt(int64(leastOf(int(to.Int()), int(of.Int()))))
		case to.CanInt():
			to.SetInt(to.Int() + of.Int())
		}
	}
}

func (t *tally) mergeLists(o *tally) {
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
		r.Policy, r.Cite, r.Cap = s.policy.name, s.policy.cite, s.policy.cap
	}
	refused := 0
	for n := range maps.Values(t.Refused) {
		refused += n
	}
	r.RefusedShare = share(refused, r.Builds)
	r.MeanFill, r.FilledTokens, r.FilledRoom = share(t.filled, t.room), t.filled, t.room
	r.StablePrefixShare = share(t.stableTokens, t.comparedTokens)
	r.ReferenceRecall = t.references.share()
	r.ContentRecall, r.ForeignContentRecall = t.content.share(), t.foreignContent.share()
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

// mustBeZero lists the figures that are tagged so, by their names in JSON.
func (r *Report) mustBeZero() (out []figure) {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("must") == "0" {
			out = append(out, figure{f.Tag.Get("json"), int(v.Field(i).Int())})
		}
	}
	return out
}

// LetGo is what the sidecar says it let go, and why not yet. Nothing of it is
// judged by itself: the bytes are.
type LetGo struct {
	SavedByExpiry     int64 `json:"saved_by_expiry"`
	SavedByRetention  int64 `json:"saved_by_retention"`
	SavedByPruning    int64 `json:"saved_by_pruning"`
	SavedByCompaction int64 `json:"saved_by_compaction"`
	SavedByCiting     int64 `json:"saved_by_citing"`

	SavedByDeduplication int64 `json:"saved_by_deduplication"`

	Events   map[string]int `json:"events"`
	Deferred map[string]int `json:"deferred"`
	Degraded int            `json:"degraded"`
}

func newLetGo() LetGo {
	return LetGo{Events: map[string]int{}, Deferred: map[string]int{}}
}

// happened counts events. That messages were appended is known.
func (l *LetGo) happened(events []*pb.LifecycleEvent) {
	for _, e := range events {
		if e.GetType() != pb.EventType_EVENT_TYPE_ADDED {
			l.Events[strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_")]++
		}
	}
}

// built counts what a build says of itself.
func (l *LetGo) built(r *pb.BuildContextResponse) {
	l.happened(r.GetEvents())
	l.SavedByExpiry += r.GetTokens().GetSavedByExpiry()
	l.SavedByRetention += r.GetTokens().GetSavedByRetention()
	l.SavedByPruning += r.GetTokens().GetSavedByPruning()
	l.SavedByCompaction += r.GetTokens().GetSavedByCompaction()
	l.SavedByCiting += r.GetTokens().GetSavedByCiting()
	l.SavedByDeduplication += r.GetTokens().GetSavedByDeduplication()
	l.Degraded += len(r.GetDegradations())
	for _, d := range r.GetDecisions() {
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_DEFERRED {
			l.Deferred[strings.TrimPrefix(d.GetReason().String(), "DECISION_REASON_")]++
		}
	}
}
