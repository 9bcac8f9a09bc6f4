package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// SummaryJob is a plan with everything that is needed to write its summaries: they are written without the conversation being held.
type SummaryJob struct {
	SummaryPlan
	Key             store.Key
	Incarnation     conversation.ID
	counter         tokens.Counter
	Prompt          conversation.Prompt
	summary, losses int64                 // what a summary may weigh, and the list beside it
	Span            int                   // characters of a span that the models take at once
	Input           int                   // characters of a span that the models are given in all
	Live            *summarize.Live       // asks the agent's own model; nil for asking those of spans
	NotLive         string                // why not, where the policy wants it
	Units           [][]conversation.Unit // of each step's own messages, as a summarizer is given them, contents inline; nobody else's
	whole           [][]conversation.Unit // the same, with results of low importance as the view shows them
	earlier         map[int64]SummaryText // the summaries in force that steps take up
}

// SummaryText is a summary in words.
type SummaryText struct {
	Text  string // with the list of what it would have lost
	Model string
	SummaryFacts
}

// SummaryFacts is what is stored beside a summary's text for the summary that will take it up.
type SummaryFacts = record.Facts

// body is the text without the list.
func (w *SummaryText) body() string { return w.Text[:min(w.Body, len(w.Text))] }

// Draft is a plan whose summaries are written.
type Draft struct {
	SummaryPlan
	Texts []SummaryText // of each step
}

// summaryJob gets everything together that a plan needs. room is what the target of the compaction leaves for its summary.
func (d summarizing) summaryJob(p *SummaryPlan, room int64) (*SummaryJob, error) {
	c := d.Settings.compact
	if c.strategy == conversation.StrategySummarize { // elsewhere several stand beside each other
		c.summary = min(c.summary, max(room-c.losses, c.summary/2)) // the list beside it must hold what it would lose
	}
	w := &SummaryJob{
		SummaryPlan: *p, Key: d.Loaded.Key, Incarnation: d.Loaded.Head.Incarnation, counter: d.Settings.Counter,
		summary: c.summary, losses: c.losses, earlier: map[int64]SummaryText{},
	}
	w.Prompt = d.spanPrompt()
	for i := range p.Steps {
		units, err := d.ownUnits(&p.Steps[i])
		if err := d.Loaded.IgnoreMissing(err); err != nil {
			return nil, err
		}
		w.Units, w.whole = append(w.Units, compaction.Brief(units)), append(w.whole, units)
		if err := d.Loaded.IgnoreMissing(d.readEarlier(w, p.Steps[i].Children)); err != nil {
			return nil, err
		}
	}
	d.limitSpan(w)
	var err error
	if w.Live, w.NotLive, err = d.liveRequest(w); d.Loaded.IgnoreMissing(err) != nil {
		return nil, err
	}
	return w, d.Loaded.Incomplete()
}

// spanPrompt is what summaries of spans are asked for with: the prompt that the policy names, if there is one, or the built-in one.
// The prompt with the id "default" is for single results.
func (d summarizing) spanPrompt() conversation.Prompt {
	if id := conversation.ValueOr(d.Settings.compact.PromptID, ""); id != "" {
		if p, ok := d.Settings.catalogue.Prompt(id); ok {
			return p
		}
	}
	return conversation.Prompt{}
}

// newlyCovered are the messages that the summaries which a step takes up left out, and that it stands for: an earlier request, above all.
// No summary tells of them yet.
func (d summarizing) newlyCovered(s *SummaryStep) []conversation.Range {
	var out []conversation.Range
	for _, e := range d.View.Summaries() {
		if slices.Contains(s.Children, e.Summary.ID) {
			out = append(out, e.Summary.Except...)
		}
	}
	return conversation.SubtractRanges(conversation.MergeRanges(out), append(d.exceptions(s), s.Own))
}

// ownUnits are copies of the units of a step that no summary tells of yet: what the window holds changes under it once the conversation is
// let go. What stays verbatim is none of them.
func (d summarizing) ownUnits(s *SummaryStep) ([]conversation.Unit, error) {
	units := d.spanUnits(conversation.SubtractRanges(append(d.newlyCovered(s), s.Own), s.Verbatim)...)
	for i := range units {
		for j := range units[i].Items {
			it := &units[i].Items[j]
			*it = it.WithoutRecalled()
			parts, err := d.Loaded.Inline(it.Parts)
			if err := d.Loaded.IgnoreMissing(err); err != nil {
				return nil, err
			}
			message := *it.Message
			it.Message, it.Parts = &message, parts
		}
	}
	return units, d.Loaded.Incomplete()
}

// readEarlier reads the summaries that a step takes up.
func (d summarizing) readEarlier(w *SummaryJob, ids []int64) error {
	for _, e := range d.View.Summaries() {
		s := e.Summary
		if !slices.Contains(ids, s.ID) {
			continue
		}
		text, err := d.Loaded.Texts(s.Text)
		if err != nil {
			return err
		}
		earlier := SummaryText{Text: text[0]}
		if earlier.SummaryFacts, err = d.Loaded.Facts(d.Erased.AsCommitted(&e).Summary); err != nil {
			return err
		}
		if earlier.Facts, err = d.Erased.FactsLeft(e.Range, earlier.Facts); err != nil {
			return err
		}
		w.earlier[s.ID] = earlier
	}
	return nil
}

