package inspect

import (
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestContextCommand_Run_EverythingThatCanHappen(t *testing.T) {
	for _, c := range []struct {
		name, columns string
		ASCII         bool
		text          int
	}{{"context-80", "80", false, 60}, {"context-120", "120", false, 60}, {"context-ascii", "80", true, 60}, {"context-no-text", "80", true, 0}} {
		t.Run(c.name, func(t *testing.T) {
			command := &ContextCommand{Sidecar: story().flags(t), Conversation: "support-42", textWidth: textWidth{c.text}}
			command.ASCII = c.ASCII
			out, _, err := run(t, command, c.columns)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, out)
		})
	}
}

// TestContextCommand_Run_AsksAsTheAgentDid: another budget or model would show what no model is sent.
func TestContextCommand_Run_AsksAsTheAgentDid(t *testing.T) {
	f := story()
	if _, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "c"}, "80"); err != nil {
		t.Fatal(err)
	}
	if len(f.built) != 2 || f.built[0].GetFormat() != pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC || f.built[1].GetFormat() != pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
		t.Fatalf("asked %v", f.built)
	}
	for _, r := range f.built {
		if b := r.GetBudget(); r.GetModel() != "model-1" || b.GetMaxContextTokens() != 28_000 || b.GetContextWindowTokens() != 28_000 || b.GetReservedOutputTokens() != 0 {
			t.Errorf("asked %v", r)
		}
	}
}

func TestContextCommand_Run_FlagsWin(t *testing.T) {
	f := story()
	_, _, err := run(t, &ContextCommand{
		Sidecar: f.flags(t), Conversation: "c", Model: "other", Format: "neutral", Window: pointer(int32(9000)), Reserve: pointer(int32(1000)), Fixed: 70,
	}, "80")
	if err != nil {
		t.Fatal(err)
	}
	r := f.built[0]
	if b := r.GetBudget(); len(f.built) != 1 || r.GetModel() != "other" || b.GetContextWindowTokens() != 9000 || b.GetReservedOutputTokens() != 1000 ||
		b.MaxContextTokens != nil || r.GetFixedInput().GetTokens() != 70 {
		t.Errorf("asked %v", f.built)
	}
}

// TestContextCommand_Run_WindowAlone_LeavesTheReserveToTheSidecar: a reserve of the command's own could be more than the window.
func TestContextCommand_Run_WindowAlone_LeavesTheReserveToTheSidecar(t *testing.T) {
	f := story()
	_, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "c", Window: pointer(int32(8192))}, "80")
	if b := f.built[0].GetBudget(); err != nil || b.GetContextWindowTokens() != 8192 || b.ReservedOutputTokens != nil || b.MaxContextTokens != nil {
		t.Errorf("%v: asked %v", err, b)
	}
}

// TestContextCommand_Run_ToolsAtWork_ClosesCalls: what the agent waits for must not keep a person from looking.
func TestContextCommand_Run_ToolsAtWork_ClosesCalls(t *testing.T) {
	f := story()
	if _, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "c"}, "80"); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.built {
		if !r.GetCloseOpenCalls() || !r.GetDryRun() {
			t.Errorf("asked %v", r)
		}
	}
}

// TestContextCommand_Run_SaysNothingOfTheAgentsTools: the command does not know them, so it cannot say that they changed.
func TestContextCommand_Run_SaysNothingOfTheAgentsTools(t *testing.T) {
	for _, json := range []bool{false, true} {
		command := &ContextCommand{Sidecar: story().flags(t), Conversation: "c"}
		command.JSON = json
		out, _, err := run(t, command, "200")
		if err != nil || strings.Contains(out, "differ") || strings.Contains(out, "fixedInputChanged") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestContextCommand_Run_FiguresAddUp: all of them have the calibration factor, or none.
func TestContextCommand_Run_FiguresAddUp(t *testing.T) {
	f := story()
	f.build.Tokens = &pb.TokenReport{Fixed: 100, Messages: 300, Summaries: 200, Total: 800, Budget: 1000, Counter: "o200k", Factor: 2}
	f.build.Messages = f.build.GetMessages()[:2]
	f.build.Messages[0].Tokens, f.build.Messages[1].Tokens = 100, 200
	out, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "c"}, "200")
	for _, want := range []string{
		"800 of 1,000 tokens", "200 in 1 message, 400 in 1 summary, 200 in system prompt and tools", "o200k, all figures times 2.00", " 0  system      200 ", "s7  summary     400 ",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("no %q (%v) in\n%s", want, err, out)
		}
	}
}

func TestContextCommand_Run_EarlierBuild(t *testing.T) {
	f := story()
	f.manifest = &pb.GetManifestResponse{
		Manifest: &pb.Manifest{
			Id: "b9", Turn: 9, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, Model: "model-1", MessageCount: 50, EditSeq: 12, WindowStartIndex: 21,
			BudgetTokens: 28_000, TotalTokens: 27_999, Counter: "o200k", Factor: 0.98, PolicyHash: "0123456789abcdef", RendererVersion: 2, ContentSha256: "ab12", CreateTime: at(5),
		},
		Messages: f.build.GetMessages(),
	}
	out, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "support-42", Manifest: "b9", textWidth: textWidth{20}}, "80")
	if err != nil || len(f.built) != 0 {
		t.Fatalf("%v, built %v", err, f.built)
	}
	golden(t, "context-manifest", out)
}

func TestContext_ShortenedMessages_AreNotCalledFull(t *testing.T) {
	cut := func(m *pb.ContextMessage) *pb.ContextMessage { m.Shortened = true; return m }
	of := func(edit string, o *pb.Origin) *pb.ContextMessage {
		return cut(&pb.ContextMessage{EditId: edit, Origin: o})
	}
	summary := &pb.Origin{Source: &pb.Origin_SummaryId{SummaryId: "s7"}}
	one := &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: 1}}
	// The summary is cut; the messages of its range that are shown are not.
	forms := formsOf([]*pb.Decision{
		{StartIndex: 1, EndIndex: 10, Kind: pb.DecisionKind_DECISION_KIND_CLIPPED, SummaryId: "s7"},
		{StartIndex: 12, EndIndex: 13, Kind: pb.DecisionKind_DECISION_KIND_CLIPPED},
	})
	if len(forms) != 1 || forms[12] != "clipped" {
		t.Errorf("%v", forms)
	}
	for want, m := range map[string]*pb.ContextMessage{
		"summary, shortened e31": of("e31", summary),
		"shortened":              of("", one),
		"shortened e5":           of("e5", one),
	} {
		if got := shownAs(m, forms[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
