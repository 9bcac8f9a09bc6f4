package replay

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	record "github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// What behaviour §9 says of citations: the default length in characters above
// which a result is cited, and what a citation weighs at most in tokens, and
// beside a list.
const (
	citeLength = 1000
	citeTokens = 300
	listTokens = 400
)

// cited is a result of the recording that a citation stands for.
type cited struct {
	message int
	handle  string
	words   string // of the result, in full
}

// trackCitations judges what was cited of a message that was just appended, and returns
// the message as it enters the view: itself, or a copy with the citations in
// their places.
func (c *conversation) trackCitations(m *pb.Message, citations []*pb.Citation) *pb.Message {
	shown := m
	if len(citations) > 0 {
		shown = proto.CloneOf(m)
	}
	for _, part := range shown.GetParts() {
		r := part.GetToolResult()
		if r == nil {
			continue
		}
		words := resultWords(r)
		at := slices.IndexFunc(citations, func(c *pb.Citation) bool { return int(c.GetTotalBytes()) == len(words) })
		c.checkCited(m, r, words, at >= 0)
		if at >= 0 {
			c.cite(r, words, citations[at])
			citations = slices.Delete(slices.Clone(citations), at, at+1)
		}
	}
	if len(citations) > 0 {
		c.fail("cited_wrongly", &c.CitedWrongly, fmt.Sprintf("%d citations stand for no result", len(citations)))
	}
	return shown
}

// resultWords is the text of a result, without media.
func resultWords(r *pb.ToolResult) string {
	return strings.Join(recall.Result(r).Texts, "\n")
}

// cite counts a citation and puts it into the place of the result's words.
func (c *conversation) cite(r *pb.ToolResult, words string, with *pb.Citation) {
	weight, s := c.count(with.GetText()), &c.Citations
	s.Count++
	s.Before += int64(c.count(words))
	s.After += int64(weight)
	s.Largest = max(s.Largest, weight)
	if most := heaviest(words); weight > most {
		c.fail("citations_over_weight", &c.CitationsOverWeight, fmt.Sprintf("a citation weighs %d tokens, at most %d may", weight, most))
	}
	if got := int(with.GetTotalChars()); got != utf8.RuneCountInString(words) {
		c.fail("content_mismatches", &c.ContentMismatches, fmt.Sprintf("a citation says %d characters", got))
	}
	c.cited = append(c.cited, cited{message: len(c.appended) - 1, handle: with.GetContentId(), words: words})
	c.unasked = append(c.unasked, c.cited[len(c.cited)-1])
	replaced(r, with.GetText())
}

// replaced puts text in the place of a result's words. Media stay.
func replaced(r *pb.ToolResult, text string) {
	media := slices.DeleteFunc(slices.Clone(r.GetParts().GetParts()), func(p *pb.ToolResultPart) bool { return p.GetMedia() == nil })
	if len(media) == 0 {
		r.Output = &pb.ToolResult_Text{Text: text}
		return
	}
	words := &pb.ToolResultPart{Content: &pb.ToolResultPart_Text{Text: text}}
	r.Output = &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: append([]*pb.ToolResultPart{words}, media...)}}
}

// checkCited demands that what is long is cited where the policy says so, and
// what is not long never is. What weighs no more than a citation may stay.
func (c *conversation) checkCited(m *pb.Message, r *pb.ToolResult, words string, isCited bool) {
	chars, tool := utf8.RuneCountInString(words), r.GetName()
	if tool == "" {
		tool = c.names[r.GetCallId()]
	}
	may := chars > c.policy.citeLength() && r.GetRecalledFrom() == nil && !record.RecallTools(nil).Has(tool) && !m.GetPinned()
	switch {
	case isCited && !may:
		c.fail("cited_wrongly", &c.CitedWrongly, fmt.Sprintf("a result of %d characters is cited", chars))
	case !isCited && may && c.policy.cites() && c.count(words) > heaviest(words):
		c.fail("cited_wrongly", &c.CitedWrongly, fmt.Sprintf("a result of %d characters is not cited", chars))
	}
}

// heaviest is what a citation of a text weighs at most.
func heaviest(text string) int {
	if lists(text) {
		return listTokens
	}
	return citeTokens
}

// lists says whether a text is JSON with a list in it, two levels down at most,
// or value after value.
func lists(text string) bool {
	decoder := json.NewDecoder(strings.NewReader(text))
	var first json.RawMessage
	return decoder.Decode(&first) == nil && (hasList(first, listLevels) || first[0] == '{' && decoder.More())
}

// listLevels is how deep a list is looked for, and fewestRecords how many
// objects in one make a list of records by their keys.
const (
	listLevels    = 2
	fewestRecords = 3
)

// hasList says whether a value is a list, of items or of records by their keys,
// or has one so many levels down.
func hasList(value json.RawMessage, levels int) bool {
	var members map[string]json.RawMessage
	if value[0] != '{' || json.Unmarshal(value, &members) != nil {
		return value[0] == '['
	}
	records := 0
	for _, m := range members {
		if levels > 0 && hasList(m, levels-1) {
			return true
		}
		if m[0] == '{' {
			records++
		}
	}
	return records == len(members) && records >= fewestRecords
}

// readContents reads every content that was cited, and compares it with what
// was appended.
func (c *conversation) readContents(ctx context.Context) {
	for _, x := range c.cited {
		if ctx.Err() != nil {
			return
		}
		c.index = x.message
		if fault := c.readContent(ctx, x); fault != "" {
			c.fail("content_mismatches", &c.ContentMismatches, x.handle+": "+fault)
		}
	}
}

// readContent says what is wrong with a content that comes back, or "".
func (c *conversation) readContent(ctx context.Context, x cited) string {
	request := &pb.RetrieveContentRequest{
		ConversationId: c.id, ContentId: x.handle, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}, MaxReplyBytes: proto.Int32(dial.LargestReply),
	}
	var got bytes.Buffer
	for {
		response, err := c.contents.RetrieveContent(ctx, request)
		if err != nil {
			return describe(err)
		}
		got.Write(response.GetChunk())
		sum := sha256.Sum256(got.Bytes())
		switch source := response.GetSource(); {
		case response.GetNextPageToken() != "" && got.Len() < len(x.words):
			request.PageToken = response.GetNextPageToken()
			continue
		case got.String() != x.words:
			return "it is not what was appended"
		case source.GetSha256() != hex.EncodeToString(sum[:]):
			return "its SHA-256 is not that of the bytes"
		case !slices.Contains(source.GetCitedBy(), int32(x.message)):
			return "its source does not name the message"
		default:
			return ""
		}
	}
}

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
