package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/messages"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/toolcalls"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

const (
	// DefaultAnswerTokens is what an answer to a call of a recall tool weighs at most, unless the request says otherwise.
	DefaultAnswerTokens = 2_000
	// besideTokens is how many of these tokens are reserved for what surrounds the text.
	besideTokens = 90
)

// AnswerToolCall answers a model's call of a recall tool with the result to append. If the call is wrong, the result tells the model
// so. Only failures that are not the model's fault are errors.
func (e *Engine) AnswerToolCall(ctx context.Context, r ToolCallRequest) (*ToolCallResult, error) {
	snap, err := e.txn.Read(ctx, r.Key, store.Query{Info: true})
	if err != nil {
		return nil, err
	}
	tool := snap.Info.Policy.Or(e.defaults).RecallTools().Meant(r.Call.Name)
	if tool == "" {
		return nil, noRecallTool()
	}
	counter, err := e.views.Counter(snap.Info.Counter)
	if err != nil {
		return nil, err
	}
	a := &answering{engine: e, key: r.Key, counter: counter, limit: cmp.Or(int(r.MaxTokens), DefaultAnswerTokens)}
	reply, err := a.answer(ctx, tool, &r.Call)
	out := &ToolCallResult{Result: conversation.ToolResult{
		CallID: r.Call.CallID, Name: r.Call.Name, State: conversation.ResultCompleted, Recalled: a.recalled,
	}}
	if err != nil {
		told, ok := forModel(err)
		if !ok {
			return nil, err
		}
		out.Result.State, reply = conversation.ResultError, answer{body: told}
	}
	out.Result.Text.Inline = a.assemble(reply)
	out.Tokens = int32(a.weigh(out.Result.Text.Inline))
	return out, nil
}

func noRecallTool() error {
	return conversation.Errorf(conversation.InvalidField, "the tool is none of those that recall").
		At("tool_call.name", fmt.Sprintf("must be or end with %s", strings.Join(conversation.RecallToolNames(), ", ")))
}

// forModel words an error for the model, if the model's call was wrong.
func forModel(err error) (string, bool) {
	switch conversation.KindOf(err) {
	case conversation.ContentNotFound, conversation.MessageNotFound, conversation.SummaryNotFound:
		return "Error: " + err.Error() + ": do not retry with it", true
	case conversation.ContentExpired, conversation.ContentNotText, conversation.OriginalErased, conversation.ExpansionTooLarge,
		conversation.InvalidField:
		return "Error: " + err.Error(), true
	default:
		return "", false
	}
}

// answering is the making of one answer.
type answering struct {
	engine   *Engine
	key      Key
	counter  tokens.Counter
	limit    int
	recalled *conversation.Recalled
}

// answer is a text for a model: what was recalled, and notes about it.
type answer struct {
	header string
	body   string
	footer string
}

// room is how many tokens the text may weigh.
func (a *answering) room() int { return max(a.limit-besideTokens, a.limit/4) }

func (a *answering) weigh(text string) int {
	n, _ := a.counter.Count(text)
	return n
}

// assemble assembles an answer within its limit, and shortens its text if needed.
func (a *answering) assemble(r answer) string {
	text := r.text()
	for room := a.room(); a.weigh(text) > a.limit && r.body != "" && room > 0; room = room * 3 / 4 {
		cut, err := contents.CutText([]byte(r.body), true, a.counter, room)
		if err != nil {
			cut = nil
		}
		r.body = string(cut)
		text = r.text()
	}
	return text
}

