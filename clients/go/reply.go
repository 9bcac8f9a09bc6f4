package palimpsest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Call is a call of a tool that waits for its result.
type Call struct {
	ID   string
	Name string
	// Arguments are as the model wrote them, whether they are JSON or not.
	Arguments json.RawMessage
	// Recalls says that the sidecar answers it.
	Recalls bool
}

// Add puts a reply on record, as the provider answered the last request, with
// its usage, and returns the calls that wait for results. While the sidecar is
// away the reply waits, and goes on record with what comes next: the model need
// not be asked again.
func (c *Conversation) Add(ctx context.Context, reply json.RawMessage) ([]Call, error) {
	shape := pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_UNSPECIFIED
	if bytes.HasPrefix(bytes.TrimSpace(reply), []byte("[")) { // of a list the sidecar would think that it is the whole conversation
		shape = pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_MESSAGE
	}
	return c.add(ctx, c.format, reply, shape, false)
}

func (c *Conversation) add(
	ctx context.Context, format Format, reply json.RawMessage, shape pb.ProviderInputShape, aborted bool,
) ([]Call, error) {
	input, err := inputOf(format, reply, shape)
	if err != nil {
		return nil, err
	}
	input.Aborted = aborted
	item, n := &pb.BatchAppendItem{ProviderInput: input}, len(c.pending)
	if again := c.unsettled.is() && n > 0 && proto.Equal(c.pending[n-1], item); !again {
		c.pending = append(c.pending, item)
	}
	told, ok := callsOf(format, reply)
	if c.eachStep && !aborted && ok {
		return told, nil
	}
	appended, err := c.append(ctx)
	failed := (*Error)(nil)
	switch {
	case err == nil:
	case ctx.Err() != nil || !errors.As(err, &failed) || !failed.Passing() && !failed.away:
		return nil, err
	case c.lists || aborted: // whoever has a list has the calls too
		return nil, nil
	case !ok:
		return nil, err
	default:
		return told, nil
	}
	calls := make([]Call, 0, len(appended.GetCalls()))
	for _, a := range appended.GetCalls() {
		calls = append(calls, callOf(a.GetToolCall(), a.GetRecalls()))
	}
	return calls, nil
}

func callOf(call *pb.ToolCall, recalls bool) Call {
	return Call{ID: call.GetCallId(), Name: call.GetName(), Arguments: json.RawMessage(call.GetArgumentsJson()), Recalls: recalls}
}

// callsOf are the calls of a reply that is not on record yet, as the sidecar will read them; not ok where only the sidecar can say: Gemini
// gives calls no ids.
func callsOf(format Format, reply json.RawMessage) (calls []Call, ok bool) {
	found, err := map[Format]func(json.RawMessage) ([]Call, error){
		OpenAI: chatCalls, Responses: responsesCalls, Anthropic: anthropicCalls, Gemini: geminiCalls,
	}[format](reply)
	for i, c := range found {
		if c.ID == "" {
			return nil, false
		}
		found[i].Recalls = recalls(c.Name)
	}
	return found, err == nil
}

func chatCalls(reply json.RawMessage) (calls []Call, err error) {
	var r struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	err = json.Unmarshal(reply, &r)
	for _, choice := range r.Choices {
		for _, t := range choice.Message.ToolCalls {
			calls = append(calls, Call{ID: t.ID, Name: t.Function.Name, Arguments: json.RawMessage(t.Function.Arguments)})
		}
	}
	return calls, err
}

func responsesCalls(reply json.RawMessage) (calls []Call, err error) {
	var r struct {
		Output []struct {
			Type, Name, Arguments string
			CallID                string `json:"call_id"`
		}
	}
	err = json.Unmarshal(reply, &r)
	for _, item := range r.Output {
		if item.Type == "function_call" {
			calls = append(calls, Call{ID: item.CallID, Name: item.Name, Arguments: json.RawMessage(item.Arguments)})
		}
	}
	return calls, err
}

func anthropicCalls(reply json.RawMessage) (calls []Call, err error) {
	var r struct {
		Content []struct {
			Type, ID, Name string
			Input          json.RawMessage
		}
	}
	err = json.Unmarshal(reply, &r)
	for _, block := range r.Content {
		if block.Type == "tool_use" {
			calls = append(calls, Call{ID: block.ID, Name: block.Name, Arguments: block.Input})
		}
	}
	return calls, err
}

func geminiCalls(reply json.RawMessage) (calls []Call, err error) {
	var r struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					FunctionCall *struct {
						ID, Name string
						Args     json.RawMessage
					}
				}
			}
		}
	}
	err = json.Unmarshal(reply, &r)
	for _, candidate := range r.Candidates {
		for _, part := range candidate.Content.Parts {
			if f := part.FunctionCall; f != nil {
				calls = append(calls, Call{ID: f.ID, Name: f.Name, Arguments: f.Args})
			}
		}
	}
	return calls, err
}
