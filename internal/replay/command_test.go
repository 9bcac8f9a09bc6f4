package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

func TestCommand_Run_HonestSidecar_PassesAndMeasures(t *testing.T) {
	r, err := played(t, &fake{}, recorded)
	if err != nil {
		t.Fatalf("%v: %+v", err, r.Examples)
	}
	if r.Conversations != 1 || r.Messages != 7 || r.Builds != 3 || r.Rewrites != 0 {
		t.Errorf("report is %+v", r)
	}
	if r.TokensWith != r.TokensWithout || r.TokensWith == 0 || r.CostWith != r.CostWithout || r.ReferenceRecall != 1 || r.MeanFill != 0 {
		t.Errorf("nothing was left out, so with and without must be alike: %+v", r)
	}
	if r.StablePrefixShare <= 0.3 || r.StablePrefixShare >= 1 {
		t.Errorf("stable prefix share %v", r.StablePrefixShare)
	}
}

func TestCommand_Run_WindowedSidecar_MeasuresLoss(t *testing.T) {
	f := &fake{messages: func(m []*pb.Message) []*pb.Message {
		if len(m) < 6 {
			return m
		}
		return append([]*pb.Message{m[0], m[1]}, m[5:]...)
	}}
	r, err := played(t, f, recorded)
	if err != nil {
		t.Fatalf("%v: %+v", err, r.Examples)
	}
	if r.Rewrites != 1 || r.TokensWith >= r.TokensWithout || r.FilledRoom != 4096 || r.FilledTokens == 0 {
		t.Errorf("report is %+v", r)
	}
	// The path is referred to in message 2, v1.2.3 in 4, order_77 and base_99 in
	// 6: the last one was lost before.
	if math.Abs(r.ReferenceRecall-0.75) > 1e-9 {
		t.Errorf("recall is %v, want 3 of 4", r.ReferenceRecall)
	}
}

// Each promise is broken once: a figure that cannot rise proves nothing.
func TestCommand_Run_BrokenPromise_IsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		fake   *fake
		window int32
		count  func(*report.Report) int
	}{
		"illegal":     {&fake{element: func(e map[string]any) { e["index"] = 1 }}, 4096, func(r *report.Report) int { return r.IllegalContexts }},
		"over budget": {&fake{}, 50, func(r *report.Report) int { return r.OverBudget }},
		"newest missing": {&fake{messages: func(m []*pb.Message) []*pb.Message {
			if m[len(m)-1].GetRole() == pb.Role_ROLE_USER {
				return m[:len(m)-1]
			}
			return m
		}}, 4096, func(r *report.Report) int { return r.NewestUnitMissing }},
		"newest cut": {&fake{element: func(e map[string]any) {
			if s, ok := e["content"].(string); ok && e["role"] == "user" {
				e["content"] = s[:4]
			}
		}}, 4096, func(r *report.Report) int { return r.NewestUnitMissing }},
		"prefix broken": {&fake{report: func(r *pb.BuildContextResponse) { r.Prefix.BrokenBy = 0 }, messages: lastTwo}, 4096,
			func(r *report.Report) int { return r.PrefixBroken }},
		"prefix overstated": {&fake{report: func(r *pb.BuildContextResponse) { r.Prefix.StableBlocks = 99 }}, 4096,
			func(r *report.Report) int { return r.PrefixBroken }},
		"hash":              {&fake{report: func(r *pb.BuildContextResponse) { r.Rendered.ContentSha256 = "00" }}, 4096, func(r *report.Report) int { return r.Errors }},
		"budget":            {&fake{report: func(r *pb.BuildContextResponse) { r.Tokens.Budget = 1 }}, 4096, func(r *report.Report) int { return r.Errors }},
		"build fails":       {&fake{build: errors.New("no")}, 4096, func(r *report.Report) int { return r.Errors }},
		"append fails":      {&fake{append: errors.New("no")}, 4096, func(r *report.Report) int { return r.Errors }},
		"refused for room":  {&fake{build: refusal(reasonCannotFit)}, 4096, func(r *report.Report) int { return r.WrongRefusals }},
		"refused as open":   {&fake{build: refusal(reasonPending)}, 4096, func(r *report.Report) int { return r.WrongRefusals }},
		"refused as none":   {&fake{build: refusal(reasonNone)}, 4096, func(r *report.Report) int { return r.WrongRefusals }},
		"refused as empty":  {&fake{build: refusal(reasonEmpty)}, 4096, func(r *report.Report) int { return r.WrongRefusals }},
		"refused an append": {&fake{append: refusal(reasonNoCall)}, 4096, func(r *report.Report) int { return r.WrongRefusals }},
		"another text": {&fake{read: func(m *pb.Message) {
			if m.GetIndex() == 5 {
				m.Parts[0].Content = &pb.Part_Text{Text: "other"}
			}
		}}, 4096, func(r *report.Report) int { return r.ReadbackMismatches }},
		"unexplained": {&fake{messages: firstLost, report: func(r *pb.BuildContextResponse) { r.Decisions = nil }}, 4096,
			func(r *report.Report) int { return r.Unexplained }},
		"savings":        {&fake{report: func(r *pb.BuildContextResponse) { r.Tokens.SavedByFit++ }}, 4096, func(r *report.Report) int { return r.SavingsMisstated }},
		"another turn":   {&fake{report: func(r *pb.BuildContextResponse) { r.Turn++ }}, 4096, func(r *report.Report) int { return r.Errors }},
		"another origin": {&fake{messages: firstLost, expand: otherText}, 4096, func(r *report.Report) int { return r.ExpansionMismatches }},
		"no origin":      {&fake{messages: firstLost, expand: neither}, 4096, func(r *report.Report) int { return r.ExpansionMismatches }},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := played(t, c.fake, recorded, func(cmd *Command) { cmd.Window = c.window })
			if c.count(r) == 0 || !errors.Is(err, report.ErrJudged) {
				t.Errorf("error %v, report %+v", err, r)
			}
			if len(r.Examples) == 0 {
				t.Error("no example")
			}
		})
	}
}

