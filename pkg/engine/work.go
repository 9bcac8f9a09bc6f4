package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// work is a plan with everything that is needed to write its summaries: they are written without the conversation being held.
type work struct {
	plan
	key             Key
	incarnation     conversation.ID
	counter         tokens.Counter
	prompt          conversation.Prompt
	summary, losses int64                 // what a summary may weigh, and the list beside it
	span            int                   // characters of a span that the models take at once
	units           [][]conversation.Unit // of each step's own messages, contents inline; nobody else's
	earlier         map[int64]written     // the summaries in force that steps take up
}

// written is a summary in words.
type written struct {
	Text  string // with the list of what it would have lost
	Model string
	known
}

// known is what is stored beside a summary's text for the summary that will take it up.
type known = record.Facts

// body is the text without the list.
func (w *written) body() string { return w.Text[:min(w.Body, len(w.Text))] }

// draft is a plan whose summaries are written.
type draft struct {
	plan
	written []written // of each step
}

// work gets everything together that a plan needs. room is what the target of the compaction leaves for its summary.
func (d *deciding) work(p *plan, room int64) (*work, error) {
	c := d.settings.compact
	if c.strategy == conversation.StrategySummarize { // elsewhere several stand beside each other
		c.summary = min(c.summary, max(room-c.losses, c.summary/2)) // the list beside it must hold what it would lose
	}
	w := &work{
		plan: *p, key: d.Loaded.Key, incarnation: d.Loaded.Head.Incarnation, counter: d.settings.counter,
		summary: c.summary, losses: c.losses, earlier: map[int64]written{},
	}
	w.prompt = d.spanPrompt()
	for i := range p.Steps {
		units, err := d.ownUnits(append(d.noLongerApart(&p.Steps[i]), p.Steps[i].Own)...)
		if err := d.Loaded.IgnoreMissing(err); err != nil {
			return nil, err
		}
		w.units = append(w.units, units)
		if err := d.Loaded.IgnoreMissing(d.takeUp(w, p.Steps[i].Children)); err != nil {
			return nil, err
		}
	}
	w.span = d.spanChars(w)
	return w, d.Loaded.Incomplete()
}

// spanPrompt is what summaries of spans are asked for with: the prompt that the policy names, if there is one, or the built-in one.
// The prompt with the id "default" is for single results.
func (d *deciding) spanPrompt() conversation.Prompt {
	if id := conversation.ValueOr(d.settings.compact.PromptID, ""); id != "" {
		if p, ok := d.settings.catalogue.Prompt(id); ok {
			return p
		}
	}
	return conversation.Prompt{}
}

// noLongerApart are the messages that the summaries which a step takes up left out, and that it stands for: an earlier request, above all.
// No summary tells of them yet.
func (d *deciding) noLongerApart(s *step) []conversation.Range {
	var out []conversation.Range
	for _, e := range d.view.Summaries() {
		if slices.Contains(s.Children, e.Summary.ID) {
			out = append(out, e.Summary.Except...)
		}
	}
	return conversation.SubtractRanges(conversation.MergeRanges(out), append(d.except(s.Range), s.Own))
}

