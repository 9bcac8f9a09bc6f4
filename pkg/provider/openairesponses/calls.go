package openairesponses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func residueKeys() []string {
	return []string{
		"role", "type", "file_id", "filename", "detail", "id", "status", "pending_safety_checks", "output", "item", "continues", "members",
	}
}

// The kinds of calls other than function calls: calls of tools that take text, and of tools that OpenAI defines and the caller runs.
const (
	custom     = "custom"
	computer   = "computer_call"
	localShell = "local_shell_call"
	shell      = "shell_call"
	applyPatch = "apply_patch_call"
)

// kindOf returns the kind of a call; empty for a function call, and for a call whose result cannot be written in its kind's form.
func (w *items) kindOf(p *conversation.Part) string { return kindOf(w.unit, p) }

func kindOf(s *provider.UnitWriter, p *conversation.Part) string {
	if p == nil {
		return ""
	}
	kept := s.Kept(p)
	does := provider.ReadFields(p.Call.Arguments.Inline)
	legal := false
	switch kind := kept.Text("type"); kind {
	case custom:
		return kind
	case computer:
		result := s.ResultOf(p.Call.Ordinal)
		legal = kept.Text("id") != "" && result != nil && screenshot(s, result) != nil
	case localShell:
		legal = kept.Text("id") != "" && does.Is("action", '{')
	case shell:
		legal = does.Is("action", '{')
	case applyPatch:
		legal = does.Is("operation", '{')
	}
	if !legal {
		return ""
	}
	return kept.Text("type")
}

func (w *items) call(p *conversation.Part) {
	kept := w.unit.Kept(p)
	switch kind := w.kindOf(p); kind {
	case "":
		w.function(p, kept)
	case custom:
		name, more := w.unit.ToolName(w.line.Index, p.Call.Name, provider.CleanName)
		out := w.unit.AppendCallID([]byte(`{"type":"custom_tool_call","call_id":`), p.Call)
		out = provider.AppendField(out, `,"name":`, name)
		out = append(provider.AppendField(out, `,"input":`, p.Call.Arguments.Inline), '}')
		w.item("custom_tool_call", w.withID(out, kept), p.Tokens+more)
	default:
		w.item(kind, action(w.unit, kind, p, kept), p.Tokens)
	}
}

func (w *items) function(p *conversation.Part, kept provider.Fields) {
	name, arguments, tokens := w.unit.Call(w.line.Index, p, provider.CleanName, provider.IsJSON)
	out := []byte(`{"type":"function_call","call_id":`)
	out = w.unit.AppendCallID(out, p.Call)
	out = provider.AppendField(out, `,"name":`, name)
	out = append(provider.AppendField(out, `,"arguments":`, arguments), '}')
	w.item("function_call", w.withID(out, kept), tokens)
}

// withID adds the members that were kept for a call. If an item came after reasoning, OpenAI refuses its id without that reasoning ("was
// provided without its required 'reasoning' item"), but accepts the item without an id.
func (w *items) withID(call []byte, kept provider.Fields) []byte {
	if !w.orphaned {
		call = kept.Append(call, '"', "id")
	}
	return kept.AppendUnread(kept.Append(call, '"', "status"), "members")
}

// action writes a call of a tool that OpenAI defines. The record has its action as arguments.
func action(s *provider.UnitWriter, kind string, p *conversation.Part, kept provider.Fields) []byte {
	out := append(s.AppendCallID([]byte(`{"type":"`+kind+`","call_id":`), p.Call), '}')
	if kind != shell && kept.Text("status") == "" {
		kept["status"] = []byte(`"completed"`)
	}
	if kind == computer && !kept.Is("pending_safety_checks", '[') {
		kept["pending_safety_checks"] = []byte("[]")
	}
	out = kept.Append(out, '"', "id", "status")
	out = kept.AppendUnread(kept.Append(out, '[', "pending_safety_checks"), "members")
	does := provider.ReadFields(p.Call.Arguments.Inline)
	return does.Append(does.Append(out, '{', "action", "operation"), '[', "actions")
}

// Result writes the output of a call, in the form of the call's kind.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	switch kind := kindOf(s, s.CallOf(r.Ordinal)); kind {
	case "":
		output(s, l, r, "function_call_output")
	case custom:
		output(s, l, r, "custom_tool_call_output")
	default:
		outcome(s, l, r, kind)
	}
}

// output writes the output of a caller's tool: as a list if it came as one, or if it holds media that OpenAI takes.
func output(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult, name string) {
	list := provider.ResultList{
		Role: name, Prefix: `{"type":"` + name + `","call_id":`, Key: `,"output":`, TextPrefix: `{"type":"input_text","text":`,
		Takes: writer{}.Takes, Media: appendMedia,
	}
	takes := func(p conversation.ResultPart) bool { return p.Media != nil && list.Takes(p.Media) }
	kept := s.Kept(&l.Parts[0])
	_ = json.Unmarshal(kept["output"], &list.Kept) // anything but such a list holds nothing about pieces
	if !kept.Is("output", '[') && !slices.ContainsFunc(r.Parts, takes) || !s.AddPieces(l, r, list, kept) {
		s.AddResult(l, r, name, list.Prefix, list.Key, kept)
	}
}

// outcome writes the output of a tool that OpenAI defines.
func outcome(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult, kind string) {
	p, name, id := &l.Parts[0], kind+"_output", "call_id"
	if kind == localShell {
		id = "id"
	}
	out := s.AppendCallID([]byte(`{"type":"`+name+`","`+id+`":`), l.Call)
	if kind == applyPatch {
		out = append(out, `,"status":"`+patchStatus(r)+`"`...)
	}
	more := int32(0)
	if kind == computer {
		out = append(append(out, `,"output":`...), screenshot(s, p)...)
	} else {
		var text string
		if text, more = s.ResultText(r, l.Index); kind == shell {
			out = append(append(out, `,"output":`...), shellOutput(text)...)
		} else if kind != applyPatch || text != "" { // an empty output may be left out
			out = provider.AppendField(out, `,"output":`, text)
		}
	}
	kept := s.Kept(p)
	out = append(out, '}')
	if kind != applyPatch { // only for apply_patch does the status say whether the call succeeded
		out = kept.Append(out, '"', "status")
	}
	if kind != localShell {
		out = kept.Append(out, '"', "id")
	}
	s.Add(l, name, kept.AppendUnread(out, "members"), p.Tokens+more)
}

func patchStatus(r *conversation.ToolResult) string {
	if r.State == conversation.ResultError {
		return "failed"
	}
	return "completed"
}

// screenshot writes the image of a result; nil if it has none that OpenAI takes.
func screenshot(s *provider.UnitWriter, p *conversation.Part) []byte {
	kept := s.Kept(p)
	if kept.Text("file_id") != "" {
		return kept.Append([]byte(`{"type":"computer_screenshot"}`), '"', "file_id")
	}
	for i := range p.Result.Parts {
		if m := p.Result.Parts[i].Media; m != nil && provider.IsImage(m.MIMEType) && provider.IsReachable(m) {
			return append(provider.AppendURL([]byte(`{"type":"computer_screenshot","image_url":`), m), '}')
		}
	}
	return nil
}

// shellOutput returns the output of a shell: as it came or as the output of a single command that succeeded.
func shellOutput(text string) []byte {
	if strings.HasPrefix(text, "[{") && provider.IsValue(text) {
		return []byte(text)
	}
	out := provider.AppendField(nil, `[{"stdout":`, text)
	return append(out, `,"stderr":"","outcome":{"type":"exit","exit_code":0}}]`...)
}