// firstLost leaves out the newest user message once it is not the newest.
func firstLost(m []*pb.Message) []*pb.Message {
	if len(m) < 6 {
		return m
	}
	return append([]*pb.Message{m[0]}, m[2:]...)
}

func otherText(m *pb.Message) error {
	m.Parts[0].Content = &pb.Part_Text{Text: "other"}
	return nil
}

func neither(*pb.Message) error { return errors.New("no") }

func lastTwo(m []*pb.Message) []*pb.Message {
	if len(m) < 5 {
		return m
	}
	return m[len(m)-1:]
}

func TestCommand_Run_RightRefusals_AreNoFault(t *testing.T) {
	const system = `{"messages":[{"role":"system","content":"s"},{"role":"assistant","content":" "}]}`
	const open = `{"messages":[{"role":"assistant","tool_calls":[{"id":"a","name":"x","arguments":"{}"}]},{"role":"assistant","content":"hi"}]}`
	for name, c := range map[string]struct{ reason, content string }{
		"empty":   {reasonEmpty, system},
		"pending": {reasonPending, strings.Replace(open, `[{"role":"assistant","tool`, `[{"role":"user","content":"u"},{"role":"assistant","tool`, 1)},
	} {
		r, _ := played(t, &fake{build: refusal(c.reason)}, c.content)
		if last := r.Refused[c.reason]; last == 0 || name == "empty" && r.WrongRefusals != 0 || name == "pending" && r.WrongRefusals != 2 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r, err := played(t, &fake{build: refusal(reasonCannotFit)}, recorded, func(c *Command) { c.Window = 20 })
	if err != nil || r.Refused[reasonCannotFit] != 3 || r.RefusedShare != 1 || r.AtEnd.Refused[reasonCannotFit] != 1 {
		t.Errorf("%v %+v", err, r)
	}
	if r, _ := played(t, &fake{}, system); r.WrongRefusals != 1 {
		t.Errorf("system messages alone were answered, and nobody minded: %+v", r)
	}
}

func TestCommand_Run_RawAndSample(t *testing.T) {
	three := recorded + "\n" + recorded + "\n" + recorded
	r, err := played(t, &fake{}, three, func(c *Command) { c.Sample, c.Raw = 2, true })
	if err != nil || r.Conversations != 2 {
		t.Errorf("%v, %d conversations", err, r.Conversations)
	}
	plain, err := played(t, &fake{}, three, func(c *Command) { c.Sample = 2 })
	if err != nil || plain.TokensWith >= r.TokensWith {
		t.Errorf("%v, raw output weighs no more: %d, %d", err, plain.TokensWith, r.TokensWith)
	}
}

func TestCommand_Run_BadFlags_AreRefused(t *testing.T) {
	for name, change := range map[string]func(*Command){
		"no room":     func(c *Command) { c.Reserve = 4096 },
		"no sample":   func(c *Command) { c.Sample = 0 },
		"no offset":   func(c *Command) { c.Offset = 1 },
		"other side":  func(c *Command) { c.Offset = -1 },
		"no join":     func(c *Command) { c.Join = 0 },
		"too few":     func(c *Command) { c.Join = 2 },
		"no workers":  func(c *Command) { c.Parallel = 0 },
		"no format":   func(c *Command) { c.Format = "morse" },
		"no file":     func(c *Command) { c.Files = []string{"absent.jsonl"} },
		"no contents": func(c *Command) { c.Files = nil },
	} {
		if _, err := played(t, &fake{}, recorded, change); err == nil || errors.Is(err, report.ErrJudged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommand_Run_Text_HoldsNoConversation(t *testing.T) {
	var out, progress bytes.Buffer
	f := &fake{element: func(e map[string]any) { e["index"] = 1 }}
	c := &Command{Files: []string{fileOf(t, recorded)}, Format: "openai-chat", Window: 4096, Sample: 1, Join: 1, Parallel: 1, ASCII: true}
	if err := c.Run(t.Context(), &Env{Start: f.start, Counter: o200k(), Stdout: &out, Stderr: &progress}); !errors.Is(err, report.ErrJudged) {
		t.Fatal(err)
	}
	for _, want := range []string{"illegal contexts", "<-- broken", "conversation c, message 2", "#"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "order_77") {
		t.Errorf("text of the conversation in\n%s", out.String())
	}
}

func TestReport_JSON_HasTheDocumentedKeys(t *testing.T) {
	raw, err := json.Marshal(report.NewTally(nil).Result())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`conversations messages builds refused refused_share wrong_refusals illegal_contexts over_budget
		newest_unit_missing prefix_broken errors readback_mismatches expansion_mismatches expansions expired_early expired_late
		pruned_early savings_misstated unexplained unreachable let_go compactions reached own_calls files tokens_without tokens_with mean_fill stable_prefix_share rewrites
		cost_without cost_with reference_recall content_recall foreign_content_recall append_ms build_ms examples`) {
		if !bytes.Contains(raw, []byte(`"`+key+`":`)) {
			t.Errorf("%s is missing", key)
		}
	}
}
