package demo

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// citedResult is what the agent remembers of a result that is cited in the conversation that cites.
type citedResult struct {
	index    int32
	citation *pb.Citation
	sum      [32]byte
	phrase   string // some words of it, to search for
}

// cite puts a message on record there, and remembers what was cited.
func (a *agent) cite(ctx context.Context, m *pb.Message) {
	receipt := a.citing.append(ctx, m, nil, "")
	for _, c := range receipt.GetCitations() { // the demo's messages hold one result each
		text := m.Parts[0].GetToolResult().GetText()
		a.cited = append(a.cited, citedResult{receipt.Index, c, sha256.Sum256([]byte(text)), landmark(text)})
	}
}

// landmarkWords is how many words of a line are searched for. A long word says what a line is about; an endless one cannot be read.
const landmarkWords = 6

var (
	longWord    = regexp.MustCompile(`(\pL[^\s\pL]*){8}`)
	endlessWord = regexp.MustCompile(`\S{33}`)
)

// landmark is a few words of a text, from beyond its middle: nothing that a citation shows. It is empty if nothing there has a name.
func landmark(text string) string {
	_, rest, _ := strings.Cut(text[len(text)*2/3:], "\n")
	for line := range strings.Lines(rest) {
		words := strings.Fields(line)
		words = words[:min(len(words), landmarkWords)]
		if phrase := strings.Join(words, " "); len(words) > 1 && longWord.MatchString(phrase) && !endlessWord.MatchString(phrase) {
			return phrase
		}
	}
	return ""
}

// largestCited is the largest that words are known of. Of pages that is not so: a passage shows their text, not what was appended.
func (a *agent) largestCited() (largest *citedResult) {
	for i := range a.cited {
		c := &a.cited[i]
		if c.phrase != "" && c.citation.ContentType != "text/html" && (largest == nil || c.citation.TotalBytes > largest.citation.TotalBytes) {
			largest = c
		}
	}
	return largest
}

// holds says whether a text holds words in their order, whatever white space stands between them.
func holds(text, words string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), words)
}

// precision is how exactly times are shown.
const precision = 100 * time.Microsecond

// How many lines are shown of the beginning of a citation and of an answer, and before and behind the line that was asked for.
const (
	citationLines = 5
	answerLines   = 2
	aroundLines   = 1
)

// showCitations shows the conversation in which large results are cited: what stands for the largest, what the model is answered when
// it asks for a part of it, and what that saves. The words it asks for must be in the answer, the answer in the next context, and the
// whole must come back as it was appended.
func (a *agent) showCitations(ctx context.Context) {
	of := a.largestCited()
	if of == nil {
		return
	}
	a.Rule("the same conversation, with large results cited")
	a.Paragraph("It was kept beside this one: results over 1,000 characters stay outside of the view from the start, and nothing is " +
		"rewritten later. Here is the largest, as the model sees it, and what it asks for.")
	e := &a.entries[of.index]
	a.Row("result", "", "#%d %s: %s, about %s tokens", of.index, e.label, terminal.Bytes(of.citation.TotalBytes), number(e.tokens))
	cited := linesOf(of.citation.Text)
	a.Block("cited as", cited, citationLines, len(cited)-1, len(cited))
	a.retrieve(ctx, of)
	a.readContent(ctx, of)
	l := &a.ledgers
	a.Wrapped("saved", sheet.Green, "%d results are cited. That keeps %s tokens out of the first %d contexts: %s were sent, %s in money, "+
		"instead of %s and %s in the same sidecar without citations.", len(a.cited), number(l.citing), l.turns,
		number(l.cited.sent), l.cited.money(), number(l.plain.sent), l.plain.money())
}

// retrieve asks for words of a cited result twice, as a model would, and goes on with the answer.
func (a *agent) retrieve(ctx context.Context, of *citedResult) {
	arguments, err := json.Marshal(map[string]any{"content_id": of.citation.ContentId, "search_terms": []string{of.phrase}})
	a.fail("writing a call", err)
	call := &pb.ToolCall{CallId: callID(0), Name: retrieveTool, ArgumentsJson: string(arguments)}
	a.Wrapped("model", sheet.Cyan, "%s %s", call.Name, call.ArgumentsJson)
	var answer *pb.AnswerToolCallResponse
	var took [2]time.Duration
	for i := range took {
		began := time.Now()
		answer, err = a.citing.contexts.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{ConversationId: a.citing.conversation, ToolCall: call})
		a.fail("asking for a passage", err)
		took[i] = time.Since(began).Round(precision)
	}
	a.Row("answer", sheet.Green, "%s tokens, in %s; asked again, in %s", number(answer.GetTokenCount()), took[0], took[1])
	said := answer.GetToolResult().GetText()
	lines := linesOf(said)
	at := slices.IndexFunc(lines, func(line string) bool { return holds(line, of.phrase) })
	if !holds(said, of.phrase) {
		a.fail("asking for a passage", errors.New("it is not in the answer"))
	}
	a.Block("", lines, answerLines, at-aroundLines, at+aroundLines+1)
	a.goOn(ctx, of, call, answer.GetToolResult())
}

// goOn puts a call and its answer on record, and builds the next context, which must show the passage.
func (a *agent) goOn(ctx context.Context, of *citedResult, call *pb.ToolCall, result *pb.ToolResult) {
	for _, m := range []*pb.Message{
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: call}}}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}},
	} {
		a.citing.append(ctx, m, nil, "")
	}
	view := a.citing.dryRun(ctx).GetMessages()
	if len(view) == 0 || !holds(view[len(view)-1].Parts[0].GetToolResult().GetText(), of.phrase) {
		a.fail("going on with the passage", errors.New("the context does not show it"))
	}
	t := a.citing.build(ctx, a.format).GetTokens()
	a.Row("context", "", "goes on with %s of %s tokens, and the passage in it", number(t.GetTotal()), number(t.GetBudget()))
}

// readContent reads all of a cited result and compares it with what was appended.
func (a *agent) readContent(ctx context.Context, of *citedResult) {
	began := time.Now()
	reply, err := a.citing.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
		ConversationId: a.citing.conversation, ContentId: of.citation.ContentId, MaxReplyBytes: proto.Int32(dial.LargestReply),
		Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}},
	})
	a.fail("reading a cited result", err)
	if sha256.Sum256(reply.GetChunk()) != of.sum {
		a.fail("reading a cited result", fmt.Errorf("that of message %d came back different", of.index))
	}
	a.proven("All of it was read again, %s bytes, in %s: SHA-256 equal, byte for byte.", number(of.citation.TotalBytes), time.Since(began).Round(precision))
}

// linesOf are the lines of a text that say anything.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}
