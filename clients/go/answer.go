package palimpsest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Tool is a tool of the program's. What it fails with is told to the model,
// which may mend its call.
type Tool func(ctx context.Context, arguments json.RawMessage) (string, error)

// Func makes a tool of a function whose arguments are a struct, or whatever
// else JSON can be read into.
func Func[A any](f func(ctx context.Context, arguments A) (string, error)) Tool {
	return func(ctx context.Context, arguments json.RawMessage) (string, error) {
		var read A
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &read); err != nil {
				return "", fmt.Errorf("the arguments cannot be read: %w", err)
			}
		}
		return f(ctx, read)
	}
}

// Answer runs tools side by side; those that recall, the sidecar answers. The
// results go on record with the next build, in the order of the calls. What a
// tool fails with, or the sidecar, is told to the model. Answer itself fails if
// ctx ends, and keeps no result then.
func (c *Conversation) Answer(ctx context.Context, calls []Call, tools map[string]Tool) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	results, failures := make([]*pb.ToolResult, len(calls)), make([]error, len(calls))
	var running sync.WaitGroup
	for i, one := range calls {
		running.Go(func() { results[i], failures[i] = c.answered(ctx, one, tools) })
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, err := range failures {
		if err != nil {
			results[i] = failed(calls[i], err)
		}
		c.pending = append(c.pending, resultItem(results[i]))
	}
	return nil
}

func (c *Conversation) answered(ctx context.Context, one Call, tools map[string]Tool) (*pb.ToolResult, error) {
	run, ok := tools[one.Name]
	switch {
	case !ok && one.Recalls:
		return c.ask(ctx, one)
	case !ok:
		return nil, fmt.Errorf("there is no tool %s", one.Name)
	}
	text, err := guarded(ctx, run, one.Arguments)
	return resultOf(one, text), err
}

// guarded runs a tool that may panic: the others' results must not be lost with it.
func guarded(ctx context.Context, run Tool, arguments json.RawMessage) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool broke: %v", p)
		}
	}()
	return run(ctx, arguments)
}

// Recall returns the text for a call of a recall tool, for loops that run tools
// themselves. Result of that call then keeps what it was recalled from.
func (c *Conversation) Recall(ctx context.Context, name string, arguments json.RawMessage, callID string) (string, error) {
	if err := c.ready(ctx); err != nil {
		return "", err
	}
	result, err := c.ask(ctx, Call{ID: callID, Name: name, Arguments: arguments})
	if err != nil {
		return "", err
	}
	c.recalled[callID] = result
	return result.GetText(), nil
}

// Result takes the result of a call that the program answers itself. It goes on
// record with the next build.
func (c *Conversation) Result(callID, text string) {
	result, ok := c.recalled[callID]
	if !ok {
		result = resultOf(Call{ID: callID}, text)
	}
	delete(c.recalled, callID)
	c.pending = append(c.pending, resultItem(result))
}

func (c *Conversation) ask(ctx context.Context, one Call) (*pb.ToolResult, error) {
	answer, err := call(ctx, c.p, c.p.Raw.Context.AnswerToolCall, &pb.AnswerToolCallRequest{
		ConversationId: c.id,
		ToolCall:       &pb.ToolCall{CallId: one.ID, Name: one.Name, ArgumentsJson: string(one.Arguments)},
	})
	return answer.GetToolResult(), err
}

func resultOf(one Call, text string) *pb.ToolResult {
	return &pb.ToolResult{CallId: one.ID, Name: one.Name, Output: &pb.ToolResult_Text{Text: text}}
}

// failed is a result that says that the tool failed.
func failed(one Call, err error) *pb.ToolResult {
	result := resultOf(one, err.Error())
	result.State = pb.ToolResultState_TOOL_RESULT_STATE_ERROR
	return result
}

func resultItem(result *pb.ToolResult) *pb.BatchAppendItem {
	return &pb.BatchAppendItem{Message: &pb.Message{
		Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}},
	}}
}

// recalls says whether the sidecar answers a tool's calls: one of its own, or one under a prefix that says whose it is.
func recalls(name string) bool {
	for _, known := range []string{"expand_message", "retrieve_content", "search_conversation", "search_memory"} {
		prefix, ok := strings.CutSuffix(name, known)
		if ok && (prefix == "" || ownPrefix(prefix)) {
			return true
		}
	}
	return false
}

func ownPrefix(prefix string) bool {
	segments := strings.FieldsFunc(strings.ReplaceAll(prefix, "__", "/"), func(r rune) bool { return strings.ContainsRune("./-", r) })
	ends := strings.HasSuffix(prefix, "__") || strings.ContainsAny(prefix[len(prefix)-1:], "./-")
	return ends && slices.Contains(segments, "palimpsest")
}
