// Package drafts holds summaries on their way: a plan with what those who write its summaries are given, and the slots that keep what was
// written until a build publishes it.
package drafts

import (
	"math"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// What drafts hold.
type (
	// Plan says which messages summaries are to stand for.
	Plan = record.Plan
	// Step is one summary of a plan.
	Step = record.Step
)

// Job is a plan with everything that is needed to write its summaries: they are written without the conversation being held.
type Job struct {
	Plan
	Key             store.Key
	Incarnation     conversation.ID
	Counter         tokens.Counter
	Prompt          conversation.Prompt
	Summary, Losses int64                 // what a summary may weigh, and the list beside it
	Span            int                   // characters of a span that the models take at once
	Input           int                   // characters of a span that the models are given in all
	Live            *summarize.Live       // asks the agent's own model; nil for asking those of spans
	NotLive         string                // why not, where the policy wants it
	Units           [][]conversation.Unit // of each step's own messages, as a summarizer is given them, contents inline; nobody else's
	Whole           [][]conversation.Unit // the same, with results of low importance as the view shows them
	Earlier         map[int64]Text        // the summaries in force that steps take up
}

// Text is a summary in words.
type Text struct {
	Text  string // with the list of what it would have lost
	Model string
	SummaryFacts
}

// SummaryFacts is what is stored beside a summary's text for the summary that will take it up.
type SummaryFacts = record.Facts

// body is the text without the list.
func (w *Text) body() string { return w.Text[:min(w.Body, len(w.Text))] }

// Draft is a plan whose summaries are written.
type Draft struct {
	Plan
	Texts []Text // of each step
}

// Density is how many characters, and how many tokens, what is to be summarized has.
func (w *Job) Density() (chars, weight int64) {
	for _, units := range w.Units {
		for it := range conversation.Items(units) {
			chars, weight = chars+conversation.PartsChars(it.Parts), weight+it.Tokens()
		}
	}
	if chars == 0 { // summaries alone
		return 4, 1
	}
	return chars, weight
}

// Target is how long a summary should be, in characters.
func (w *Job) Target() int {
	chars, weight := w.Density()
	return int(w.Summary * max(chars, 1) / max(weight, 1))
}

// ModelCalls is how many calls of a model the work takes.
func (w *Job) ModelCalls() int {
	if w.Live != nil {
		return 1
	}
	return w.SpanCalls()
}

// SpanCalls is how many calls of the models of spans the work takes.
func (w *Job) SpanCalls() int {
	n := 0
	for i := range w.Steps {
		n += len(w.Pieces(i))
	}
	return n
}

// Pieces are the units of a step in the order in which a model is asked about them: all at once where what it is given of them fits its
// window.
func (w *Job) Pieces(step int) [][]conversation.Unit {
	if w.Input <= w.Span {
		return [][]conversation.Unit{w.Units[step]}
	}
	pieces := summarize.SplitSpan(w.Units[step], w.Span)
	if len(pieces) == 0 {
		return [][]conversation.Unit{nil}
	}
	return pieces
}

// CharsOf is how many characters a model is given of each of so many pieces.
func (w *Job) CharsOf(pieces int) int { return min(w.Span, w.Input/pieces) }

// EarlierTexts are the summaries that a step takes up, in order, those of the plan among them.
func (w *Job) EarlierTexts(i int, done []Text) []Text {
	s := &w.Steps[i]
	out := make([]Text, 0, len(s.Children)+len(s.Steps))
	for _, id := range s.Children {
		out = append(out, w.Earlier[id])
	}
	for _, step := range s.Steps {
		out = append(out, done[step])
	}
	return out
}

// Facts are what a step's summary must not lose unnoticed.
func (w *Job) Facts(i int, earlier []Text) SummaryFacts {
	known := SummaryFacts{Facts: compaction.Facts(w.Whole[i])}
	add := func(older SummaryFacts) {
		merged, dropped := compaction.MergeFacts(older.Facts, known.Facts)
		known = SummaryFacts{Facts: merged, Dropped: min(known.Dropped+older.Dropped+dropped, math.MaxInt32)} // an import takes no more
	}
	for j := len(earlier) - 1; j >= 0; j-- {
		add(earlier[j].SummaryFacts)
	}
	add(SummaryFacts{}) // where nothing came before
	return known
}

// Finish is a step's summary with the list of what its text has lost (behaviour §8).
func (w *Job) Finish(text, model string, known SummaryFacts) Text {
	known.Body = len(text)
	out := Text{Text: text, Model: model, SummaryFacts: known}
	if list, _ := compaction.LossList(known.Facts, known.Dropped, text, w.Losses, w.Counter); list != "" {
		out.Text += "\n\n" + list
	}
	return out
}

// Extract writes the summaries without a model. Earlier summaries stay word for word as long as there is room for them: what a
// model wrote is better than what is extracted from it.
func (w *Job) Extract(service *summarize.Service) *Draft {
	d := &Draft{Plan: w.Plan}
	for i := range w.Steps {
		earlier := w.EarlierTexts(i, d.Texts)
		var text string
		if whole := joinBodies(earlier); len(w.Units[i]) > 0 && whole != "" && w.leavesRoom(whole) {
			text = strings.TrimSpace(whole + "\n\n" + service.ExtractSpan(nil, w.Units[i], w.Target()/3))
		} else {
			text = service.ExtractSpan(Bodies(earlier), w.Units[i], w.Target())
		}
		d.Texts = append(d.Texts, w.Finish(w.CutToLimit(text), "", w.Facts(i, earlier)))
	}
	return d
}

// leavesRoom says whether earlier summaries leave room for an extract of what came since.
func (w *Job) leavesRoom(earlier string) bool {
	n, _ := w.Counter.Count(earlier)
	return int64(n) <= w.Summary*2/3
}

// CutToLimit is a text that weighs no more than a summary may, but for a few tokens.
func (w *Job) CutToLimit(text string) string {
	for n, _ := w.Counter.Count(text); int64(n) > w.Summary && text != ""; n, _ = w.Counter.Count(text) {
		chars := []rune(text)
		text = string(chars[:int64(len(chars))*w.Summary*95/100/int64(n)])
	}
	return text
}

// Bodies are the texts of summaries without the lists beside them.
func Bodies(earlier []Text) []string {
	out := make([]string, len(earlier))
	for i := range earlier {
		out[i] = earlier[i].body()
	}
	return out
}

func joinBodies(earlier []Text) string { return strings.Join(Bodies(earlier), "\n\n") }

// Scope is whose summaries these are.
func (w *Job) Scope() summarize.Scope {
	return summarize.Scope{Namespace: w.Key.Namespace, Conversation: w.Key.Conversation}
}

// TakesUp says whether a summary in force is among those that the work takes up.
func (w *Job) TakesUp(summary int64) bool {
	_, ok := w.Earlier[summary]
	return ok
}
