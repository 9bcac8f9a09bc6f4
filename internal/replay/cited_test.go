package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// long is a result of so many lines, and the word that the next message uses is
// in its first line and in its last.
func long(lines int) string {
	return "handler_one starts here\n" + strings.Repeat("a line of the file that says little more\n", lines) + "handler_two ends here"
}

// read is a recording in which a long result is read and used.
func citable(result string) string {
	quoted, _ := json.Marshal(result)
	return `{"id":"c","messages":[{"role":"user","content":"Look into /src/main.go please"},
		{"role":"assistant","content":"","tool_calls":[{"id":"a1","name":"read","arguments":"{\"path\":\"/src/main.go\"}"}]},
		{"role":"tool","tool_call_id":"a1","name":"read","content":` + string(quoted) + `},
		{"role":"assistant","content":"I see handler_one and handler_two"},
		{"role":"user","content":"and now?"},{"role":"assistant","content":"Now nothing"}]}`
}

func citing(c *Command) { c.Cite, c.Window = true, 16384 }

func TestCommand_Run_Cite_PlaysWithAndWithout(t *testing.T) {
	for name, c := range map[string]struct {
		policies []string
		alone    bool
		want     string
	}{
		"own":       {nil, false, "own+cite, , none"},
		"alone":     {nil, true, "own+cite"},
		"none":      {[]string{"none"}, false, "none+cite, none"},
		"another":   {[]string{"sliding"}, false, "sliding+cite, sliding, none"},
		"several":   {[]string{"sliding", "balanced"}, true, "sliding+cite, balanced+cite"},
		"by a file": {[]string{policyFile(t, "conversation: {citations: {enabled: true}}")}, false, "policy.yaml, none"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := played(t, &fake{}, citable(long(200)), citing, func(cmd *Command) { cmd.Policy, cmd.Alone = c.policies, c.alone })
			if err != nil {
				t.Fatalf("%v, %+v", err, r.Examples)
			}
			var got []string
			for _, o := range r.All() {
				got = append(got, o.Title()[strings.LastIndexByte(o.Title(), '/')+1:])
				if cited := o.Cite || name == "by a file" && o == r; (o.Citations.Count == 1) != cited {
					t.Errorf("%s: %+v", o.Title(), o.Citations)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("played %s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

func TestCommand_Run_Cite_Measures(t *testing.T) {
	r, err := played(t, &fake{}, citable(long(200)), citing, func(c *Command) { c.Policy = []string{"none"} })
	if err != nil {
		t.Fatalf("%v, %+v", err, r.Examples)
	}
	plain, c := r.Against[0], r.Citations
	if c.Count != 1 || c.Largest == 0 || c.Mean != float64(c.After) || c.Before < 1000 || c.After > 30 {
		t.Errorf("%+v", c)
	}
	// The result is in two contexts.
	if saved := plain.TokensWith - r.TokensWith; saved != 2*(c.Before-c.After) || saved != r.LetGo.SavedByCiting {
		t.Errorf("%d tokens fewer, %d saved", saved, r.LetGo.SavedByCiting)
	}
	if r.TokensWithout != plain.TokensWithout || r.CostWithout != plain.CostWithout || r.CostWith >= plain.CostWith {
		t.Errorf("without: %d and %d tokens, cost %v and %v", r.TokensWithout, plain.TokensWithout, r.CostWith, plain.CostWith)
	}
	// The fake's passage holds one of the two words, and each of the two contexts behind it holds the passage.
	if c.Asked != 1 || c.Words != 2 || c.Found != 1 || c.ExcerptTokens < 50 || c.AskingCost <= 0 || c.RetrieveMS.P50 <= 0 {
		t.Errorf("%+v", c)
	}
	if r.Expansions != plain.Expansions+1 {
		t.Errorf("%d messages were asked back, %d without citing", r.Expansions, plain.Expansions)
	}
	for _, want := range []string{"Cited", "1 of ", "50.0 % of the words", "none+cite", "saved by citing"} {
		if text := textOf(t, r); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Each promise is broken once.
func TestCommand_Run_BrokenCitation_IsCounted(t *testing.T) {
	wrongly := func(r *report.Report) int { return r.CitedWrongly }
	heavy := func(r *report.Report) int { return r.CitationsOverWeight }
	mismatch := func(r *report.Report) int { return r.ContentMismatches }
	words := func(n int) func(*pb.Citation) {
		return func(c *pb.Citation) { c.Text += strings.Repeat(" word", n) }
	}
	list := "[" + strings.Repeat(`{"name":"one"},`, 200) + `{}]`
	for name, c := range map[string]struct {
		citer  citer
		result string
		count  func(*report.Report) int
		broken bool
	}{
		"not cited":      {citer{never: true}, long(200), wrongly, true},
		"short, cited":   {citer{all: true}, long(5), wrongly, true},
		"of nothing":     {citer{citation: func(c *pb.Citation) { c.TotalBytes++ }}, long(200), wrongly, true},
		"too heavy":      {citer{citation: words(300)}, long(200), heavy, true},
		"list":           {citer{citation: words(330)}, list, heavy, false},
		"list too heavy": {citer{citation: words(400)}, list, heavy, true},
		"characters":     {citer{citation: func(c *pb.Citation) { c.TotalChars-- }}, long(200), mismatch, true},
		"another text":   {citer{page: func(r *pb.RetrieveContentResponse) { r.Chunk[7] ^= 1 }}, long(200), mismatch, true},
		"another content": {citer{page: func(r *pb.RetrieveContentResponse) {
			sum := sha256.Sum256([]byte("x"))
			r.Chunk, r.NextPageToken, r.Source.Sha256 = []byte("x"), "", hex.EncodeToString(sum[:])
		}}, long(200), mismatch, true},
		"another sum": {citer{page: func(r *pb.RetrieveContentResponse) { r.Source.Sha256 = "00" }}, long(200), mismatch, true},
		"half of it":  {citer{page: func(r *pb.RetrieveContentResponse) { r.NextPageToken = "" }}, long(200), mismatch, true},
		"no message":  {citer{page: func(r *pb.RetrieveContentResponse) { r.Source.CitedBy = nil }}, long(200), mismatch, true},
		"none":        {citer{refuse: refusal("CONTENT_NOT_FOUND")}, long(200), mismatch, true},
		"no passages": {citer{refuse: refusal("CONTENT_NOT_FOUND")}, long(200), func(r *report.Report) int { return r.Errors }, true},
		"unexplained": {citer{silent: true}, long(200), func(r *report.Report) int { return r.Unexplained }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := played(t, &fake{citer: c.citer}, citable(c.result), citing, func(c *Command) { c.Policy, c.Alone = []string{"none"}, true })
			if (c.count(r) > 0) != c.broken || errors.Is(err, report.ErrJudged) != c.broken {
				t.Errorf("%v, %d, %+v", err, c.count(r), r.Examples)
			}
		})
	}
}

// What is in the view in full although it is on record as cited breaks the
// promise about savings.
func TestCommand_Run_CitedInFull_IsMisstated(t *testing.T) {
	f := &fake{report: func(r *pb.BuildContextResponse) { r.Tokens.SavedByCiting++ }}
	r, err := played(t, f, citable(long(200)), citing, func(c *Command) { c.Policy, c.Alone = []string{"none"}, true })
	if r.SavingsMisstated == 0 || !errors.Is(err, report.ErrJudged) {
		t.Errorf("%v, %+v", err, r)
	}
}

// What is cited need not be compacted, since it is as short already; removed it
// must be.
func TestCommand_Run_CitedResults_ExpireToo(t *testing.T) {
	for mode, late := range map[string]bool{"compact": false, "remove": true} {
		f := &fake{citer: citer{citation: func(c *pb.Citation) { c.Text += strings.Repeat(" word", 150) }}}
		policy := under(t, "conversation: {expiration: {results: {turns: 0, mode: "+mode+", compact_length: 10}}, rewrite: {mode: eager}}")
		r, err := played(t, f, citable(long(200)), policy, citing)
		if (r.ExpiredLate > 0) != late || errors.Is(err, report.ErrJudged) != late {
			t.Errorf("%s: %v, %d late: %+v", mode, err, r.ExpiredLate, r.Examples)
		}
	}
}

func TestConversation_Citing_MediaStay(t *testing.T) {
	r := &pb.ToolResult{Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{
		{Content: &pb.ToolResultPart_Text{Text: "one"}}, {Content: &pb.ToolResultPart_Media{Media: &pb.Media{MimeType: "image/png"}}},
		{Content: &pb.ToolResultPart_Text{Text: "two"}},
	}}}}
	if got := resultWords(r); got != "one\ntwo" {
		t.Errorf("%q", got)
	}
	replaced(r, "[c1]")
	if item := recall.Result(r); item.Media != 1 || strings.Join(item.Texts, "|") != "[c1]" {
		t.Errorf("%+v", item)
	}
}

func TestLists_JSON(t *testing.T) {
	for text, want := range map[string]bool{
		"[1, 2]": true, `{"items": [1]}`: true, "{\"a\": 1}\n{\"a\": 2}": true, `{"a": {"b": [1]}}`: true, `{"a": {"b": {"c": 1}, "d": {}, "e": {}}}`: true,
		`{"a": {"b": {"c": [1]}}}`: false, `{"a": {}, "b": {}}`: false, `{"a": {}, "b": {}, "c": {}, "d": 1}`: false, `{"a": 1}`: false,
		"[see below]": false, "text [1]": false, "": false, "7": false, "7 8": false, "{}": false,
	} {
		if lists(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestVocabulary_TermsFor_TheLongestShared(t *testing.T) {
	wanted := wordsOf("read the_handler in 日本語資料 of a1 main, tests/main.go and the lines 120-140 of parse_all")
	got := wanted.termsFor("parse_all and the_handler are in main; 日本語資料; the rest is not")
	if want := "[日本語資料 the_handler parse_all main]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	var many bytes.Buffer
	for i := range 20 {
		fmt.Fprintf(&many, "word%02d ", i)
	}
	if terms := wordsOf(many.String()).termsFor(many.String()); len(terms) != maxTerms {
		t.Errorf("%d terms", len(terms))
	}
}

func TestPolicy_CiteLength_IsThePolicys(t *testing.T) {
	of := func(c *pb.CitationsPolicy) *policy { return &policy{conversation: &pb.Policy{Citations: c}} }
	for want, p := range map[int]*policy{
		0: {}, 1000: of(&pb.CitationsPolicy{}), 300: of(&pb.CitationsPolicy{ThresholdChars: proto.Int32(300)}),
	} {
		if got := p.citeLength(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
		with := p.trackCitations()
		if !with.cites() || p.cites() || want > 0 && with.citeLength() != want || want == 0 && with.citeLength() != 1000 {
			t.Errorf("%+v", with)
		}
	}
}