// What is left of a summarizer's window for the prompt, and how sure its length is known.
const (
	promptTokens = 1_500
	spanShare    = 85 // percent
)

// limitSpan says how long a span may be, in characters. Heads larger than the window of the smallest of the models that may be asked go in
// chunks, and are shortened to what is given of one summary.
func (d summarizing) limitSpan(w *SummaryJob) {
	room := budget(BudgetOverride{}, conversation.ModelProfile{}).Tokens()
	for _, name := range d.Summaries.ModelsOf(&w.Prompt) {
		_, model, _ := strings.Cut(name, "/")
		p, _ := d.Settings.catalogue.Profile(model)
		room = min(room, budget(BudgetOverride{}, p).Tokens())
	}
	chars, weight := w.density()
	room = max(room-promptTokens-2*w.summary, promptTokens)
	most := d.summaryInput()
	w.Span = int(room * spanShare / 100 * max(chars, 1) / max(weight, 1))
	w.Input = int(max(most-promptTokens, most/2) * spanShare / 100 * max(chars, 1) / max(weight, 1))
}

// summaryInput is how many tokens a model is given for one summary at most.
func (d summarizing) summaryInput() int64 {
	return FirstSet(conversation.DefaultSummaryInput, d.Settings.compact.SummaryInputTokens)
}

// density is how many characters, and how many tokens, what is to be summarized has.
func (w *SummaryJob) density() (chars, weight int64) {
	for _, units := range w.Units {
		for i := range units {
			weight += units[i].Tokens()
			for j := range units[i].Items {
				chars += conversation.PartsChars(units[i].Items[j].Parts)
			}
		}
	}
	if chars == 0 { // summaries alone
		return 4, 1
	}
	return chars, weight
}

// Target is how long a summary should be, in characters.
func (w *SummaryJob) Target() int {
	chars, weight := w.density()
	return int(w.summary * max(chars, 1) / max(weight, 1))
}

// ModelCalls is how many calls of a model the work takes.
func (w *SummaryJob) ModelCalls() int {
	if w.Live != nil {
		return 1
	}
	return w.SpanCalls()
}

// SpanCalls is how many calls of the models of spans the work takes.
func (w *SummaryJob) SpanCalls() int {
	n := 0
	for i := range w.Steps {
		n += len(w.Pieces(i))
	}
	return n
}

// Pieces are the units of a step in the order in which a model is asked about them: all at once where what it is given of them fits its
// window.
func (w *SummaryJob) Pieces(step int) [][]conversation.Unit {
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
func (w *SummaryJob) CharsOf(pieces int) int { return min(w.Span, w.Input/pieces) }

// EarlierTexts are the summaries that a step takes up, in order, those of the plan among them.
func (w *SummaryJob) EarlierTexts(i int, done []SummaryText) []SummaryText {
	s := &w.Steps[i]
	out := make([]SummaryText, 0, len(s.Children)+len(s.Steps))
	for _, id := range s.Children {
		out = append(out, w.earlier[id])
	}
	for _, step := range s.Steps {
		out = append(out, done[step])
	}
	return out
}

// Facts are what a step's summary must not lose unnoticed.
func (w *SummaryJob) Facts(i int, earlier []SummaryText) SummaryFacts {
	known := SummaryFacts{Facts: compaction.Facts(w.whole[i])}
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
func (w *SummaryJob) Finish(text, model string, known SummaryFacts) SummaryText {
	known.Body = len(text)
	out := SummaryText{Text: text, Model: model, SummaryFacts: known}
	if list, _ := compaction.LossList(known.Facts, known.Dropped, text, w.losses, w.counter); list != "" {
		out.Text += "\n\n" + list
	}
	return out
}

// Extract writes the summaries without a model. Earlier summaries stay word for word as long as there is room for them: what a
// model wrote is better than what is extracted from it.
func (w *SummaryJob) Extract(service *summarize.Service) *Draft {
	d := &Draft{SummaryPlan: w.SummaryPlan}
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
func (w *SummaryJob) leavesRoom(earlier string) bool {
	n, _ := w.counter.Count(earlier)
	return int64(n) <= w.summary*2/3
}

// CutToLimit is a text that weighs no more than a summary may, but for a few tokens.
func (w *SummaryJob) CutToLimit(text string) string {
	for n, _ := w.counter.Count(text); int64(n) > w.summary && text != ""; n, _ = w.counter.Count(text) {
		chars := []rune(text)
		text = string(chars[:int64(len(chars))*w.summary*95/100/int64(n)])
	}
	return text
}

// Bodies are the texts of summaries without the lists beside them.
func Bodies(earlier []SummaryText) []string {
	out := make([]string, len(earlier))
	for i := range earlier {
		out[i] = earlier[i].body()
	}
	return out
}

func joinBodies(earlier []SummaryText) string { return strings.Join(Bodies(earlier), "\n\n") }

// Scope is whose summaries these are.
func (w *SummaryJob) Scope() summarize.Scope {
	return summarize.Scope{Namespace: w.Key.Namespace, Conversation: w.Key.Conversation}
}
