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
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// citedResult is what the agent remembers of a result that is cited in the conversation that cites.
type citedResult struct {
	index    int32
	citation *pb.Citation
	sum      [32]byte
	phrase   string // some words of it, to search for
}

// cite puts a message on record there, and remembers what was cited.
func (a *agent) cite(ctx context.Context, m *pb.Message) error {
	receipt, err := a.citing.append(ctx, m, nil, "")
	if err != nil {
		return err
	}
	for _, c := range receipt.Citations { // the demo's messages hold one result each
		text := m.Parts[0].GetToolResult().GetText()
		a.cited = append(a.cited, citedResult{receipt.Index, c, sha256.Sum256([]byte(text)), landmark(text)})
	}
	return nil
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
func (a *agent) showCitations(ctx context.Context) error {
	of := a.largestCited()
	if of == nil {
		return nil
	}
	a.rule("the same conversation, with large results cited")
	a.paragraph("It was kept beside this one: results over 1,000 characters stay outside of the view from the start, and nothing is " +
		"rewritten later. Here is the largest, as the model sees it, and what it asks for.")
	e := &a.entries[of.index]
	a.line("result", "", "#%d %s: %s, about %s tokens", of.index, e.label, weight(of.citation.TotalBytes), number(e.tokens))
	cited := linesOf(of.citation.Text)
	a.block("cited as", cited, citationLines, len(cited)-1, len(cited))
	if err := a.retrieve(ctx, of); err != nil {
		return err
	}
	if err := a.readContent(ctx, of); err != nil {
		return fmt.Errorf("reading a cited result: %w", err)
	}
	l := &a.ledgers
	a.wrapped("saved", sheet.Green, "%d results are cited. That keeps %s tokens out of the first %d contexts: %s were sent, %s in money, "+
		"instead of %s and %s in the same sidecar without citations.", len(a.cited), number(l.citing), l.turns,
		number(l.cited.sent), l.cited.money(), number(l.plain.sent), l.plain.money())
	return nil
}

// retrieve asks for words of a cited result twice, as a model would, and goes on with the answer.
func (a *agent) retrieve(ctx context.Context, of *citedResult) error {
	arguments, err := json.Marshal(map[string]any{"content_id": of.citation.ContentId, "search_terms": []string{of.phrase}})
	if err != nil {
		return err
	}
	call := &pb.ToolCall{CallId: callID(0), Name: retrieveTool, ArgumentsJson: string(arguments)}
	a.wrapped("model", sheet.Cyan, "%s %s", call.Name, call.ArgumentsJson)
	var answer *pb.AnswerToolCallResponse
	var took [2]time.Duration
	for i := range took {
		began := time.Now()
		answer, err = a.citing.contexts.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{ConversationId: a.citing.conversation, ToolCall: call})
		if err != nil {
			return fmt.Errorf("asking for a passage: %w", err)
		}
		took[i] = time.Since(began).Round(precision)
	}
	a.line("answer", sheet.Green, "%s tokens, in %s; asked again, in %s", number(answer.TokenCount), took[0], took[1])
	lines := linesOf(answer.ToolResult.GetText())
	at := slices.IndexFunc(lines, func(line string) bool { return holds(line, of.phrase) })
	if !holds(answer.ToolResult.GetText(), of.phrase) {
		return errors.New("a passage that was asked for is not in the answer")
	}
	a.block("", lines, answerLines, at-aroundLines, at+aroundLines+1)
	return a.goOn(ctx, of, call, answer.ToolResult)
}

// goOn puts a call and its answer on record, and builds the next context.
func (a *agent) goOn(ctx context.Context, of *citedResult, call *pb.ToolCall, result *pb.ToolResult) error {
	for _, m := range []*pb.Message{
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: call}}}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}},
	} {
		if _, err := a.citing.append(ctx, m, nil, ""); err != nil {
			return fmt.Errorf("recording what was asked for: %w", err)
		}
	}
	view, err := a.citing.dryRun(ctx)
	if err != nil {
		return fmt.Errorf("looking at the context with the passage: %w", err)
	}
	if last := view.Messages[len(view.Messages)-1]; !holds(last.Parts[0].GetToolResult().GetText(), of.phrase) {
		return errors.New("the context does not show the passage")
	}
	built, err := a.citing.build(ctx, a.format)
	if err != nil {
		return fmt.Errorf("building the context with the passage: %w", err)
	}
	t := built.GetTokens()
	a.line("context", "", "goes on with %s of %s tokens, and the passage in it", number(t.GetTotal()), number(t.GetBudget()))
	return nil
}

// readContent reads all of a cited result and compares it with what was appended.
func (a *agent) readContent(ctx context.Context, of *citedResult) error {
	began := time.Now()
	reply, err := a.citing.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
		ConversationId: a.citing.conversation, ContentId: of.citation.ContentId, MaxReplyBytes: proto.Int32(maxReply),
		Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}},
	})
	if err != nil {
		return err
	}
	if sha256.Sum256(reply.Chunk) != of.sum {
		return fmt.Errorf("the content of message %d came back different", of.index)
	}
	a.proven("All of it was read again, %s bytes, in %s: SHA-256 equal, byte for byte.", number(of.citation.TotalBytes), time.Since(began).Round(precision))
	return nil
}

// linesOf are the lines of a text that say anything.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}
