package palimpsest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestCall_PassingErrors_AreTriedAgainUnderOneRequestID(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	f.fails = []error{status.Error(codes.Unavailable, "gone"), refusal(codes.Aborted, "CONTENTION")}
	c := p.Conversation("c1")
	c.User("hi")
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(f.ids) != 3 || f.ids[0] == "" || f.ids[0] != f.ids[1] || f.ids[1] != f.ids[2] || len(f.items) != 1 {
		t.Errorf("asked under %q, %d on record", f.ids, len(f.items))
	}
}

func TestCall_LastingError_IsTypedAndNotTriedAgain(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	f.fails = []error{refusal(codes.InvalidArgument, "INVALID_FIELD", &errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "items[0]", Description: "is empty"}},
	})}
	c := p.Conversation("c1")
	c.User("hi")
	err := c.Flush(t.Context())
	var e *Error
	if !errors.As(err, &e) || e.Reason != pb.ErrorReason_ERROR_REASON_INVALID_FIELD || e.Code != codes.InvalidArgument ||
		!slices.Equal(e.Violations, []Violation{{"items[0]", "is empty"}}) || e.Metadata["list_index"] != "3" {
		t.Errorf("failed with %#v", err)
	}
	if err.Error() != "palimpsest: INVALID_FIELD: refused; items[0]: is empty" || len(f.ids) != 1 {
		t.Errorf("failed with %q after %d tries", err, len(f.ids))
	}
	// What was refused waits no longer.
	if len(e.Refused) != 1 || e.Refused[0].Item.GetMessage().GetParts()[0].GetText() != "hi" || e.Refused[0].Message != "items[0]: is empty" {
		t.Errorf("given back: %v", e.Refused)
	}
	if err := c.Flush(t.Context()); err != nil || len(f.items) != 0 {
		t.Errorf("then: %v, %d on record, under %q", err, len(f.items), f.ids)
	}
}

// A request whose answer was lost goes on record once, also if more was said before it was asked for again.
func TestConversation_LostAnswer_GoesOnRecordOnce(t *testing.T) {
	t.Parallel()
	for _, more := range []bool{false, true} {
		f, p := newFake(t)
		f.lost, f.fails = true, []error{status.Error(codes.Canceled, "lost")}
		c := p.Conversation("c1")
		c.User("one")
		if _, err := c.OpenAI(t.Context(), Request{}); err == nil {
			t.Fatal("the answer was not lost")
		}
		want := 1
		if more {
			c.User("two")
			want = 2
		}
		if _, err := c.OpenAI(t.Context(), Request{}); err != nil {
			t.Fatal(err)
		}
		if len(f.items) != want || f.ids[0] != f.ids[1] {
			t.Errorf("more %v: %d on record, asked under %q", more, len(f.items), f.ids)
		}
	}
}

func TestCall_DeadlineOfTheClient_EndsTheTries(t *testing.T) {
	t.Parallel()
	f, p := newFake(t, WithTimeout(200*time.Millisecond))
	for range 100 {
		f.fails = append(f.fails, status.Error(codes.Unavailable, "gone"))
	}
	c := p.Conversation("c1")
	c.User("hi")
	begin := time.Now()
	if err := c.Flush(t.Context()); ReasonOf(err) != 0 || err == nil || time.Since(begin) > time.Second {
		t.Errorf("failed with %v after %v", err, time.Since(begin))
	}
}

func TestGreet_OlderSidecar_IsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sidecar, ours string
		refused       bool
	}{
		{"v1.1.9", "v1.2.0", true}, {"v1.2.0", "v1.2.0", false}, {"v1.10.0", "v1.2.0", false}, {"dev", "v1.2.0", false}, {"v1.0.0", "(devel)", false},
	} {
		f, p := newFake(t)
		f.version, p.version = c.sidecar, c.ours
		conv := p.Conversation("c1")
		conv.User("hi")
		if err := conv.Flush(t.Context()); errors.Is(err, ErrOlderSidecar) != c.refused || len(f.ids) == 1 == c.refused {
			t.Errorf("a sidecar %s for %s: %v", c.sidecar, c.ours, err)
		}
	}
}

func TestNew_Token_GoesWithCallsAndNeverOverNetworksInClear(t *testing.T) {
	t.Parallel()
	f, p := newFake(t, WithToken("secret"))
	if err := p.greet(t.Context(), p.timeout); err != nil || !slices.Equal(f.tokens, []string{"Bearer secret"}) {
		t.Errorf("%v, with %q", err, f.tokens)
	}
	if _, err := New("palimpsest.example:7171", WithToken("secret")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("without TLS: %v", err)
	}
}

func TestConversation_OpenAI_MakesTheWholeRequest(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1", WithPolicy(&pb.Policy{}))
	c.User("hi")
	body, err := c.OpenAI(t.Context(), Request{
		Model: "m", System: "S", Tools: json.RawMessage(`[{"x":1}]`), With: map[string]any{"stream": true},
		Build: &pb.BuildContextRequest{Budget: &pb.Budget{MaxContextTokens: proto.Int32(5)}},
	})
	want := `{"messages":[{"role":"user","content":"<b>"}],"model":"m","store":false,"stream":true}`
	if err != nil || string(body) != want {
		t.Errorf("%v: %s", err, body)
	}
	b := f.builds[0]
	if !b.GetComplete() || !b.GetRecallTools() || !b.GetPromptCache() || b.GetFixedInput().GetToolsJson() != `[{"x":1}]` ||
		b.GetFixedInput().GetSystemPrompt() != "S" || b.GetBudget().GetMaxContextTokens() != 5 || len(b.GetAppend().GetItems()) != 1 {
		t.Errorf("asked for %v", b)
	}
}

