// Package report is what a replay found: figures of each conversation, added up, and how people and programs read them.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Report is what a replay found. docs/replay.md defines each figure.
type Report struct {
	Format                string         `json:"format"`
	Window                int32          `json:"window"`
	Budget                int32          `json:"budget"`
	Seconds               float64        `json:"seconds"`
	FileReport                           // of all files
	Messages              int            `json:"messages"`
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

	ExpansionMismatches int       `json:"expansion_mismatches" must:"0"`
	Expansions          int       `json:"expansions"`
	ExpiredEarly        int       `json:"expired_early" must:"0"`
	ExpiredLate         int       `json:"expired_late" must:"0"`
	PrunedEarly         int       `json:"pruned_early" must:"0"`
	SavingsMisstated    int       `json:"savings_misstated" must:"0"`
	Unexplained         int       `json:"unexplained" must:"0"`
	Unreachable         int       `json:"unreachable" must:"0"`
	CitedWrongly        int       `json:"cited_wrongly" must:"0"`
	CitationsOverWeight int       `json:"citations_over_weight" must:"0"`
	ContentMismatches   int       `json:"content_mismatches" must:"0"`
	CopiesMissing       int       `json:"copies_missing" must:"0"`
	MeanFill            float64   `json:"mean_fill"`
	FilledTokens        int64     `json:"filled_tokens"`
	FilledRoom          int64     `json:"filled_room"`
	StablePrefixShare   float64   `json:"stable_prefix_share"`
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

// ErrJudged is the error of a replay that went through and found something
// that must not be.
var ErrJudged = errors.New("replay: promises were broken")

// Verdict returns an error that wraps ErrJudged if a figure that must be 0 is
// not, or if nothing was built, under whatever policy.
func (r *Report) Verdict() error {
	var broken []string
	for _, r := range r.All() {
		for _, fault := range r.Broken() {
			if name := r.Title(); name != "" {
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

// Title names what was played under, with a mark where citations were switched on in it; empty for the sidecar's own policy.
func Title(policy string, cite bool) string {
	if !cite {
		return policy
	}
	return cmp.Or(policy, ownPolicy) + citedMark
}

// Title names what the report is of.
func (r *Report) Title() string { return Title(r.Policy, r.Cite) }

// What the sidecar's own policy is called beside others, and what marks one in
// which citations were switched on.
const (
	ownPolicy = "own"
	citedMark = "+cite"
)

// All are the reports of all policies, this one first.
func (r *Report) All() []*Report { return append([]*Report{r}, r.Against...) }

// Broken says what must not be.
func (r *Report) Broken() (out []string) {
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

// MustBeZero names the figures that must be 0, as JSON has them.
func MustBeZero() (names []string) {
	for _, f := range (&Report{}).mustBeZero() {
		names = append(names, f.name)
	}
	return names
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