// ownUnits are copies of the units of stretches: what the window holds changes under it once the conversation is let go.
func (d *deciding) ownUnits(ranges ...conversation.Range) ([]conversation.Unit, error) {
	units := d.spanUnits(ranges...)
	for i := range units {
		for j := range units[i].Items {
			it := &units[i].Items[j]
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

// takeUp reads the summaries that a step takes up.
func (d *deciding) takeUp(w *work, ids []int64) error {
	for _, e := range d.view.Summaries() {
		s := e.Summary
		if !slices.Contains(ids, s.ID) {
			continue
		}
		text, err := d.Loaded.Texts(s.Text)
		if err != nil {
			return err
		}
		earlier := written{Text: text[0]}
		if earlier.known, err = d.knownOf(d.current(&e).Summary); err != nil {
			return err
		}
		if earlier.Facts, err = d.factsLeft(e.Range, earlier.Facts); err != nil {
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

// spanChars is how long a span may be, in characters, for the smallest of the models that may be asked: heads larger than its
// window go in chunks.
func (d *deciding) spanChars(w *work) int {
	room := budget(BudgetOverride{}, conversation.ModelProfile{}).Tokens()
	for _, name := range d.summaries.ModelsOf(&w.prompt) {
		_, model, _ := strings.Cut(name, "/")
		p, _ := d.settings.catalogue.Profile(model)
		room = min(room, budget(BudgetOverride{}, p).Tokens())
	}
	chars, weight := w.density()
	room = max(room-promptTokens-2*w.summary, promptTokens)
	return int(room * spanShare / 100 * max(chars, 1) / max(weight, 1))
}

// density is how many characters, and how many tokens, what is to be summarized has.
func (w *work) density() (chars, weight int64) {
	for _, units := range w.units {
		for i := range units {
			weight += units[i].Tokens()
			for j := range units[i].Items {
				chars += characters(units[i].Items[j].Parts)
			}
		}
	}
	if chars == 0 { // summaries alone
		return 4, 1
	}
	return chars, weight
}

// target is how long a summary should be, in characters.
func (w *work) target() int {
	chars, weight := w.density()
	return int(w.summary * max(chars, 1) / max(weight, 1))
}

// calls is how many calls of a model the work takes.
func (w *work) calls() int {
	n := 0
	for i := range w.Steps {
		n += max(1, len(summarize.SplitSpan(w.units[i], w.span)))
	}
	return n
}

// texts are the summaries that a step takes up, in order, those of the plan among them.
func (w *work) texts(i int, done []written) []written {
	s := &w.Steps[i]
	out := make([]written, 0, len(s.Children)+len(s.Steps))
	for _, id := range s.Children {
		out = append(out, w.earlier[id])
	}
	for _, step := range s.Steps {
		out = append(out, done[step])
	}
	return out
}

// facts are what a step's summary must not lose unnoticed.
func (w *work) facts(i int, earlier []written) []conversation.Fact {
	facts := compaction.Facts(w.units[i])
	for j := len(earlier) - 1; j >= 0; j-- {
		facts = compaction.MergeFacts(earlier[j].Facts, facts)
	}
	return compaction.MergeFacts(nil, facts)
}

// finished is a step's summary with the list of what its text has lost (behaviour §8).
func (w *work) finished(text, model string, facts []conversation.Fact) written {
	out := written{Text: text, Model: model, known: known{Body: len(text), Facts: facts}}
	if list, _ := compaction.LossList(facts, text, w.losses, w.counter); list != "" {
		out.Text += "\n\n" + list
	}
	return out
}

// extract writes the summaries without a model. Earlier summaries stay word for word as long as there is room for them: what a
// model wrote is better than what is extracted from it.
func (w *work) extract(desk *summarize.Desk) *draft {
	d := &draft{plan: w.plan}
	for i := range w.Steps {
		earlier := w.texts(i, d.written)
		var text string
		if whole := joined(earlier); len(w.units[i]) > 0 && whole != "" && w.fits(whole) {
			text = strings.TrimSpace(whole + "\n\n" + desk.ExtractSpan(nil, w.units[i], w.target()/3))
		} else {
			text = desk.ExtractSpan(textsOf(earlier), w.units[i], w.target())
		}
		d.written = append(d.written, w.finished(w.capped(text), "", w.facts(i, earlier)))
	}
	return d
}

// fits says whether earlier summaries leave room for an extract of what came since.
func (w *work) fits(earlier string) bool {
	n, _ := w.counter.Count(earlier)
	return int64(n) <= w.summary*2/3
}

// capped is a text that weighs no more than a summary may, but for a few tokens.
func (w *work) capped(text string) string {
	for n, _ := w.counter.Count(text); int64(n) > w.summary && text != ""; n, _ = w.counter.Count(text) {
		chars := []rune(text)
		text = string(chars[:int64(len(chars))*w.summary*95/100/int64(n)])
	}
	return text
}

func textsOf(earlier []written) []string {
	out := make([]string, len(earlier))
	for i := range earlier {
		out[i] = earlier[i].body()
	}
	return out
}

func joined(earlier []written) string { return strings.Join(textsOf(earlier), "\n\n") }

// summarize has a model write the summaries. A span that is too large for it goes in pieces, each of which updates what the ones
// before it gave.
func (e *Engine) summarize(ctx context.Context, w *work) (*draft, error) {
	d := &draft{plan: w.plan}
	for i := range w.Steps {
		earlier := w.texts(i, d.written)
		texts, model := textsOf(earlier), ""
		pieces := summarize.SplitSpan(w.units[i], w.span)
		if len(pieces) == 0 {
			pieces = [][]conversation.Unit{nil}
		}
		for _, units := range pieces {
			if err := e.outlived(ctx, w); err != nil {
				return nil, err
			}
			result := e.ask(ctx, w, summarize.SpanContent(texts, units, w.span))
			if result.Err != nil {
				return nil, result.Err
			}
			texts, model = []string{result.Text}, result.Model
		}
		d.written = append(d.written, w.finished(w.capped(texts[0]), model, w.facts(i, earlier)))
	}
	return d, nil
}
