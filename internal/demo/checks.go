package demo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// citedResult is what the player remembers of a result that is cited in the conversation that cites.
type citedResult struct {
	index    int32
	citation *pb.Citation
	sum      [32]byte
	phrase   string // of it, to search for
}

// telling is a line of several words that is not long. A long word in it says what it is about.
var telling = regexp.MustCompile(`(?m)^\s*(\S{1,30} .{0,30}\pL{8}.{0,30})$`)

// keepLargest remembers the largest cited result that has a line to search for beyond its middle: nothing that a citation shows. It is
// no page: a passage shows its text, not what was appended.
func (p *player) keepLargest(index int32, c *pb.Citation, said string) {
	_, rest, _ := strings.Cut(said[len(said)*2/3:], "\n")
	line := telling.FindStringSubmatch(rest)
	if line != nil && c.GetContentType() != "text/html" && c.GetTotalBytes() > p.largest.citation.GetTotalBytes() {
		p.largest = citedResult{index, c, sha256.Sum256([]byte(said)), strings.TrimSpace(line[1])}
	}
}

// showCited shows the conversation in which large results are cited: what stands for the largest, what the model is answered when
// it asks for a part of it, and what that saves. The line it asks for must be in the answer, the answer in the next context, and
// the whole must come back as it was appended.
func (p *player) showCited(ctx context.Context) {
	of := &p.largest
	if of.citation == nil {
		return
	}
	p.Rule("the same conversation, with large results cited")
	p.Paragraph("It was kept beside this one: results over 1,000 characters stay outside of the view from the start, and nothing is " +
		"rewritten later. Here is the largest, as the model sees it, and what it asks for.")
	e := &p.entries[of.index]
	p.Row("result", "", "#%d %s: %s, about %s tokens", of.index, e.call, terminal.Bytes(e.bytes), number(e.tokens))
	lines := linesOf(of.citation.GetText())
	p.Block("cited as", lines, 5, len(lines)-1, len(lines))

	arguments := must(json.Marshal(map[string]any{"content_id": of.citation.GetContentId(), "search_terms": []string{of.phrase}}))
	call := &pb.ToolCall{CallId: callID(0), Name: retrieveTool, ArgumentsJson: string(arguments)}
	p.Wrapped("model", sheet.Cyan, "%s %s", call.Name, call.ArgumentsJson)
	var answer *pb.AnswerToolCallResponse
	ask := func() {
		answer = must(p.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{ConversationId: p.cited.id, ToolCall: call}))
	}
	first, again := timeOf(ask), timeOf(ask)
	p.Row("answer", sheet.Green, "%s tokens, in %s; asked again, in %s", number(answer.GetTokenCount()), first, again)
	passages := answer.GetToolResult().GetText()
	require(holds(passages, of.phrase), "%q is not in what was retrieved", of.phrase)
	lines = linesOf(passages)
	p.Block("", lines[:min(6, len(lines))], 6, 0, 0)
	for _, m := range []*pb.Message{
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: call}}}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: answer.GetToolResult()}}}},
	} {
		must(p.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: p.cited.id, Message: m}))
	}
	next := p.build(ctx, p.cited.id, pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, false)
	newest := next.GetMessages()[len(next.GetMessages())-1]
	require(holds(textOf(newest.GetParts()), of.phrase), "the next context does not show what was retrieved")
	p.Row("context", "", "goes on with %s of %s tokens, and the passage in it", number(next.GetTokens().GetTotal()), number(next.GetTokens().GetBudget()))

	var all []byte
	took := timeOf(func() {
		all = must(p.RetrieveContent(ctx, &pb.RetrieveContentRequest{
			ConversationId: p.cited.id, ContentId: of.citation.GetContentId(), MaxReplyBytes: proto.Int32(dial.LargestReply),
			Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}},
		})).GetChunk()
	})
	require(sha256.Sum256(all) == of.sum, "the cited result of message %d came back different", of.index)
	p.proven("All of it was read again, %s bytes, in %s: SHA-256 equal, byte for byte.", number(len(all)), took)
	p.Wrapped("saved", sheet.Green, "%d results are cited. That keeps %s tokens out of the first %d contexts: %s were sent, %s in money, "+
		"instead of %s and %s in the same sidecar without citations.", p.citations, number(p.cited.citing), p.cited.requests,
		number(p.cited.sent), p.cited.money(), number(p.plain.sent), p.plain.money())
}

