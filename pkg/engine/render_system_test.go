package engine_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Build_RenderSystem: the system prompt of the fixed input stands first in every format, counts once, and is not kept.
func TestEngine_Build_RenderSystem(t *testing.T) {
	const prompt = "You are \"kumquat\"."
	quoted, _ := json.Marshal(prompt)
	for f, first := range map[conversation.Format]string{
		conversation.FormatNeutral:         "",
		conversation.FormatOpenAIChat:      `[{"role":"system","content":` + string(quoted) + `},`,
		conversation.FormatOpenAIResponses: `[{"type":"message","role":"system","content":[{"type":"input_text","text":` + string(quoted) + `}]},`,
		conversation.FormatAnthropic:       `[{"type":"text","text":` + string(quoted) + `}`,
		conversation.FormatGemini:          `{"parts":[{"text":` + string(quoted) + `}`,
	} {
		for _, leading := range []bool{false, true} {
			b := newBench(1 << 20)
			if leading {
				b.append(t, "c", text(conversation.RoleSystem, "on record"))
			}
			b.append(t, "c", user("hello"))
			ask := func(change func(*engine.BuildRequest)) *engine.BuildResult {
				t.Helper()
				return b.asked(t, "c", 1000, func(r *engine.BuildRequest) {
					r.Format, r.SameTurn, r.Fixed = f, true, engine.FixedInput{SystemPrompt: prompt}
					change(r)
				})
			}
			plain := ask(func(*engine.BuildRequest) {})
			for _, with := range []*engine.BuildResult{
				ask(func(r *engine.BuildRequest) { r.Fixed.RenderSystem, r.DryRun = true, true }),
				ask(func(r *engine.BuildRequest) {
					r.Fixed.RenderSystem, r.Request = true, request("BuildContext", "r", "x")
				}),
				ask(func(r *engine.BuildRequest) {
					r.Fixed.RenderSystem, r.Request = true, request("BuildContext", "r", "x")
				}), // again
			} {
				shown := with.MessagesJSON
				if f == conversation.FormatAnthropic || f == conversation.FormatGemini {
					shown = with.System
				}
				switch {
				case f == conversation.FormatNeutral:
					if m := with.Messages[0]; len(with.Messages) != len(plain.Messages)+1 || m.Role != conversation.RoleSystem ||
						m.Parts[0].Text.Inline != prompt || m.Synthetic != "system_prompt" || m.Tokens != 0 {
						t.Errorf("neutral: %+v", with.Messages)
					}
				case !strings.HasPrefix(string(shown), first) || bytes.Count(slices.Concat(with.System, with.MessagesJSON), []byte("kumquat")) != 1:
					t.Errorf("format %d: %s", f, shown)
				}
				if with.Tokens.Total != plain.Tokens.Total || with.Blocks != plain.Blocks+1 || with.SHA256 == plain.SHA256 || with.Manifest.SHA256 != plain.Manifest.SHA256 {
					t.Errorf("format %d: %+v, without %+v", f, with, plain)
				}
				if !with.Duplicate && (with.Prefix.StableBlocks != with.Blocks || with.Prefix.PreviousBlocks != with.Blocks) {
					t.Errorf("format %d: %+v of %d blocks", f, with.Prefix, with.Blocks)
				}
				if last := len(with.Breakpoints) - 1; with.Breakpoints[last] != plain.Breakpoints[len(plain.Breakpoints)-1]+1 || !leading && with.Breakpoints[0] != 0 {
					t.Errorf("format %d: breakpoints %v, without %v", f, with.Breakpoints, plain.Breakpoints)
				}
			}
			if again := ask(func(*engine.BuildRequest) {}); again.SHA256 != plain.SHA256 || !bytes.Equal(again.MessagesJSON, plain.MessagesJSON) {
				t.Errorf("format %d: a prompt that was rendered stays: %s", f, again.MessagesJSON)
			}
		}
	}
}
