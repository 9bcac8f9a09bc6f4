package demo

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// citedResult is what the agent remembers of a result that is cited in the conversation that cites.
type citedResult struct {
	index    int32
	citation *palimpsestv1.Citation
	sum      [32]byte
	phrase   string // some words of it, to look for
}

// openCiting begins the conversation in which large results are cited.
func (a *agent) openCiting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	_, err := a.citing.record.CreateConversation(ctx, &palimpsestv1.CreateConversationRequest{Conversation: &palimpsestv1.Conversation{
		Id: a.citing.conversation, Policy: &palimpsestv1.Policy{Citations: &palimpsestv1.CitationsPolicy{Enabled: proto.Bool(true)}},
	}})
	if err != nil {
		return fmt.Errorf("creating the conversation that cites: %w", err)
	}
	return nil
}

// cite puts a message on record there, and remembers what was cited.
func (a *agent) cite(ctx context.Context, m *palimpsestv1.Message) error {
	receipt, err := a.citing.append(ctx, m, nil, "")
	if err != nil {
		return err
	}
	for _, c := range receipt.Citations { // the demo's messages hold one result each
		text := m.Parts[0].GetToolResult().GetText()
		a.cited = append(a.cited, citedResult{
			index: receipt.Index, citation: c, sum: sha256.Sum256([]byte(text)), phrase: landmark(text),
		})
	}
	return nil
}

const (
	landmarkWords = 6
	// longWord is from how many letters on a word says what a line is about, and widestWord up to how many bytes it can be read.
	longWord   = 8
	widestWord = 32
)

// landmark is a few words of a text, from beyond its middle: nothing that a citation shows. It is empty if nothing there has a name.
func landmark(text string) string {
	_, rest, _ := strings.Cut(text[len(text)*2/3:], "\n")
	for line := range strings.Lines(rest) {
		words := strings.Fields(line)
		words = words[:min(len(words), landmarkWords)]
		if len(words) > 1 && slices.ContainsFunc(words, telling) && !slices.ContainsFunc(words, endless) {
			return strings.Join(words, " ")
		}
	}
	return ""
}

func telling(word string) bool {
	letters := 0
	for _, r := range word {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= longWord
}

func endless(word string) bool { return len(word) > widestWord }

// passage is what came back when the model asked for a part of a cited result.
type passage struct {
	of           *citedResult
	call         *palimpsestv1.ToolCall
	answer       *palimpsestv1.AnswerToolCallResponse
	first, again time.Duration
	whole        time.Duration // to read all of it
	build        *palimpsestv1.BuildContextResponse
}

// ask asks for words of the largest cited result, as a model would, and goes on with what comes back; it is nil if there is none.
// The words must be in the answer, the answer in the next context, and the whole must come back as it was appended.
func (a *agent) ask(ctx context.Context) (p *passage, err error) {
	p = &passage{of: a.largestCited()}
	if p.of == nil {
		return nil, nil
	}
	arguments, err := json.Marshal(map[string]any{"content_id": p.of.citation.ContentId, "search_terms": []string{p.of.phrase}})
	if err != nil {
		return nil, err
	}
	p.call = &palimpsestv1.ToolCall{CallId: callID(0), Name: retrieveTool, ArgumentsJson: string(arguments)}
	for _, took := range []*time.Duration{&p.first, &p.again} {
		if p.answer, *took, err = a.citing.answer(ctx, p.call); err != nil {
			return nil, fmt.Errorf("asking for a passage: %w", err)
		}
	}
	if !holds(p.answer.ToolResult.GetText(), p.of.phrase) {
		return nil, errors.New("a passage that was asked for is not in the answer")
	}
	if err := a.goOn(ctx, p); err != nil {
		return nil, err
	}
	return p, a.readWhole(ctx, p)
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

// goOn puts the call and its answer on record, and builds the next context.
func (a *agent) goOn(ctx context.Context, p *passage) error {
	for _, m := range []*palimpsestv1.Message{
		{Role: palimpsestv1.Role_ROLE_ASSISTANT, Parts: []*palimpsestv1.Part{{Content: &palimpsestv1.Part_ToolCall{ToolCall: p.call}}}},
		{Role: palimpsestv1.Role_ROLE_TOOL, Parts: []*palimpsestv1.Part{{Content: &palimpsestv1.Part_ToolResult{ToolResult: p.answer.ToolResult}}}},
	} {
		if _, err := a.citing.append(ctx, m, nil, ""); err != nil {
			return fmt.Errorf("recording what was asked for: %w", err)
		}
	}
	view, err := a.citing.look(ctx)
	if err != nil {
		return fmt.Errorf("looking at the context with the passage: %w", err)
	}
	if last := view.Messages[len(view.Messages)-1]; !holds(last.Parts[0].GetToolResult().GetText(), p.of.phrase) {
		return errors.New("the context does not show the passage")
	}
	if p.build, err = a.citing.build(ctx, a.format); err != nil {
		return fmt.Errorf("building the context with the passage: %w", err)
	}
	return nil
}

// readWhole reads all of the content and compares it with what was appended.
func (a *agent) readWhole(ctx context.Context, p *passage) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	began := time.Now()
	stream, err := a.citing.contents.StreamContent(ctx, &palimpsestv1.StreamContentRequest{
		ConversationId: a.citing.conversation, ContentId: p.of.citation.ContentId,
	})
	if err != nil {
		return fmt.Errorf("reading a cited result: %w", err)
	}
	sum := sha256.New()
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading a cited result: %w", err)
		}
		sum.Write(piece.Chunk)
	}
	p.whole = time.Since(began)
	if [32]byte(sum.Sum(nil)) != p.of.sum {
		return fmt.Errorf("the content of message %d came back different", p.of.index)
	}
	return nil
}
