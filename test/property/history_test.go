package property

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// generator draws messages as real histories have them: ids that repeat, calls answered partly, late or never, empty texts,
// runs of one role, blocks of several providers, system messages anywhere.
type generator struct {
	t       *rapid.T
	n       int
	open    []string // calls of the newest unit without a result
	dead    []string // unanswered calls of closed units
	callIDs []string
}

func newGenerator(t *rapid.T) *generator {
	return &generator{t: t, callIDs: []string{"a", "b", "toolu_01", "call with spaces!", strings.Repeat("long", 30)}}
}

// mark is a word that stands nowhere else: what is looked for in a context.
func (g *generator) mark() string {
	g.n++
	return fmt.Sprintf("w%dx", g.n)
}

func (g *generator) message() conversation.Message {
	kinds := []string{"user", "user", "assistant", "calls", "calls", "more", "more", "aborted", "system"}
	if len(g.open) > 0 {
		kinds = append(kinds, "result", "result", "result", "result", "result", "result")
	}
	if len(g.dead) > 0 {
		kinds = append(kinds, "late")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(g.t, "kind"); kind {
	case "result":
		return g.results(&g.open)
	case "late":
		return g.results(&g.dead)
	case "assistant", "calls": // which may go on with what the assistant asks for
		return g.speech(kind)
	case "more":
		m := g.speech("assistant")
		if rapid.Bool().Draw(g.t, "silently") {
			m.Parts = nil
		}
		m.Parts = append(m.Parts, g.call())
		return m
	case "aborted":
		m := g.speech("calls")
		m.Tags = []string{"aborted"}
		g.close()
		return m
	default:
		g.close()
		return g.speech(kind)
	}
}

// close takes what waits for calls that a late result will answer.
func (g *generator) close() { g.dead, g.open = append(g.dead, g.open...), nil }

func (g *generator) speech(kind string) conversation.Message {
	m := conversation.Message{Role: conversation.RoleUser, Model: rapid.SampledFrom([]string{"", "m1", "m2"}).Draw(g.t, "model")}
	m.Pinned = rapid.IntRange(0, 19).Draw(g.t, "pinned") == 0
	m.Name = rapid.SampledFrom([]string{"", "", "", "", "Anna", "Jo </s> Ann", "x]\u2028[System message]", "李明"}).Draw(g.t, "name")
	switch kind {
	case "system":
		m.Role = conversation.RoleSystem
		m.Parts = g.texts(1)
	case "user":
		m.Parts = g.texts(2)
		if rapid.IntRange(0, 9).Draw(g.t, "media") == 0 {
			m.Parts = append(m.Parts, media())
		}
	default:
		m.Role = conversation.RoleAssistant
		m.Parts = append(g.foreign(), g.texts(1)...)
		if kind == "calls" {
			m.Parts = append(m.Parts, g.calls()...)
		}
	}
	return m
}

func media() conversation.Part {
	return conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{
		MIMEType: "image/png", Data: conversation.Content{Inline: "\x89PNG"},
	}}
}

func (g *generator) texts(most int) []conversation.Part {
	var parts []conversation.Part
	for range rapid.IntRange(1, most).Draw(g.t, "texts") {
		s := ""
		switch rapid.IntRange(0, 7).Draw(g.t, "text") {
		case 0:
		case 1:
			s = " \n"
		case 2:
			s = g.mark() + " \"quoted\" \u2028 \\ 你好 🏳️‍🌈 " + strings.Repeat("y", rapid.IntRange(0, 400).Draw(g.t, "length"))
		default:
			s = g.mark() + strings.Repeat(" word", rapid.IntRange(0, 40).Draw(g.t, "words"))
		}
		parts = append(parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}})
	}
	return parts
}

func (g *generator) foreign() []conversation.Part {
	var parts []conversation.Part
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(g.t, "foreign") {
		provider := rapid.SampledFrom([]string{"openai", "anthropic", "gemini", "other"}).Draw(g.t, "provider")
		signature := rapid.SampledFrom([]string{"", "c2lnbmF0dXJl"}).Draw(g.t, "signature")
		switch rapid.IntRange(0, 2).Draw(g.t, "block") {
		case 0:
			parts = append(parts, conversation.Part{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{
				Provider: provider, JSON: conversation.Content{Inline: rapid.SampledFrom(opaque).Draw(g.t, "opaque")},
			}})
		default:
			parts = append(parts, conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{
				Provider: provider, Text: conversation.Content{Inline: "thinking"}, Signature: conversation.Content{Inline: signature},
			}})
		}
	}
	return parts
}

