package engine_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// run is a recorded conversation.
type run struct {
	ID       string
	Messages []struct {
		Role       string
		Content    json.RawMessage
		ToolCalls  []recordedCall `json:"tool_calls"`
		ToolCallID string         `json:"tool_call_id"`
	}
}

type recordedCall struct {
	ID, Name  string
	Arguments json.RawMessage
}

// messages returns the messages of a run that a list can hold: without blank ones, and with calls and results of one name, so that Gemini's
// can be paired.
func (r *run) messages() []conversation.Message {
	var out []conversation.Message
	asked := map[string]bool{}
	for _, m := range r.Messages {
		said := jsonText(m.Content)
		switch {
		case m.Role == "tool" && asked[m.ToolCallID]:
			delete(asked, m.ToolCallID)
			out = append(out, result(m.ToolCallID, said))
			continue
		case m.Role == "tool", m.Role == "system":
			continue
		}
		role := conversation.RoleUser
		if m.Role == "assistant" {
			role = conversation.RoleAssistant
		}
		one := conversation.Message{Role: role}
		if strings.TrimSpace(said) != "" {
			one = text(role, said)
		}
		for _, c := range m.ToolCalls {
			p := call(c.ID).Parts[0]
			p.Call.Arguments.Inline, asked[c.ID] = argumentsOf(c.Arguments), true
			one.Parts = append(one.Parts, p)
		}
		if len(one.Parts) > 0 {
			out = append(out, one)
		}
	}
	return out
}

func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

func argumentsOf(raw json.RawMessage) string {
	s := jsonText(raw)
	var members map[string]any
	if json.Unmarshal([]byte(s), &members) != nil || members == nil {
		return marshal(object{"raw": s})
	}
	return s
}

// runs returns all recorded conversations, or a few of them if other tests run at the same time.
func runs(t *testing.T) []run {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordings.Path(t), "*", "conversations.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	every := 31
	if testlane.Alone() {
		every = 1
	}
	var out []run
	n := 0
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for ; lines.Scan(); n++ {
			var r run
			if n%every != 0 {
				continue
			}
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

// oneByOne appends each message by itself, in a format; false if the record refuses one.
func (b *bench) oneByOne(t *testing.T, f conversation.Format, messages []conversation.Message) bool {
	t.Helper()
	for _, m := range messages {
		own := []conversation.Message{m}
		if f != conversation.FormatGemini { // whose results have no ids
			own = b.readAlone(t, f, m)
		}
		if _, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: own}); err != nil {
			return false
		}
	}
	return true
}

// readAlone reads a provider's message by itself.
func (b *bench) readAlone(t *testing.T, f conversation.Format, m conversation.Message) []conversation.Message {
	t.Helper()
	in, err := b.ReadInput(f, &engine.ReadRequest{JSON: "[" + strings.Join(native(t, f, m), ",") + "]", Shape: 1})
	if err != nil {
		t.Fatal(err)
	}
	var own []conversation.Message
	for i := range in.Messages {
		own = append(own, in.Messages[i].Message)
	}
	return own
}

// TestEngine_Recordings_WholeListsAreTheRecord sends each recorded conversation as it grows, whole each time, in every format. The record
// must be the same as if each message were appended by itself. Then it cuts fronts off.
func TestEngine_Recordings_WholeListsAreTheRecord(t *testing.T) {
	t.Parallel()
	testlane.OneCaller(t)
	var told tally
	for i, r := range runs(t) {
		for n, f := range listFormats {
			if !testlane.Alone() && i%len(listFormats) != n {
				continue
			}
			told.play(t, f, r.messages())
		}
	}
	t.Logf("%d lists found, %d recordings the record refuses; of %d lists without their front %d are ambiguous (%.2f %%)",
		told.found, told.refused, told.cut, told.ambiguous, 100*float64(told.ambiguous)/float64(max(told.cut, 1)))
	if told.found == 0 || told.cut == 0 {
		t.Error("nothing was played")
	}
	if testlane.Alone() && 50*told.ambiguous > told.cut { // a few lists say little about this
		t.Error("more than 2 % are ambiguous")
	}
}

type tally struct{ found, refused, cut, ambiguous int }

func (y *tally) play(t *testing.T, f conversation.Format, messages []conversation.Message) {
	t.Helper()
	alone, whole := listBench(nil), listBench(nil)
	defer alone.Close()
	defer whole.Close()
	if !alone.oneByOne(t, f, messages) {
		y.refused++
		return
	}
	var list []string
	begins, sent := make([]int, len(messages)), 0 // elements before each message; messages on record
	for i, m := range messages {
		begins[i] = len(list)
		list = append(list, native(t, f, m)...)
		if i+1 < len(messages) && messages[i+1].Role != conversation.RoleAssistant {
			continue // a model is not called here
		}
		if len(messages)-i <= 2 {
			y.cutFronts(t, whole, f, messages[:sent], list, begins)
		}
		if _, err := whole.appendList(t, f, list); err != nil {
			t.Fatalf("message %d of %d: %v", i, len(messages), err)
		}
		y.found++
		sent = i + 1
	}
	if got, want := normal(whole.visible(t)), normal(alone.visible(t)); got != want {
		t.Errorf("the record differs:\n%s\n---\n%s", abbreviated(got), abbreviated(want))
	}
	if got, want := len(whole.visible(t)), len(alone.visible(t)); got != want {
		t.Errorf("%d messages, %d one by one", got, want)
	}
}

// cutFronts sends lists that begin at several places of the record. Each must build what the whole list builds.
func (y *tally) cutFronts(t *testing.T, b *bench, f conversation.Format, messages []conversation.Message, list []string, begins []int) {
	t.Helper()
	step := max(1, len(messages)/4)
	whole, err := b.dry(t, f, list)
	if err != nil {
		t.Fatal(err)
	}
	for k := step; k < len(messages); k += step {
		if messages[k].Role == conversation.RoleTool { // frameworks cut between units
			continue
		}
		got, err := b.dry(t, f, list[begins[k]:])
		y.cut++
		switch {
		case err == nil && got != whole:
			t.Errorf("a list without its first %d of %d messages builds something else", k, len(messages))
		case err == nil:
		case conversation.KindOf(err) == conversation.HistoryAmbiguous:
			y.ambiguous++
		default:
			t.Errorf("a list without its first %d of %d messages: %v", k, len(messages), err)
		}
	}
}

// dry returns what a build with a list would show.
func (b *bench) dry(t *testing.T, f conversation.Format, list []string) (string, error) {
	t.Helper()
	r, err := b.Step(ctx, engine.StepRequest{
		Build:  engine.BuildRequest{Key: keyOf("c"), Format: f, DryRun: true, CloseOpenCalls: true, Budget: budgetOf(10_000_000)},
		Append: engine.AppendRequest{History: b.historyOf(t, f, list, 0, "")},
	})
	if err != nil {
		return "", err
	}
	return string(r.MessagesJSON), nil
}
