package dialects

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const leastSequences = 12 // of each provider

// TestSequences_EveryProvider_HasTwelve: and each says where it is from.
func TestSequences_EveryProvider_HasTwelve(t *testing.T) {
	count := map[string]int{}
	for _, name := range sequences(t) {
		f := read[fixture](t, "testdata/"+name+".json")
		count[f.Format]++
		if folder, _, _ := strings.Cut(name, "/"); folder != f.Format || !f.Source.complete() {
			t.Errorf("%s: format %q, source %+v", name, f.Format, f.Source)
		}
	}
	for format := range formats {
		if format != "neutral" && count[format] < leastSequences {
			t.Errorf("%s has %d sequences", format, count[format])
		}
	}
}

// TestSequences_AnyWriter_GoBackAsTheyCame: the next request is what somebody would send who keeps the history by hand as the provider's
// page says, whoever wrote the JSON of the steps; in other formats it is legal; and a sidecar that is started again gives the same bytes.
func TestSequences_AnyWriter_GoBackAsTheyCame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "palimpsest.db")
	w := start(t, file)
	defer func() { w.close() }()
	first := map[string]*pb.BuildContextResponse{}
	for _, name := range sequences(t) {
		f := read[fixture](t, "testdata/"+name+".json")
		t.Run(name, func(t *testing.T) {
			for hand, write := range hands {
				t.Run(hand, func(t *testing.T) {
					id := name + " " + hand
					built := w.play(t, id, f, write)
					wantSent(t, f, built, hand)
					first[id] = built
				})
			}
		})
	}
	w.close()
	w = start(t, file)
	for _, name := range sequences(t) {
		f := read[fixture](t, "testdata/"+name+".json")
		for hand := range hands {
			id := name + " " + hand
			if before := first[id]; before != nil {
				if again := w.build(t, id, f.Format, f.Model); !bytes.Equal(again.GetRendered().GetMessagesJson(), before.GetRendered().GetMessagesJson()) {
					t.Errorf("%s: another context after a restart", id)
				}
			}
		}
	}
}

// TestSequences_LaterVersions_GoBackWithTheirMembers: what the model says goes back with members that nobody knows yet, where they came; but
// to APIs that are known to refuse them (pkg/provider, dialects.go), which is only Mistral's.
func TestSequences_LaterVersions_GoBackWithTheirMembers(t *testing.T) {
	w := start(t, filepath.Join(t.TempDir(), "palimpsest.db"))
	defer w.close()
	for _, name := range sequences(t) {
		f := read[fixture](t, "testdata/"+name+".json")
		if f.Source.SDK == "mistralai" || strings.HasSuffix(name, "/old_function_call") { // whose calls are written in today's way
			continue
		}
		t.Run(name, func(t *testing.T) {
			write := func(n node) []byte { return writer{plainly}.text(laterStep(f.Format, n)) }
			for i, e := range f.Sent {
				if o, ok := parse(t, e).(object); ok && byModel(o) {
					f.Sent[i] = writer{plainly}.text(later(f.Format, o))
				}
			}
			wantSent(t, f, w.play(t, name, f, write), "later")
		})
	}
}

// byModel reports whether the model wrote what is sent.
func byModel(o object) bool {
	kind, _ := o.get("type").(string)
	role := o.get("role")
	own := strings.HasSuffix(kind, "_call_output") || kind == "tool_search_output" && o.get("execution") == "client"
	return role == "assistant" || role == "model" || role == nil && !own &&
		!slices.Contains([]string{"mcp_approval_response", "configuration_update"}, kind)
}

// play appends the steps, and builds as an agent does: before each answer, and in the end; then once in every other format.
func (w *world) play(t *testing.T, id string, f *fixture, write func(node) []byte) *pb.BuildContextResponse {
	t.Helper()
	for i, s := range f.Steps {
		if s.Response != nil && i > 0 {
			w.judged(t, id, f.Format, f.Model)
		}
		w.append(t, id, f, rewritten(t, s, write))
	}
	built := w.judged(t, id, f.Format, f.Model)
	for format, other := range formats {
		if format != f.Format {
			w.judged(t, id, format, other.model)
		}
	}
	return built
}

func rewritten(t *testing.T, s step, write func(node) []byte) step {
	t.Helper()
	if s.Response != nil {
		return step{Response: write(parse(t, s.Response))}
	}
	return step{Message: write(parse(t, s.Message))}
}

// judged is a context that its provider takes.
func (w *world) judged(t *testing.T, id, format, model string) *pb.BuildContextResponse {
	t.Helper()
	built := w.build(t, id, format, model)
	system, messages := built.GetRendered().GetSystemJson(), built.GetRendered().GetMessagesJson()
	if format == "neutral" {
		messages = neutralJSON(t, built.GetMessages())
	}
	violations, err := validate.Check(formats[format].judge, system, messages)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("%s: %s", format, v)
	}
	return built
}

// wantSent compares a context with what is to be sent.
func wantSent(t *testing.T, f *fixture, built *pb.BuildContextResponse, hand string) {
	t.Helper()
	var want []node
	for _, e := range f.Sent {
		want = append(want, parse(t, e))
	}
	got, _ := parse(t, built.GetRendered().GetMessagesJson()).([]node)
	if hand == "unknown members" {
		got, _ = without(got, unknown).([]node)
	}
	if d := difference(canonical(f.Format, got), canonical(f.Format, want)); d != "" {
		t.Error(d)
	}
	if f.System != nil && sorted(parse(t, f.System)) != sorted(parse(t, built.GetRendered().GetSystemJson())) {
		t.Errorf("the system prompt is %s, not %s", built.GetRendered().GetSystemJson(), f.System)
	}
}

// neutralJSON writes neutral messages as the judge reads them.
func neutralJSON(t *testing.T, messages []*pb.ContextMessage) []byte {
	t.Helper()
	type message struct {
		Role  string          `json:"role"`
		Parts []validate.Item `json:"parts"`
	}
	out := make([]message, len(messages))
	for i, m := range messages {
		out[i].Role = strings.ToLower(strings.TrimPrefix(m.GetRole().String(), "ROLE_"))
		for _, p := range m.GetParts() {
			out[i].Parts = append(out[i].Parts, itemOf(p))
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// itemOf is a part as the judge reads it.
func itemOf(p *pb.Part) validate.Item {
	switch v := p.GetContent().(type) {
	case *pb.Part_Text:
		return validate.Item{Kind: validate.Text, Texts: []string{v.Text}}
	case *pb.Part_ToolCall:
		return validate.Item{Kind: validate.Call, ID: v.ToolCall.GetCallId(), Name: v.ToolCall.GetName(), Texts: []string{v.ToolCall.GetArgumentsJson()}}
	case *pb.Part_ToolResult:
		return validate.Item{Kind: validate.Result, ID: v.ToolResult.GetCallId(), Name: v.ToolResult.GetName(), Texts: []string{v.ToolResult.GetText()}}
	case *pb.Part_Media:
		return validate.Item{Kind: validate.Media, Media: 1}
	case *pb.Part_Reasoning:
		return validate.Item{Kind: validate.Reasoning}
	default:
		return validate.Item{Kind: validate.Opaque}
	}
}
