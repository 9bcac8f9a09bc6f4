package provider_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func FuzzReader_Read_OpenAIChat(f *testing.F)      { fuzzReader(f, conversation.FormatOpenAIChat) }
func FuzzReader_Read_OpenAIResponses(f *testing.F) { fuzzReader(f, conversation.FormatOpenAIResponses) }
func FuzzReader_Read_Anthropic(f *testing.F)       { fuzzReader(f, conversation.FormatAnthropic) }
func FuzzReader_Read_Gemini(f *testing.F)          { fuzzReader(f, conversation.FormatGemini) }

// fuzzReader feeds a reader anything: it refuses with places alone, or what it read passes the rules of the API and is rendered legally.
func fuzzReader(f *testing.F, format conversation.Format) {
	d := doorOf(format)
	kinds, user := kindsOf(format)
	for _, list := range kinds {
		f.Add("["+user+","+list+"]", int8(provider.ShapeMessage), false)
	}
	for _, answer := range answers() {
		f.Add(answer, int8(provider.ShapeAuto), true)
	}
	for _, list := range []string{`{"messages":[` + user + `],"system":"s"}`, `{"input":"q","instructions":"s"}`, `{"contents":"q","system_instruction":{"parts":[{"text":"s"}]}}`, `null`, `[null]`, `{}`, `"q"`, `[[]]`, `{"role":"user","role":"user"}`} {
		f.Add(list, int8(provider.ShapeHistory), false)
	}
	table := schema.Message()
	f.Fuzz(func(t *testing.T, text string, shape int8, aborted bool) {
		request := &provider.ReadRequest{JSON: text, Shape: provider.Shape(shape & 3), Aborted: aborted, Model: "m"}
		in, err := d.reader.Read(request)
		if err != nil {
			if e := (*conversation.Error)(nil); !errors.As(err, &e) || e.Kind != conversation.InvalidField || len(e.Violations) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		c := &rules.Checker{}
		for i := range in.Messages {
			m := convert.ToMessage(&in.Messages[i].Message)
			for _, p := range m.GetParts() {
				if r := p.GetToolResult(); r.GetCallId() == "" && r.GetName() != "" {
					r.CallId = r.GetName() // paired by name
				}
			}
			table.Check(c, m)
		}
		if err := c.Err(); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		renderRead(t, d, in)
	})
}

var unknownMember = regexp.MustCompile(`"(?:message|part|inner|item|members|content|data|source_members)":`)

// renderRead puts what was read on a record, if its results have calls, and holds its rendering to the table of legality.
func renderRead(t *testing.T, d door, in *provider.Input) {
	for i := range in.Messages {
		for _, p := range in.Messages[i].Parts {
			if p.Result != nil {
				return
			}
		}
	}
	for i := range in.Messages {
		m := &in.Messages[i]
		for j := range m.Parts { // what a caller's own messages have that nobody knows goes out as it was sent, and the judge knows it not
			if res := m.Parts[j].Residue; res != nil && unknownMember.MatchString(res.JSON) && (m.Role != conversation.RoleAssistant || !strings.Contains(res.JSON, `"id"`)) {
				m.Parts[j].Residue = nil
			}
		}
	}
	r := newRecord()
	recorded(t, r, in.Messages)
	if v := compose(d.Format, r.units(), "", chars4); hasMessages(v.blocks) {
		legal(t, d.Format, v, chars4)
	}
}
