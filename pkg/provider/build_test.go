package provider_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
)

func formats() []provider.Format {
	return []provider.Format{neutral.New(), openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()}
}

// record is a record under construction: it fixes indices, ordinals and weights, as an append does.
type record struct {
	count    func(string) int
	items    []conversation.Item
	ordinals int32
	unit     int32 // where the newest unit begins
}

func chars4(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func newRecord() *record { return &record{count: chars4} }

func (r *record) add(role conversation.Role, parts ...conversation.Part) *record {
	m := &conversation.Message{Index: int32(len(r.items)), Role: role, Parts: parts, Tokens: 4}
	for i := range parts {
		p := &parts[i]
		if p.Kind == conversation.PartToolCall {
			r.ordinals++
			p.Call.Ordinal = r.ordinals
		}
		p.Tokens = r.weigh(p)
		m.Tokens += p.Tokens
	}
	if !r.joins(role) {
		r.unit = m.Index
	}
	m.Unit = r.unit + 1
	r.items = append(r.items, conversation.Item{Message: m, Parts: parts})
	return r
}

// joins reports whether a message belongs to the newest unit (behaviour §1).
func (r *record) joins(role conversation.Role) bool {
	if len(r.items) == 0 || !r.items[r.unit].Message.HasCalls() {
		return false
	}
	last := r.items[len(r.items)-1].Message.Role
	return role == conversation.RoleTool || role == conversation.RoleAssistant && last == conversation.RoleAssistant
}

func (r *record) system(s string) *record { return r.add(conversation.RoleSystem, text(s)) }
func (r *record) user(s string) *record   { return r.add(conversation.RoleUser, text(s)) }
func (r *record) assistant(parts ...conversation.Part) *record {
	return r.add(conversation.RoleAssistant, parts...)
}
func (r *record) tool(parts ...conversation.Part) *record {
	return r.add(conversation.RoleTool, parts...)
}

// by returns which model wrote the last message.
func (r *record) by(model string) *record {
	r.items[len(r.items)-1].Message.Model = model
	return r
}

// tagged tags the last message.
func (r *record) tagged(tags ...string) *record {
	r.items[len(r.items)-1].Message.Tags = tags
	return r
}

// named says who spoke the last message, which weighs more for it.
func (r *record) named(name string) *record {
	m := r.items[len(r.items)-1].Message
	m.Name = name
	if name != "" {
		m.Tokens += int32(r.count(provider.SpeakerLine(name)))
	}
	return r
}

func (r *record) weigh(p *conversation.Part) int32 {
	n := 0
	switch p.Kind {
	case conversation.PartText:
		n = r.count(p.Text.Inline)
	case conversation.PartMedia:
		n = 1600
	case conversation.PartToolCall:
		n = 6 + r.count(p.Call.Name) + r.count(p.Call.Arguments.Inline)
	case conversation.PartToolResult:
		n = r.count(p.Result.Text.Inline)
		for _, q := range p.Result.Parts {
			if n += r.count(q.Text.Inline); q.Media != nil {
				n += 1600
			}
		}
	case conversation.PartReasoning:
		if n = r.count(p.Reasoning.Text.Inline); n == 0 {
			n = r.count(p.Reasoning.Signature.Inline)
		}
	case conversation.PartOpaque:
		n = r.count(p.Opaque.JSON.Inline)
	}
	if p.Residue != nil {
		n += r.count(provider.WeighedResidue(p.Residue.JSON))
	}
	return int32(n)
}

func (r *record) units() []conversation.Unit { return conversation.Units(r.items, nil) }

func inline(s string) conversation.Content { return conversation.Content{Inline: s} }

func text(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: inline(s)}
}

func call(name, arguments string) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "x", Name: name, Arguments: inline(arguments)}}
}

// result answers the call with the ordinal.
func result(ordinal int32, name, s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
		CallID: "x", Name: name, State: conversation.ResultCompleted, Text: inline(s), Ordinal: ordinal,
	}}
}

func failed(p conversation.Part) conversation.Part {
	p.Result.State = conversation.ResultError
	return p
}

func asJSON(p conversation.Part) conversation.Part {
	p.Result.Output = conversation.OutputJSON
	return p
}

func several(p conversation.Part, parts ...conversation.ResultPart) conversation.Part {
	p.Result.Output, p.Result.Text, p.Result.Parts = conversation.OutputParts, conversation.Content{}, parts
	return p
}

func media(mime, data, uri string) conversation.Part {
	return conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: mime, Data: inline(data), URI: uri}}
}

func reasoning(from, model, s, signature string) conversation.Part {
	return conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{
		Provider: from, Model: model, Text: inline(s), Signature: inline(signature),
	}}
}

func opaque(from, json string) conversation.Part {
	return conversation.Part{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: from, JSON: inline(json)}}
}

// view is a context as the engine composes it.
type view struct {
	blocks  []provider.Block
	repairs []provider.Repair
}

func compose(f provider.Format, units []conversation.Unit, model string, count func(string) int) view {
	var v view
	write := func(neighbors []provider.Neighbors) (out []provider.UnitBlocks) {
		leading := true
		for i := range units {
			leading = leading && units[i].Summary == nil && units[i].Items[0].Message.Role == conversation.RoleSystem
			out = append(out, f.Unit(&units[i], provider.UnitContext{Model: model, Count: count, Neighbors: neighbors[i], Leading: leading}))
		}
		return out
	}
	for _, out := range write(provider.FindNeighbors(write(make([]provider.Neighbors, len(units))))) {
		v.blocks = append(v.blocks, out.Blocks...)
		v.repairs = append(v.repairs, out.Repairs...)
	}
	blocks, repairs := provider.Finish(f.Traits(), v.blocks, count)
	return view{blocks: blocks, repairs: append(v.repairs, repairs...)}
}

func (v view) tokens() (n int) {
	for i := range v.blocks {
		n += int(v.blocks[i].Tokens)
	}
	return n
}

func deep(n int) string {
	return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
}

// TestFormats_EveryFolder_IsHeldToTheTable: without this, nothing would check whether a new format is legal.
func TestFormats_EveryFolder_IsHeldToTheTable(t *testing.T) {
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range folders {
		if f.IsDir() && f.Name() != "testdata" {
			want = append(want, f.Name())
		}
	}
	for _, f := range formats() {
		got = append(got, strings.ReplaceAll(f.Traits().Name, "-", ""))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("tested are %v, and there are %v", got, want)
	}
}