func (r *answer) text() string {
	var lines []string
	for _, s := range []string{r.header, r.body, r.footer} {
		if s != "" {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, "\n")
}

func (a *answering) answer(ctx context.Context, tool string, call *conversation.ToolCall) (answer, error) {
	if tool == conversation.ToolSearchMemory {
		a.recalled = &conversation.Recalled{Memories: true} // an error must not be cited either
	}
	args, err := toolcalls.Parse(tool, call.Arguments.Inline)
	if err != nil {
		return answer{}, err
	}
	switch tool {
	case conversation.ToolExpand:
		return a.expand(ctx, args)
	case conversation.ToolRetrieve:
		return a.retrieve(ctx, args)
	case conversation.ToolSearchMemory:
		return a.searchMemory(ctx, args)
	default:
		return a.search(ctx, args)
	}
}

// expand answers a call of expand_message.
func (a *answering) expand(ctx context.Context, args *toolcalls.Arguments) (answer, error) {
	if args.Summary > 0 {
		return a.expandSummary(ctx, args)
	}
	r := messages.ExpandRequest{Key: a.key, ReturnOnly: true, MaxTokens: int32(a.room())}
	if args.Index == nil {
		return answer{}, toolcalls.Invalid("id", "the number of a message, such as 12, or of a summary, such as s7, is needed")
	}
	r.Index = args.Index
	if args.Ranged {
		if args.From > view.MaxIndex {
			return answer{}, toolcalls.Invalid("start", "it is past any text")
		}
		r.Range = conversation.Range{First: int32(args.From), End: int32(min(args.End, view.MaxIndex))}
		switch args.Unit {
		case contents.ContentLines:
			r.Unit = messages.RangeLines
		case contents.ContentItems:
			r.Unit = messages.RangeItems
		case contents.ContentChars:
			r.Unit = messages.RangeChars
		default:
			return answer{}, toolcalls.Invalid("unit", "must be chars, lines or items")
		}
	}
	got, err := a.engine.Expand(ctx, r)
	if err != nil {
		return answer{}, err
	}
	a.recalled = &conversation.Recalled{Index: *r.Index}
	return a.expanded(got, *r.Index, args), nil
}

func (a *answering) expanded(got *messages.ExpandResult, index int32, args *toolcalls.Arguments) answer {
	m := &got.Message.Message
	out := answer{header: fmt.Sprintf("[Message %d, %s, %d characters]", index, m.Role, got.TotalChars), body: messages.MessageText(m.Parts)}
	unit := "characters"
	if args.Unit == contents.ContentItems && args.Ranged {
		unit = "items"
	}
	if s := got.Returned; s != nil {
		out.header = fmt.Sprintf("[Message %d, %s, %s %d-%d of %d characters in all]", index, m.Role, unit, s.First, s.End, got.TotalChars)
		if unit == "items" || args.Ranged {
			out.header = fmt.Sprintf("[Message %d, %s, %s %d-%d]", index, m.Role, unit, s.First, s.End)
		}
	}
	if got.Next != nil {
		word := "chars"
		if unit == "items" {
			word = "items"
		}
		out.footer = fmt.Sprintf("[More follows: %s with id %d, start %d, unit %s.]", conversation.ToolExpand, index, *got.Next, word)
	}
	return out
}

// expandSummary answers with what a summary stands for, message by message from an index on, as far as there is room.
func (a *answering) expandSummary(ctx context.Context, args *toolcalls.Arguments) (answer, error) {
	// A long message is shown by its beginning only, and takes that much of the page.
	const mostOfOne, perToken = 800, 4
	r := messages.ExpandRequest{
		Key: a.key, Summary: args.Summary, Limit: 100, MaxBytes: max(perToken*a.room(), mostOfOne),
		Size: func(m *messages.MessageInView) int { return min(len(messages.MessageText(m.Message.Parts)), mostOfOne) },
	}
	if args.Ranged {
		from := int32(min(args.From, view.MaxIndex))
		r.Cursor = &from
	}
	got, err := a.engine.Expand(ctx, r)
	if err != nil {
		return answer{}, err
	}
	share := max(a.room()/max(len(got.Children), 1), 40)
	var b strings.Builder
	next, room := got.Next, a.room()
	for i := range got.Children {
		line := a.child(&got.Children[i], share)
		if room -= a.weigh(line); room < 0 && i > 0 {
			next = &got.Children[i].Range.First
			break
		}
		b.WriteString(line)
	}
	out := answer{
		header: fmt.Sprintf("[Summary s%d stands for:]", args.Summary), body: strings.TrimRight(b.String(), "\n"),
		footer: fmt.Sprintf("[One in full: %s with its number.]", conversation.ToolExpand),
	}
	if next != nil {
		out.footer = fmt.Sprintf("[More follows: %s with id s%d, start %d. One in full: with its number.]", conversation.ToolExpand, args.Summary, *next)
	}
	return out, nil
}

func (a *answering) child(c *messages.ExpandedChild, share int) string {
	if c.Message == nil {
		return fmt.Sprintf("s%d: summary of messages %d-%d\n", c.Summary, c.Range.First, c.Range.End-1)
	}
	m := &c.Message.Message
	text := messages.MessageText(m.Parts)
	for i := range m.Parts {
		if call := m.Parts[i].Call; call != nil {
			text = strings.TrimLeft(text+"\n"+call.Name+"("+call.Arguments.Inline+")", "\n")
		}
	}
	cut, err := contents.CutText([]byte(text), true, a.counter, share)
	if err != nil {
		cut = nil
	}
	if len(cut) < len(text) {
		cut = append(slices.Clip(cut), "..."...)
	}
	return fmt.Sprintf("%d %s: %s\n", m.Index, m.Role, cut)
}

// retrieve answers a call of retrieve_content.
func (a *answering) retrieve(ctx context.Context, args *toolcalls.Arguments) (answer, error) {
	switch {
	case args.ContentID == "" && len(args.Terms) == 0:
		return answer{}, toolcalls.Invalid("content_id", "a handle such as c12-k3v9q2mz, or search_terms, is needed")
	case args.ContentID == "":
		return a.searchContents(ctx, args)
	}
	r := contents.RetrieveContentRequest{Key: a.key, ContentID: args.ContentID, MaxTokens: int32(a.room())}
	switch {
	case len(args.Terms) > 0:
		r.Excerpts = &contents.ExcerptQuery{Terms: args.Terms}
	case args.Ranged:
		r.Unit, r.From, r.End = args.Unit, args.From, args.End
	}
	got, err := a.engine.RetrieveContent(ctx, r)
	if err != nil {
		return answer{}, err
	}
	a.recalled = &conversation.Recalled{ContentID: args.ContentID}
	if r.Excerpts != nil {
		return formatPassages(got.Excerpts, "of "+args.ContentID), nil
	}
	return a.retrieved(got, &r), nil
}

func (a *answering) retrieved(got *contents.RetrieveContentResult, r *contents.RetrieveContentRequest) answer {
	s := &got.Source
	asked := map[contents.ContentUnit]string{contents.ContentChars: "chars", contents.ContentLines: "lines", contents.ContentItems: "items"}[r.Unit]
	if asked != "" {
		asked = fmt.Sprintf(" %s from %d,", asked, r.From)
	}
	out := answer{
		header: fmt.Sprintf("[%s,%s bytes %d-%d of %d]", s.ContentID, asked, got.Bytes[0], got.Bytes[1], s.Bytes), body: string(got.Chunk),
	}
	if r.Unit == contents.ContentItems {
		out.body = "[" + out.body + "]"
	}
	if got.Next != nil {
		unit := "bytes"
		if r.Unit == contents.ContentItems {
			unit = "items"
		}
		out.footer = fmt.Sprintf("[More follows: %s with start %d, unit %s. Search terms cost less.]", conversation.ToolRetrieve, *got.Next, unit)
	}
	return out
}

func (a *answering) searchContents(ctx context.Context, args *toolcalls.Arguments) (answer, error) {
	got, err := a.engine.SearchContent(ctx, contents.SearchContentRequest{
		Key: a.key, Query: contents.ExcerptQuery{Terms: args.Terms}, MaxTokens: int32(a.room() * 9 / 10),
	})
	if err != nil {
		return answer{}, err
	}
	if len(got.Excerpts) > 0 {
		a.recalled = &conversation.Recalled{ContentID: got.Excerpts[0].ContentID}
	}
	out := formatPassages(got.Excerpts, fmt.Sprintf("of %d contents", got.Searched))
	return out, nil
}

// formatPassages formats excerpts for a model.
func formatPassages(found []contents.ContentExcerpt, of string) answer {
	if len(found) == 0 {
		return answer{body: "[Nothing " + of + " answers these search terms. Try other words, or ask for a range.]"}
	}
	var b strings.Builder
	for i := range found {
		x := &found[i]
		fmt.Fprintf(&b, "%d. %s %s\n%s\n", i+1, x.ContentID, x.Location, x.Text)
	}
	return answer{header: fmt.Sprintf("[%d passages %s, best first]", len(found), of), body: strings.TrimRight(b.String(), "\n")}
}

// search answers a call of search_conversation.
func (a *answering) search(ctx context.Context, args *toolcalls.Arguments) (answer, error) {
	if args.Query == "" {
		return answer{}, toolcalls.Invalid("query", "what is looked for is needed")
	}
	got, err := a.engine.SearchMessages(ctx, messages.SearchMessagesRequest{
		Key: a.key, Query: args.Query, Range: conversation.Range{End: -1}, Limit: 10, SnippetChars: 300,
	})
	if err != nil {
		return answer{}, err
	}
	if len(got.Hits) == 0 {
		return answer{body: "[No message answers this. Try other words.]"}, nil
	}
	a.recalled = &conversation.Recalled{Index: got.Hits[0].Message.Index}
	var b strings.Builder
	told, room := 0, a.room()
	for i := range got.Hits {
		h := &got.Hits[i]
		line := fmt.Sprintf("%d %s %s: %s\n", h.Message.Index, h.Message.Role, h.Message.CreateTime.Format("2006-01-02 15:04"), h.Snippet)
		n := a.weigh(line)
		if n > room && told > 0 {
			break
		}
		room -= n
		told++
		b.WriteString(line)
	}
	return answer{
		header: fmt.Sprintf("[%d messages, best first: number, who, when, the part that answers]", told), body: strings.TrimRight(b.String(), "\n"),
		footer: fmt.Sprintf("[One in full: %s with its number.]", conversation.ToolExpand),
	}, nil
}

// ToolCallRequest is a model's call of a recall tool.
type ToolCallRequest struct {
	Key       store.Key
	Call      conversation.ToolCall // its arguments are inline
	MaxTokens int32                 // 0: the default
}

// ToolCallResult is the result to append.
type ToolCallResult struct {
	Result conversation.ToolResult
	Tokens int32
}