func TestConversation_Answer_RunsToolsSideBySideAndKeepsTheirOrder(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	second := make(chan struct{})
	type city struct{ City string }
	err := c.Answer(t.Context(), []Call{
		{ID: "1", Name: "slow"}, {ID: "2", Name: "fast", Arguments: json.RawMessage(`{"city":"Kraków"}`)}, {ID: "3", Name: "none"},
		{ID: "4", Name: "retrieve_content", Recalls: true}, {ID: "5", Name: "broken"}, {ID: "6", Name: "fast", Arguments: json.RawMessage(`[`)},
	}, map[string]Tool{
		"slow":   func(context.Context, json.RawMessage) (string, error) { <-second; return "slow", nil },
		"fast":   Func(func(_ context.Context, a city) (string, error) { close(second); return a.City, nil }),
		"broken": func(context.Context, json.RawMessage) (string, error) { panic("x") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i, item := range f.items {
		result := item.GetMessage().GetParts()[0].GetToolResult()
		failed := result.GetState() == pb.ToolResultState_TOOL_RESULT_STATE_ERROR
		if failed != slices.Contains([]int{2, 4, 5}, i) || (result.GetRecalledFrom() != nil) != (i == 3) {
			t.Errorf("result %d: %v", i, result)
		}
		texts = append(texts, result.GetText())
	}
	want := []string{"slow", "Kraków", "there is no tool none", "recalled", "the tool broke: x"}
	if len(texts) != 6 || !slices.Equal(texts[:5], want) {
		t.Errorf("results %q", texts)
	}
}

func TestConversation_Recall_KeepsItsSourceInTheResult(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	text, err := c.Recall(t.Context(), "retrieve_content", json.RawMessage(`{}`), "1")
	c.Result("1", text)
	c.Result("2", "other")
	if err != nil || text != "recalled" || c.Flush(t.Context()) != nil {
		t.Fatal(err, text)
	}
	for i, item := range f.items {
		if got := item.GetMessage().GetParts()[0].GetToolResult(); (got.GetRecalledFrom() != nil) != (i == 0) {
			t.Errorf("result %d: %v", i, got)
		}
	}
}

func TestConversation_DurableSteps_KeepsRepliesForTheBuild(t *testing.T) {
	t.Parallel()
	for format, reply := range map[Format]string{
		OpenAI:    `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"expand_message","arguments":"{\"id\":1}"}}]}}]}`,
		Responses: `{"output":[{"type":"reasoning"},{"type":"function_call","call_id":"1","name":"expand_message","arguments":"{\"id\":1}"}]}`,
		Anthropic: `{"content":[{"type":"tool_use","id":"1","name":"expand_message","input":{"id":1}}]}`,
		Gemini:    `{"candidates":[{"content":{"parts":[{"functionCall":{"id":"1","name":"expand_message","args":{"id":1}}}]}}]}`,
	} {
		f, p := newFake(t)
		c := p.Conversation("c1", WithDurableSteps())
		c.format = format
		calls, err := c.Add(t.Context(), json.RawMessage(reply))
		if err != nil || len(calls) != 1 || calls[0].ID != "1" || !calls[0].Recalls || string(calls[0].Arguments) != `{"id":1}` || len(f.ids) != 0 {
			t.Errorf("%s: %v %v, %d calls of the sidecar", format, calls, err, len(f.ids))
		}
	}
	// A call without an id has the sidecar's.
	f, p := newFake(t)
	f.calls = []*pb.AppendedCall{{ToolCall: &pb.ToolCall{CallId: "made", Name: "x"}}}
	c := p.Conversation("c1", WithDurableSteps())
	c.format = Gemini
	calls, err := c.Add(t.Context(), json.RawMessage(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x"}}]}}]}`))
	if err != nil || len(calls) != 1 || calls[0].ID != "made" {
		t.Errorf("%v %v", calls, err)
	}
}

func TestRecalls_Names_AreTheSidecarsOwn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"expand_message": true, "mcp__palimpsest__retrieve_content": true, "palimpsest.search_conversation": true, "palimpsest-search_memory": true,
		"my_expand_message": false, "mcp__other__retrieve_content": false, "palimpsestexpand_message": false, "get_weather": false,
	} {
		if recalls(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestTools_Formats_AreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{OpenAI, Responses, Anthropic, Gemini} {
		for _, memory := range []bool{false, true} {
			text, err := Tools(format, memory)
			if err != nil || !json.Valid(text) || strings.Contains(string(text), "search_memory") != memory {
				t.Errorf("%s, %v: %v", format, memory, err)
			}
		}
	}
	if _, err := Tools("other", false); err == nil {
		t.Error("there is a format other")
	}
}
