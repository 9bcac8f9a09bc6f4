package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	// minTerm is the length in characters from which a word is searched for, and
	// maxTerms how many are at once: the longest, which say most.
	minTerm  = 4
	maxTerms = 8
	// askTokens is what a call that asks and its result weigh beside the
	// passages: the frames of two messages and a call, and its arguments.
	askTokens = 50
)

// ask asks for passages of what was cited since the assistant spoke last, with
// the words that its next message uses, as its model would have. It is asked
// before that message is on record.
func (c *conversation) ask(ctx context.Context, next *pb.Message) {
	if len(c.unasked) == 0 {
		return
	}
	wanted := wordsIn(recall.Message(next).Items)
	for _, x := range c.unasked {
		if terms := wanted.termsFor(x.words); len(terms) > 0 && ctx.Err() == nil {
			c.askFor(ctx, x, terms)
		}
	}
	c.unasked = nil
}

// askFor times the call, and counts the words that the passages hold.
func (c *conversation) askFor(ctx context.Context, x cited, terms []string) {
	started := time.Now()
	response, err := c.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
		ConversationId: c.id, ContentId: x.handle,
		Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: &pb.ExcerptQuery{SearchTerms: terms}},
	})
	if err != nil {
		c.fail("errors", &c.Errors, "excerpts: "+describe(err))
		return
	}
	c.RetrieveTimes = append(c.RetrieveTimes, time.Since(started))
	c.Citations.Asked++
	c.Citations.Words += len(terms)
	weight, passages := askTokens, strings.Builder{}
	for _, e := range response.GetExcerpts() {
		weight += c.count(e.GetText())
		passages.WriteString(e.GetText() + "\n")
	}
	held := wordsOf(passages.String())
	for _, term := range terms {
		if held[term] {
			c.Citations.Found++
		}
	}
	c.answered(weight)
}

// answered books what a model call of its own would have cost that asks, and
// takes so many tokens with its answer.
func (c *conversation) answered(tokens int) {
	c.Citations.ExcerptTokens += int64(tokens)
	c.Citations.AskingCost += c.prices.Of(c.filling.view+c.excerpts, tokens)
	c.excerpts += tokens
}

// vocabulary is a set of words.
type vocabulary map[string]bool

// wordsIn are the words that an assistant's message says and calls with.
func wordsIn(items []validate.Item) vocabulary {
	all := vocabulary{}
	for _, item := range items {
		for _, text := range item.Texts {
			if item.Kind == validate.Call {
				text = recall.Leaves(text)
			}
			for word := range wordsOf(text) {
				all[word] = true
			}
		}
	}
	return all
}

// wordsOf are the words of a text that are long enough to be searched for.
func wordsOf(text string) vocabulary {
	all := vocabulary{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(word) >= minTerm {
			all[word] = true
		}
	}
	return all
}

// termsFor are the words that a text holds too, the longest first.
func (v vocabulary) termsFor(text string) []string {
	var terms []string
	for word := range wordsOf(text) {
		if v[word] {
			terms = append(terms, word)
		}
	}
	slices.SortFunc(terms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return terms[:min(maxTerms, len(terms))]
}