// holds says whether a text holds a phrase, as a search finds it: in whatever case.
func holds(text, phrase string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(phrase))
}

// timeOf is how long something takes, as exactly as it is shown.
func timeOf(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began).Round(100 * time.Microsecond)
}

// proven prints what was just verified.
func (p *player) proven(format string, args ...any) { p.Wrapped("✓", sheet.Green, format, args...) }

// prove verifies what the sidecar promises, and prints it.
func (p *player) prove(ctx context.Context) {
	out, left, biggest := 0, 0, 0
	row := append([]rune(p.row), '·') // the answer to the last context
	for i := range p.entries {
		e := &p.entries[i]
		must(p.readBack(ctx, int32(i)))
		if !strings.ContainsRune("suat", row[i]) {
			out++
			left += e.bytes
		}
		if e.bytes > p.entries[biggest].bytes {
			biggest = i
		}
	}
	p.proven("The last context leaves out or shortens %d messages, %s: each was asked back just now, and all %d on record were read. "+
		"SHA-256 equal, byte for byte.", out, terminal.Bytes(left), len(p.entries))
	e := &p.entries[biggest]
	p.proven("The biggest: message %d, %s, %s bytes, about %s tokens. SHA-256 %x….", biggest, e.call, number(e.bytes), number(e.tokens), e.sum[:8])

	newest := ""
	for _, m := range p.view {
		newest = cmp.Or(m.GetOrigin().GetSummaryId(), newest)
	}
	if newest != "" {
		p.proven("Summary %s expands to the %d messages of its range: SHA-256 equal, byte for byte.", newest, p.expandSummary(ctx, newest))
	}
	require(textOf(p.view[0].GetParts()) == systemPrompt, "the last context does not begin with the system prompt as it was appended")
	p.proven("The system prompt stands in the last context as it was written.")

	then := p.early.GetRendered()
	again := must(p.GetManifest(ctx, &pb.GetManifestRequest{
		ConversationId: p.kept.id, ManifestId: p.early.GetManifestId(), MaxReplyBytes: proto.Int32(dial.LargestReply),
	})).GetRendered()
	require(again.GetContentSha256() == then.GetContentSha256() && bytes.Equal(again.GetMessagesJson(), then.GetMessagesJson()) &&
		bytes.Equal(again.GetSystemJson(), then.GetSystemJson()), "%s was built again and is different", p.early.GetManifestId())
	p.proven("The context of turn %d (%s) was built again: the same bytes, SHA-256 %.16s….", p.early.GetTurn(), p.early.GetManifestId(), then.GetContentSha256())
}

// readBack asks for a message as it was appended, as a model would, and compares it.
func (p *player) readBack(ctx context.Context, index int32) (*pb.Message, error) {
	reply, err := p.expand(ctx, &pb.ExpandMessageRequest{
		Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index}, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY,
	})
	if err == nil {
		p.same(reply.GetMessage())
	}
	return reply.GetMessage(), err
}

func (p *player) same(m *pb.Message) {
	require(fingerprint(m) == p.entries[m.GetIndex()].sum, "message %d came back different", m.GetIndex())
}

// expandSummary asks for everything that a summary stands for, down to the messages, and returns how many these are.
func (p *player) expandSummary(ctx context.Context, id string) (messages int) {
	for page, more := "", true; more; more = page != "" {
		reply := must(p.expand(ctx, &pb.ExpandMessageRequest{
			Target: &pb.ExpandMessageRequest_SummaryId{SummaryId: id}, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: page,
		}))
		for _, child := range reply.GetChildren() {
			if m := child.GetMessage(); m != nil {
				p.same(m)
				messages++
			} else {
				messages += p.expandSummary(ctx, child.GetSummaryId())
			}
		}
		page = reply.GetNextPageToken()
	}
	return messages
}

// fingerprint hashes a message's own content, without what plugins added.
func fingerprint(m *pb.Message) [32]byte {
	var said []string
	for _, part := range m.GetParts() {
		if part.GetPlugin() == "" {
			c, r := part.GetToolCall(), part.GetToolResult()
			said = append(said, part.GetText(), c.GetCallId(), c.GetName(), c.GetArgumentsJson(), r.GetCallId(), r.GetState().String(), r.GetText())
		}
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q", said))
}
