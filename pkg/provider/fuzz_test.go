package provider_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// FuzzFormat_Unit puts hostile strings wherever a part has one.
func FuzzFormat_Unit(f *testing.F) {
	for _, s := range []string{"", `{"a":1}`, "\xff\xfe", deep(500), strings.Repeat("[", 20_000), `{"type":"thinking","signature":"s"}`,
		`{"type":"reasoning","summary":[{}]}`, `{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"status":null}`, `{"a":"\ud800\u"}`, "\u2028\x00\x1f\"\\", `{"thought":true,"text":"x","thoughtSignature":"c2ln"}`, "-1e99999"} {
		f.Add(s, "image/png", "https://e.x")
	}
	f.Fuzz(func(t *testing.T, s, mime, uri string) {
		r := newRecord().system(s).user(s)
		r.add(conversation.RoleUser, media(mime, s, ""), media(mime, "", uri), media(s, "", s))
		for _, maker := range []string{"openai", "anthropic", "gemini"} {
			r.assistant(reasoning(maker, "", s, s), opaque(maker, s), text(s), call(s, s), call(mime, uri))
			r.tool(asJSON(result(r.ordinals, s, s)), text(s))
			r.tool(several(result(r.ordinals-1, s, ""), conversation.ResultPart{Text: inline(s)}, conversation.ResultPart{Media: media(mime, s, uri).Media}))
		}
		r.system(s).user("end")
		for _, format := range formats() {
			v := compose(format, r.units(), "", chars4)
			system, messages := provider.Assemble(format.Traits(), v.blocks)
			if system != nil && !json.Valid(system) || !json.Valid(messages) || !utf8.Valid(messages) {
				t.Fatalf("%s: not JSON: %s %s", format.Traits().Name, system, messages)
			}
			if c := check(format.Format(), system, messages); len(c.faults) > 0 {
				t.Fatalf("%s: %q in %s", format.Traits().Name, c.faults, messages)
			}
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00\u2028\xffé")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(provider.AppendString(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") {
			t.Fatalf("%q came back as %q: %v", s, back, err)
		}
	})
}

// FuzzIsValue holds what is embedded to what parsers accept: encoding/json into any refuses numbers beyond a float64.
func FuzzIsValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d\ude00",-0.5e-3]}`, `"\ud800"`, `1e999`, deep(60), deep(70), `"\\u"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !provider.IsValue(s) {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatalf("%q was taken: %v", s, err)
		}
	})
}

func FuzzIsDocument(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"\u00e9\n"]}`, `01`, `[1,]`, `{"a"}`, `"\x"`, ` [ ] `, "\"\x01\"", `1.`, `-`, `{"a":1,}`, `"\u12"`, `nul`, `1 2`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, "[")+strings.Count(s, "{") > 900 {
			t.Skip("deeper than a document may be")
		}
		if got, want := provider.IsDocument(s), utf8.ValidString(s) && json.Valid([]byte(s)); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	})
}
