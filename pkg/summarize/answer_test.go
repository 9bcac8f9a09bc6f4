package summarize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestReadAnswer(t *testing.T) {
	content := "The build of service-7 began.\n" + strings.Repeat("compiled another file of the tree; ", 60)
	cap300, cap301 := strings.Repeat("x", 400), strings.Repeat("x", 401) // for a target of 100
	for name, test := range map[string]struct {
		answer string
		want   string
		reason Reason
	}{
		"plain":                 {`{"summary":"short"}`, "short", ""},
		"spaces":                {" \n{ \"summary\" : \" short\\n\" }\n", "short", ""},
		"other members":         {`{"note":{"summary":"no"},"summary":"short","n":[1]}`, "short", ""},
		"fence":                 {"```json\n{\"summary\": \"short\"}\n```", "short", ""},
		"words around":          {"Here is {it}: {\"summary\": \"short\"} - I hope that helps {a lot}.", "short", ""},
		"said twice":            {`{"summary":"short"} {"summary":"short"}`, "short", ""},
		"after another object":  {`{"thought":"{\"summary\":\"no\"}"}{"summary":"short"}`, "short", ""},
		"braces in the summary": {`{"summary":"func f() { {} }"}`, "func f() { {} }", ""},
		"BOM":                   {"\ufeff{\"summary\":\"short\"}", "short", ""},
		"line feeds and tabs":   {`{"summary":"a\r\n\tb"}`, "a\n\tb", ""},
		"control characters":    {`{"summary":"a\u0000\u001b[31mb\u007f\u202e\u200b\u0085"}`, "ab", ""},
		"looks like a role":     {`{"summary":"{\"role\":\"system\"} [Compacted: 1] <|im_start|>system"}`, `{"role":"system"} … …system`, ""},
		"nothing but a note":    {`{"summary":"[Compacted: 1]\n[Summary of 9 characters.]"}`, "", Empty},
		"at the cap":            {`{"summary":"` + cap300 + `"}`, cap300, ""},

		"nothing":              {"", "", BadAnswer},
		"no JSON":              {"The build began.", "", BadAnswer},
		"just a string":        {`"short"`, "", BadAnswer},
		"an array":             {`["summary","short"]`, "", BadAnswer},
		"not the name":         {`{"Summary":"short"}`, "", BadAnswer},
		"not at the top":       {`{"result":{"summary":"short"}}`, "", BadAnswer},
		"a number":             {`{"summary":7}`, "", BadAnswer},
		"null":                 {`{"summary":null}`, "", BadAnswer},
		"an object":            {`{"summary":{"text":"short"}}`, "", BadAnswer},
		"cut off":              {`{"summary":"sho`, "", BadAnswer},
		"raw line feed":        {"{\"summary\":\"a\nb\"}", "", BadAnswer},
		"two different":        {`{"summary":"short"} or {"summary":"shorter"}`, "", BadAnswer},
		"invalid UTF-8":        {"{\"summary\":\"a\xffb\"}", "", BadAnswer},
		"too many beginnings":  {strings.Repeat("{ ", 99) + `{"summary":"short"}`, "", BadAnswer},
		"more after many":      {`{"summary":"short"}` + strings.Repeat("{ ", 99), "", BadAnswer},
		"very large":           {`{"summary":"short"}` + strings.Repeat(" ", maxAnswerBytes), "", BadAnswer},
		"deep":                 {strings.Repeat(`{"summary":`, 100_000), "", BadAnswer},
		"empty":                {`{"summary":""}`, "", Empty},
		"blank":                {`{"summary":" \n\t\u00a0\u2003"}`, "", Empty},
		"invisible":            {`{"summary":"\u200b\u2060\ufeff\u0000"}`, "", Empty},
		"over the cap":         {`{"summary":"` + cap301 + `"}`, "", TooLong},
		"content":              {`{"summary":` + encodeJSON(content) + `}`, "", Echo},
		"content's beginning":  {`{"summary":` + encodeJSON("It says: "+content[:250]) + `}`, "", Echo},
		"the same, respaced":   {`{"summary":` + encodeJSON(strings.ReplaceAll(content[:250], " ", "\n ")) + `}`, "", Echo},
		"part of the head":     {`{"summary":` + encodeJSON(content[:190]) + `}`, strings.TrimSpace(content[:190]), ""},
		"our instructions":     {`{"summary":"I was told: copied letter by letter: - identifiers: names, ids, keys of records, versions, file paths, URLs, line numbers"}`, "", Echo},
		"our system prompt":    {`{"summary":` + encodeJSON(systemPrompt) + `}`, "", Echo},
		"a few words of ours":  {`{"summary":"numbers with their units, dates, amounts, counts"}`, "numbers with their units, dates, amounts, counts", ""},
		"the whole prompt":     {`{"summary":` + encodeJSON(compactPrompt) + `}`, "", Echo},
		"not JSON, the prompt": {compactPrompt, "", BadAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			got, reason := readAnswer(Answer{Text: test.answer}, request(content))
			if got != test.want || reason != test.reason {
				t.Errorf("%q, %q; want %q, %q", got, reason, test.want, test.reason)
			}
		})
	}
}

func TestReadAnswer_NotShorterThanTheContent(t *testing.T) {
	for content, want := range map[string]Reason{"12345": NotShorter, "1234": NotShorter, "漢字漢字": NotShorter, "123456": ""} {
		if _, reason := readAnswer(said("short"), request(content)); reason != want {
			t.Errorf("%s: %q", content, reason)
		}
	}
}

func TestReadAnswer_EchoOfAnOperatorsTemplate(t *testing.T) {
	instructions := "Name every tyre that was changed, its maker, its size, the wheel it went to, and who changed it, in this order."
	r := request(longText("a"))
	r.Prompt = conversation.Prompt{Template: instructions + " {{content}}"}
	if _, reason := readAnswer(said("Sure: "+instructions), r); reason != Echo {
		t.Errorf("%q", reason)
	}
}

func TestReadAnswer_CutOff(t *testing.T) {
	if _, reason := readAnswer(Answer{Text: `{"summary":"sho`, Truncated: true}, request(longText("a"))); reason != Truncated {
		t.Errorf("%q", reason)
	}
	if got, reason := readAnswer(Answer{Text: `{"summary":"short"} and`, Truncated: true}, request(longText("a"))); got != "short" {
		t.Errorf("%q, %q", got, reason)
	}
}

func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{`{"summary":"short"}`, "```\n{\"summary\":\"a\\u0000\"}```", `{"a":{"summary":1}}{"summary":"b"}`, "{\"summary\":\"\xff\"}", `{"summary":"\ud800"}`} {
		f.Add(seed, longText("a"), 100)
	}
	f.Fuzz(func(t *testing.T, answer, content string, target int) {
		r := request(content)
		r.Target = target & 0xffff
		got, reason := readAnswer(Answer{Text: answer}, r)
		switch {
		case (got == "") == (reason == ""):
			t.Fatalf("%q with %q", got, reason)
		case reason != "":
			return
		case !utf8.ValidString(got), countChars(got) >= r.Chars, countChars(got) > 2*r.Target+200, strings.TrimSpace(got) == "":
			t.Fatalf("%q of %q", got, content)
		}
		for _, c := range got {
			if unicode.IsControl(c) && c != '\n' && c != '\t' {
				t.Fatalf("%q", got)
			}
		}
	})
}
