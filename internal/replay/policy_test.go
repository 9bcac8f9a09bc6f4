package replay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

func policyFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func loadPolicy(t *testing.T, content string) (*policy, error) {
	t.Helper()
	all, err := (&Command{Policy: []string{policyFile(t, content)}, Alone: true}).policies()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func TestCommand_Policies_Whole_IsRead(t *testing.T) {
	p, err := loadPolicy(t, `
conversation:
  expiration:
    results: &two {turns: 2, mode: compact, compact_length: 200}
  retention: {all_inputs: true}
  rewrite: {mode: eager, cold_after: 1m30s}
  fit: {max_context_tokens: 5000, max_result_percent: 10}
  max_wait: 0s
tools:
  bash: *two
  read: {turns: 0, mode: compact, compact_mode: ai_summary, compact_prompt_id: "42"}
  keep: {mode: none}
`)
	if err != nil {
		t.Fatal(err)
	}
	c := p.conversation
	if r := c.GetExpiration().GetResults(); r.GetTurns() != 2 || r.GetMode() != pb.ExpirationMode_EXPIRATION_MODE_COMPACT || r.GetCompactLength() != 200 {
		t.Errorf("results are %v", r)
	}
	if !c.GetRetention().GetAllInputs() || c.GetRewrite().GetMode() != pb.RewriteMode_REWRITE_MODE_EAGER ||
		c.GetRewrite().GetColdAfter().AsDuration().Seconds() != 90 || c.GetMaxWait() == nil {
		t.Errorf("the policy is %v", c)
	}
	if p.budget(8000) != 5000 || p.budget(4000) != 4000 || p.clipShare() != 10 {
		t.Errorf("B is %d, a result's share %d", p.budget(8000), p.clipShare())
	}
	if !proto.Equal(p.tools["bash"], c.GetExpiration().GetResults()) || p.tools["read"].GetCompactPromptId() != "42" ||
		p.tools["read"].Turns == nil || p.tools["keep"].GetMode() != pb.ExpirationMode_EXPIRATION_MODE_NONE {
		t.Errorf("tools are %v", p.tools)
	}
}

func TestCommand_Policies_WhatAReplayCannotTake_IsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"conversation: {ttl: 1h}":                               `the key "ttl" cannot be set here`,
		"conversation: {fit: {context_window_tokens: 9}}":       "--window says it",
		"conversation: {fit: {reserved_output_tokens: 9}}":      "--reserve says it",
		"conversation: {pruning: {erase_after: 9h}}":            "everything is read back",
		"tools: {bash: {preserve_original_content: false}}":     "everything is read back",
		"tools: {bash: {source: explicit}}":                     "the sidecar says it",
		"tools: {bash: {citations: {enabled: true}}}":           "a server's own file",
		"tools: {bash: {importance: low}}":                      "a server's own file",
		"conversation: {expiration: {results: {turns: later}}}": "policy.yaml:1",
	} {
		if _, err := loadPolicy(t, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

func TestCommand_Policies_None_IsAddedOnceUnlessAlone(t *testing.T) {
	for want, c := range map[string]*Command{
		"":                    {},
		"balanced none":       {Policy: []string{"balanced"}},
		"balanced":            {Policy: []string{"balanced"}, Alone: true},
		"none expiry":         {Policy: []string{"none", "expiry"}},
		"sliding expiry none": {Policy: []string{"sliding", "expiry"}},
	} {
		all, err := c.policies()
		var names []string
		for _, p := range all {
			if p != nil {
				names = append(names, p.name)
			}
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q, want %q: %v", got, want, err)
		}
	}
	for _, twice := range []string{"none", "balanced"} {
		if _, err := (&Command{Policy: []string{twice, "expiry", twice}}).policies(); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s twice: %v", twice, err)
		}
	}
}

func TestPolicy_Apply_NamesToolsByTheirCalls(t *testing.T) {
	turns := int32(3)
	p := &policy{conversation: &pb.Policy{}, tools: map[string]*pb.Expiration{"bash": {Turns: &turns}}}
	result := func(name string) *pb.Message {
		r := &pb.ToolResult{CallId: "c1", Name: name}
		return &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: r}}}}
	}
	for name, want := range map[string]bool{"": true, "bash": true, "read": false} {
		m := result(name)
		got := p.apply(m, map[string]string{"c1": "bash"})
		if has := got.GetParts()[0].GetToolResult().GetExpiration() != nil; has != want {
			t.Errorf("%q: an expiration %v, want %v", name, has, want)
		}
		if m.GetParts()[0].GetToolResult().GetExpiration() != nil {
			t.Error("the recording was changed")
		}
	}
	none := &policy{}
	if m := result("bash"); none.apply(m, nil) != m {
		t.Error("without a policy something was changed")
	}
}

// longer is a recording with one result that is long enough to expire.
var longer = strings.Replace(recorded, `"content":"package main // v1.2.3 of base_99"`, `"content":"package main // v1.2.3 `+strings.Repeat("x ", 600)+`"`, 1)