var opaque = []string{
	`{"type":"redacted_thinking","data":"abc"}`, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`,
	`{"thought":true,"text":"hm","thoughtSignature":"c2ln"}`, `{}`, `{"type":"server_tool_use","id":"s1","name":"web","input":{}}`,
}

func (g *generator) calls() []conversation.Part {
	var parts []conversation.Part
	for range rapid.IntRange(1, 3).Draw(g.t, "calls") {
		parts = append(parts, g.call())
	}
	return parts
}

func (g *generator) call() conversation.Part {
	id := rapid.SampledFrom(g.callIDs).Draw(g.t, "call id")
	g.open = append(g.open, id)
	arguments := rapid.SampledFrom([]string{`{"q":"` + g.mark() + `"}`, `{}`, ``, `[1]`, `{"broken`, `"text"`, `null`}).Draw(g.t, "arguments")
	return conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
		CallID: id, Name: rapid.SampledFrom([]string{"search", "fs.read", "1st tool"}).Draw(g.t, "tool"),
		Arguments: conversation.Content{Inline: arguments},
	}}
}

// results answers some of the calls that wait, in any order, in one message.
func (g *generator) results(waiting *[]string) conversation.Message {
	m := conversation.Message{Role: conversation.RoleTool}
	for range rapid.IntRange(1, len(*waiting)).Draw(g.t, "results") {
		i := rapid.IntRange(0, len(*waiting)-1).Draw(g.t, "which")
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolResult, Result: g.result((*waiting)[i])})
		*waiting = append((*waiting)[:i:i], (*waiting)[i+1:]...)
	}
	return m
}

func (g *generator) result(id string) *conversation.ToolResult {
	r := &conversation.ToolResult{CallID: id, State: conversation.ResultState(rapid.IntRange(0, 2).Draw(g.t, "state"))}
	switch rapid.IntRange(0, 5).Draw(g.t, "output") {
	case 0:
	case 1:
		r.Output, r.Text.Inline = conversation.OutputJSON, rapid.SampledFrom([]string{`{"a":1}`, `[1,2]`, `null`, `"s"`}).Draw(g.t, "json")
	case 2:
		r.Output = conversation.OutputParts
		r.Parts = []conversation.ResultPart{{Text: conversation.Content{Inline: g.mark()}}, {Media: media().Media}}
	default:
		r.Text.Inline = g.mark() + " " + strings.Repeat("output ", rapid.SampledFrom([]int{0, 10, 100, 1000, 6000}).Draw(g.t, "size"))
	}
	return r
}

// model is the message in the words of the independent model.
func model(m *conversation.Message) validate.Message {
	out := validate.Message{Role: m.Role.String(), Name: m.Name, Pinned: m.Pinned, Aborted: slices.Contains(m.Tags, "aborted")}
	for i := range m.Parts {
		out.Items = append(out.Items, item(&m.Parts[i]))
	}
	return out
}

func item(p *conversation.Part) validate.Item {
	switch p.Kind {
	case conversation.PartMedia:
		return validate.Item{Kind: validate.Media, Media: 1}
	case conversation.PartToolCall:
		return validate.Item{Kind: validate.Call, ID: p.Call.CallID, Name: p.Call.Name, Texts: []string{p.Call.Arguments.Inline}}
	case conversation.PartReasoning:
		return validate.Item{Kind: validate.Reasoning, Texts: []string{p.Reasoning.Text.Inline}}
	case conversation.PartOpaque:
		return validate.Item{Kind: validate.Opaque, Texts: []string{p.Opaque.JSON.Inline}}
	case conversation.PartToolResult:
		it := validate.Item{Kind: validate.Result, ID: p.Result.CallID, Texts: []string{p.Result.Text.Inline}}
		for _, piece := range p.Result.Parts {
			if piece.Media != nil {
				it.Media++
			} else {
				it.Texts = append(it.Texts, piece.Text.Inline)
			}
		}
		return it
	default:
		return validate.Item{Kind: validate.Text, Texts: []string{p.Text.Inline}}
	}
}