const compactAtOnce = "conversation: {expiration: {results: {turns: 0, mode: compact}}, rewrite: {mode: eager}}"

// compacting shows the result at index 3 short once it is not in the newest unit.
func compacting(after int) func([]*pb.Message) []*pb.Message {
	return func(m []*pb.Message) []*pb.Message {
		if len(m) < after {
			return m
		}
		out := append([]*pb.Message{}, m...)
		out[3] = proto.CloneOf(m[3])
		out[3].Parts[0].GetToolResult().Output = &pb.ToolResult_Text{Text: "package..."}
		return out
	}
}

func under(t *testing.T, content string) func(*Command) {
	return func(c *Command) { c.Policy, c.Alone = append(c.Policy, policyFile(t, content)), true }
}

func TestCommand_Run_Policy_IsJudgedByTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		after       int
		policy      string
		early, late bool
	}{
		"when it is due":       {6, compactAtOnce, false, false},
		"never":                {99, compactAtOnce, false, true},
		"too early":            {4, compactAtOnce, true, false},
		"of a tool that keeps": {6, compactAtOnce + "\ntools: {read: {mode: none}}", true, false},
		"of a tool alone":      {6, "tools: {read: {turns: 0, mode: remove}}", false, false},
		"put off":              {99, "conversation: {expiration: {results: {turns: 0, mode: remove}}}", false, false},
		"switched off":         {6, "conversation: {expiration: {enabled: false, results: {turns: 0, mode: remove}}}", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := played(t, &fake{messages: compacting(c.after)}, longer, under(t, c.policy))
			if (r.ExpiredEarly > 0) != c.early || (r.ExpiredLate > 0) != c.late || errors.Is(err, report.ErrJudged) != (c.early || c.late) {
				t.Errorf("early %d, late %d, %v, %+v", r.ExpiredEarly, r.ExpiredLate, err, r.Examples)
			}
			// The one that is short.
			if want := min(1, max(0, 7-c.after)); !c.early && r.Expansions != want {
				t.Errorf("%d messages were asked back, want %d", r.Expansions, want)
			}
		})
	}
}

func TestCommand_Run_Policy_IsComparedWithNone(t *testing.T) {
	f := &fake{messages: compacting(6)}
	r, err := played(t, f, longer, under(t, compactAtOnce), func(c *Command) { c.Alone = false })
	if len(r.Against) != 1 || r.Against[0].Builds != r.Builds || r.Against[0].TokensWith != r.TokensWith {
		t.Fatalf("%v, %+v", err, r)
	}
	// This sidecar shortens without a policy too, before the last message and
	// behind it, which is what the second replay is judged by.
	if none := r.Against[0]; !errors.Is(err, report.ErrJudged) || !strings.Contains(err.Error(), "under none: expired_early 2") || none.ExpiredEarly != 2 {
		t.Errorf("%v", err)
	}
	off := 0
	for id, p := range f.policies {
		if strings.HasSuffix(id, "-policy") {
			t.Error("the conversation that the policy was tried in is still there")
		}
		if e := p.GetExpiration(); e != nil && e.Enabled != nil && !e.GetEnabled() {
			off++
		}
	}
	if len(f.policies) != 2 || off != 1 {
		t.Errorf("policies are %v", f.policies)
	}
	if text := textOf(t, r); !strings.Contains(text, "The same recordings") || !strings.Contains(text, "done otherwise") == (r.LetGo.Degraded > 0) {
		t.Errorf("the report is\n%s", text)
	}
}

func TestCommand_Run_PolicyThatTheSidecarRefuses_EndsAtOnce(t *testing.T) {
	refused := status.Error(codes.InvalidArgument, "turns must be less")
	for name, f := range map[string]*fake{"conversation": {create: refused}, "tools: read": {append: refused}} {
		_, err := played(t, f, recorded, under(t, "tools: {read: {turns: 5, mode: remove}}"))
		if err == nil || !strings.Contains(err.Error(), name+": turns must be less") || errors.Is(err, report.ErrJudged) {
			t.Errorf("%v", err)
		}
	}
}

func TestRun_NewestUnit_MayNotBeShortenedWhereItFits(t *testing.T) {
	f := &fake{messages: func(m []*pb.Message) []*pb.Message {
		if len(m) != 4 {
			return m
		}
		out := append([]*pb.Message{}, m...)
		out[3] = proto.CloneOf(m[3])
		r := out[3].Parts[0].GetToolResult()
		r.Output = &pb.ToolResult_Text{Text: r.GetText()[:300]}
		return out
	}}
	if r, err := played(t, f, longer, func(c *Command) { c.Window = 128000 }); r.NewestUnitMissing != 1 || !errors.Is(err, report.ErrJudged) {
		t.Errorf("%v, %d missing", err, r.NewestUnitMissing)
	}
	if r, err := played(t, f, longer, func(c *Command) { c.Window = 1400 }); r.NewestUnitMissing != 0 || err != nil {
		t.Errorf("what may be clipped was missed: %v, %d missing, %+v", err, r.NewestUnitMissing, r.Examples)
	}
}
