package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

func content(text string) conversation.Content { return conversation.Content{Inline: text} }

func textPart(text string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: content(text)}
}

func unitOf(role conversation.Role, parts ...conversation.Part) conversation.Unit {
	m := &conversation.Message{Role: role, Parts: parts}
	return conversation.Unit{Items: []conversation.Item{{Message: m, Parts: parts}}}
}

func same(a, b conversation.Fact) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Count == b.Count && a.ByAgent == b.ByAgent && slices.Equal(a.Of, b.Of)
}

// mergedFacts returns merged facts without the number of those that were dropped.
func mergedFacts(older, newer []conversation.Fact) []conversation.Fact {
	all, _ := compaction.MergeFacts(older, newer)
	return all
}

// factsOf returns the facts of a text that a role says.
func factsOf(role conversation.Role, text string) []conversation.Fact {
	return compaction.Facts([]conversation.Unit{unitOf(role, textPart(text))})
}

func has(facts []conversation.Fact, kind conversation.FactKind, text string) bool {
	return slices.ContainsFunc(facts, func(f conversation.Fact) bool { return f.Kind == kind && f.Text == text })
}

func ofKind(facts []conversation.Fact, kind conversation.FactKind) []string {
	var out []string
	for _, f := range facts {
		if f.Kind == kind {
			out = append(out, f.Text)
		}
	}
	return out
}

// TestFacts_Names_AreNoWords: what somebody is called is no rule of the user's, and no fact.
func TestFacts_Names_AreNoWords(t *testing.T) {
	const rule = "You must never deploy to /srv/prod on a Friday."
	if len(factsOf(conversation.RoleUser, rule)) == 0 {
		t.Fatal("the words are none either")
	}
	u := unitOf(conversation.RoleUser, textPart("hello"))
	u.Items[0].Message.Name = rule
	if got := compaction.Facts([]conversation.Unit{u}); len(got) != 0 {
		t.Errorf("facts of a name: %+v", got)
	}
}

func TestFacts_WhatMachinesName_IsFound(t *testing.T) {
	for _, tt := range []struct {
		text string
		kind conversation.FactKind
		want string
	}{
		{"see /etc/nginx/nginx.conf.", conversation.FactPath, "/etc/nginx/nginx.conf"},
		{"in `src/app/main.go`:", conversation.FactPath, "src/app/main.go"},
		{"main.go:12:5: undefined", conversation.FactPath, "main.go"},
		{"cd ../lib/x && ls", conversation.FactPath, "../lib/x"},
		{"cat ~/.ssh/config", conversation.FactPath, "~/.ssh/config"},
		{"under packages/agent/src/ there", conversation.FactPath, "packages/agent/src"},
		{"open setup.py, then", conversation.FactPath, "setup.py"},
		{"(see README.md)", conversation.FactPath, "README.md"},
		{`open C:\Users\ann\report.docx now`, conversation.FactPath, `C:\Users\ann\report.docx`},
		{`open C:\temp\new.txt now`, conversation.FactPath, `C:\temp\new.txt`},
		{`{"path":"C:\\temp\\new.txt"}`, conversation.FactPath, `C:\\temp\\new.txt`},
		{`{"command":"cd /testbed\nls src/a.py"}`, conversation.FactPath, "/testbed"},
		{`{"command":"cd /testbed\nsrc/a.py"}`, conversation.FactPath, "src/a.py"},
		{"打开/srv/app/main.py文件", conversation.FactPath, "/srv/app/main.py"},
		{"/home/müller/größe.txt ist", conversation.FactPath, "/home/müller/größe.txt"},
		{"at https://example.com/a?b=c&d=1#x, then", conversation.FactURL, "https://example.com/a?b=c&d=1#x"},
		{"[x](http://localhost:8080/health)", conversation.FactURL, "http://localhost:8080/health"},
		{"wss://a.example/w(1) next", conversation.FactURL, "wss://a.example/w(1)"},
		{"id 550e8400-e29b-41d4-a716-446655440000.", conversation.FactID, "550e8400-e29b-41d4-a716-446655440000"},
		{"commit 3fa9c1d fixes", conversation.FactID, "3fa9c1d"},
		{"order #W1234567,", conversation.FactID, "#W1234567"},
		{"as in PROJ-123:", conversation.FactID, "PROJ-123"},
		{"user mia_li_3668 is", conversation.FactID, "mia_li_3668"},
		{"call parse_config now", conversation.FactID, "parse_config"},
		{"call parseConfig now", conversation.FactID, "parseConfig"},
		{"in app.core.rules there", conversation.FactID, "app.core.rules"},
		{"write to ann.lee+x@mail.example.com.", conversation.FactID, "ann.lee+x@mail.example.com"},
		{"version v1.24.3 of", conversation.FactID, "v1.24.3"},
		{"at 10.0.0.12 there", conversation.FactID, "10.0.0.12"},
		{`"reservation": "VAAOXJ"`, conversation.FactID, "VAAOXJ"},
		{"item 9523456873", conversation.FactID, "9523456873"},
		{`{"x":"a\nuser_12"}`, conversation.FactID, "user_12"},
		{`{"x":"a\u001b[31muser_12"}`, conversation.FactID, "user_12"},
		{"\x1b[1;31muser_12\x1b[0m", conversation.FactID, "user_12"},
		{"paid $1,234.56 for", conversation.FactNumber, "$1,234.56"},
		{"kostet 3,50 € netto", conversation.FactNumber, "3,50 €"},
		{"up by 12.5% since", conversation.FactNumber, "12.5%"},
		{"took 250 ms, then", conversation.FactNumber, "250 ms"},
		{"is 20MB big", conversation.FactNumber, "20MB"},
		{"on 2024-05-15 and", conversation.FactNumber, "2024-05-15"},
		{"at 2024-05-15T10:30:00Z it", conversation.FactNumber, "2024-05-15T10:30:00Z"},
		{"on 15/05/2024 it", conversation.FactNumber, "15/05/2024"},
		{"on May 15, 2024 it", conversation.FactNumber, "May 15, 2024"},
		{"on 15 May 2024 it", conversation.FactNumber, "15 May 2024"},
		{"at 10:30 AM it", conversation.FactNumber, "10:30 AM"},
		{"共300元", conversation.FactNumber, "300元"},
		{"x\nValueError: bad value 'y'\nz", conversation.FactError, "ValueError: bad value 'y'"},
		{"java.io.IOException: no space left", conversation.FactError, "java.io.IOException: no space left"},
		{"error: cannot open file\n", conversation.FactError, "error: cannot open file"},
		{"it exited with code 137.", conversation.FactError, "exited with code 137"},
		{"Process: exit status 2\n", conversation.FactError, "exit status 2"},
		{"<returncode>1</returncode>", conversation.FactError, "returncode>1"},
	} {
		if facts := factsOf(conversation.RoleTool, tt.text); !has(facts, tt.kind, tt.want) {
			t.Errorf("%q: no %q in %+v", tt.text, tt.want, facts)
		}
	}
}

func TestFacts_WhatPeopleSay_IsNoFact(t *testing.T) {
	for _, text := range []string{
		"Yes and/or no, i.e. well-known e.g. this... Hello!", "the 2nd of 3 tries, a 2-digit number", "</div><br/>", "x := 1/2 // half", "exit code 0",
		"returncode>0<", "except Exception:", "console.log(x)", `f"{e}:\n"`, `"Option B:\nfoo bar"`, "It failed.", "a-b--c", "@ # $ % ~ / // .. ...", "I paid 5 for 4096 of it",
	} {
		if facts := factsOf(conversation.RoleAssistant, text); len(facts) > 0 {
			t.Errorf("%q: %+v", text, facts)
		}
	}
}

func TestFacts_HostileOutput_IsBounded(t *testing.T) {
	facts := factsOf(conversation.RoleTool, "https://a.example/"+strings.Repeat("f00", 300)+" Error: one Error: two Error: three\n/"+strings.Repeat("p", 300)+"/x.go")
	checkFacts(t, "https://a.example/"+strings.Repeat("f00", 300)+" Error: one Error: two Error: three", facts)
	if got := ofKind(facts, conversation.FactError); !slices.Equal(got, []string{"Error: one Error: two Error: three"}) || len(facts) != 2 {
		t.Errorf("facts are %+v", facts)
	}
}

func TestFacts_Rules_InTenLanguages(t *testing.T) {
	for _, rule := range []string{
		"You must run the tests first.", "Never edit the file setup.cfg!", "ALWAYS ask me before", "Please do not deploy on Fridays.", "don't touch it", "Don’t touch it",
		"You should not guess.", "Only use the staging server.", "Make sure it builds.", "Important: keep the order.", "A signature is required.", "That is forbidden.",
		"From now on, answer in French.", "Under no circumstances delete data.", "do **not** touch it", "You mustn't do that.",
		"Du musst zuerst fragen.", "Lösche niemals Daten.", "Immer erst testen!", "Das darfst du nicht.", "Bitte nicht löschen.", "Ab jetzt auf Deutsch.", "NUR LESEN", "ÜBERALL MÜSSEN TESTS LAUFEN",
		"Tu dois demander.", "Ne supprimez pas ce fichier.", "N'oubliez pas les tests.", "Toujours vérifier.", "Ne fais jamais cela.", "C'est interdit.", "Dorénavant, réponds en anglais.",
		"Debes preguntar antes.", "Nunca borres los datos.", "Siempre usa la rama.", "No borres el archivo.", "Es obligatorio.", "A partir de ahora, en español.",
		"Você deve perguntar.", "Nunca apague os dados.", "Sempre confirme.", "Não apague o arquivo.", "É proibido.", "A partir de agora, em português.",
		"Devi chiedere.", "Non cancellare mai i dati della cartella.", "Sempre chiedere prima.", "È vietato.", "D'ora in poi rispondi in italiano.",
		"必须先运行测试。", "不要删除数据！", "从现在开始用中文", "永远不会", "只能读取", "必ず確認してください。", "絶対に削除しないでください。", "常に日本語で", "変更してはいけません",
		"Ты должен спросить.", "Никогда не удаляй данные.", "ВСЕГДА проверяй.", "Не трогай файл.", "Это запрещено.", "С этого момента по-русски.",
		"يجب أن تسأل أولا.", "لا تحذف البيانات أبدا.", "دائما اختبر", "هذا ممنوع", "من الآن فصاعدا",
		"हमेशा पूछो।", "डेटा कभी मत हटाओ।", "यह अनिवार्य है।", "अब से हिंदी में", "항상 확인하세요.", "절대 삭제하지 마세요.",
	} {
		if got := ofKind(factsOf(conversation.RoleUser, "Hm. \n"+rule+"\nHm."), conversation.FactRule); !slices.Equal(got, []string{rule}) {
			t.Errorf("%q: rules are %q", rule, got)
		}
	}
}

func TestFacts_NoRules_InPlainTalk(t *testing.T) {
	for _, text := range []string{
		"no, that is fine", "run it with the non-interactive flag", "musty nevermore alwaysx", "Am 15. Mai war es warm.", "a solo project", "Tenho dois gatos.", "特别好",
	} {
		if got := ofKind(factsOf(conversation.RoleUser, text), conversation.FactRule); len(got) > 0 {
			t.Errorf("%q: rules are %q", text, got)
		}
	}
	if got := ofKind(factsOf(conversation.RoleAssistant, "You must never do that."), conversation.FactRule); len(got) > 0 {
		t.Errorf("the assistant's words are rules: %q", got)
	}
}

func TestFacts_Sentences_AreWhole(t *testing.T) {
	text := "Hi!  I work on pkg v1.2.\n\n1. You must read   README.md, e.g. its end. And smile.\n- never push\r\n* [ ] only commit\n\n" +
		"This line is long enough to have been wrapped, so it must\ngo on here. \"Always quote.\" Bye"
	want := []string{
		"1. You must read README.md, e.g. its end.", "- never push", "* [ ] only commit",
		"This line is long enough to have been wrapped, so it must go on here.", `"Always quote." Bye`,
	}
	if got := ofKind(factsOf(conversation.RoleUser, text), conversation.FactRule); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFacts_LongRule_IsCutAroundItsWords(t *testing.T) {
	filler := strings.Repeat("so it goes ", 100)
	got := ofKind(factsOf(conversation.RoleUser, filler+"you must never delete the ledger "+filler+"and always ask Ann "+filler), conversation.FactRule)
	if len(got) != 2 || !strings.Contains(got[0], "you must never delete the ledger so") || !strings.Contains(got[1], "and always ask Ann so") {
		t.Fatalf("rules are %q", got)
	}
	for _, rule := range got {
		if n := utf8.RuneCountInString(rule); n > 400 || n < 200 || !strings.HasPrefix(rule, "…") || !strings.HasSuffix(rule, "…") {
			t.Errorf("cut to %d characters: %q", n, rule)
		}
	}
}

func TestFacts_OpenCalls_AreNamed(t *testing.T) {
	call := func(ordinal int32, id string) conversation.Part {
		return conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: id, Name: "read_page", Ordinal: ordinal, Arguments: content(`{"page":` + "\n" + strings.Repeat("7", 500) + "}"),
		}}
	}
	unit := unitOf(conversation.RoleAssistant, call(1, "call_a"), call(2, "call_b"))
	result := unitOf(conversation.RoleTool, conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Ordinal: 1, Text: content("x")}})
	unit.Items = append(unit.Items, result.Items...)
	got := ofKind(compaction.Facts([]conversation.Unit{unit}), conversation.FactCall)
	if len(got) != 1 || !strings.HasPrefix(got[0], `read_page call_b {"page": 777`) || utf8.RuneCountInString(got[0]) != 200 || !strings.HasSuffix(got[0], "…") {
		t.Errorf("open calls are %q", got)
	}
}

// TestFacts_WhatIsNotShown_IsNoFact: parts as shown; no summaries; no system messages.
func TestFacts_WhatIsNotShown_IsNoFact(t *testing.T) {
	cleared := unitOf(conversation.RoleTool, textPart("/original/path.go"))
	cleared.Items[0].Parts = []conversation.Part{textPart("/shown/path.go")}
	facts := compaction.Facts([]conversation.Unit{
		{Summary: &conversation.Edit{Summary: &conversation.Summary{Text: content("/summary/path.go")}}},
		unitOf(conversation.RoleSystem, textPart("You must read /system/path.go")), cleared,
	})
	if len(facts) != 1 || !same(facts[0], conversation.Fact{Kind: conversation.FactPath, Text: "/shown/path.go", Count: 1, Of: []int32{0}}) {
		t.Errorf("facts are %+v", facts)
	}
}

func TestFacts_EveryKindOfPart_IsRead(t *testing.T) {
	parts := []conversation.Part{
		{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: content("a/b/reasoned.go"), Signature: content("x/y/signed.go")}},
		{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{Ordinal: 1, Arguments: content(`{"path":"a/b/called.go"}`)}},
		{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Ordinal: 1, Output: conversation.OutputParts, Parts: []conversation.ResultPart{
			{Text: content("a/b/answered.go")}, {Text: content("twice a/b/answered.go")},
		}}},
		{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", Data: content("z/z/z.go")}},
		{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{JSON: content("z/z/z.go")}},
	}
	facts := compaction.Facts([]conversation.Unit{unitOf(conversation.RoleAssistant, parts...)})
	want := []conversation.Fact{
		{Kind: conversation.FactPath, Text: "a/b/reasoned.go", Count: 1, Of: []int32{0}, ByAgent: true},
		{Kind: conversation.FactPath, Text: "a/b/called.go", Count: 1, Of: []int32{0}, ByAgent: true},
		{Kind: conversation.FactPath, Text: "a/b/answered.go", Count: 2, Of: []int32{0}},
	}
	if !slices.EqualFunc(facts, want, same) {
		t.Errorf("facts are %+v", facts)
	}
}

func TestMergeFacts_Counts_AddUpInOrderOfTime(t *testing.T) {
	path := func(text string, n int32) conversation.Fact {
		return conversation.Fact{Kind: conversation.FactPath, Text: text, Count: n}
	}
	got := mergedFacts([]conversation.Fact{path("a", 1), path("b", 2)}, []conversation.Fact{path("c", 1), path("a", 4)})
	if want := []conversation.Fact{path("b", 2), path("c", 1), path("a", 5)}; !slices.EqualFunc(got, want, same) {
		t.Errorf("got %+v", got)
	}
}

func TestMergeFacts_TooMany_KeepsRulesThenTheNewest(t *testing.T) {
	var older, newer []conversation.Fact
	for i := range 60 {
		older = append(older, conversation.Fact{Kind: conversation.FactRule, Text: fmt.Sprintf("never %d %s", i, strings.Repeat("x", 280)), Count: 9})
		newer = append(newer, conversation.Fact{Kind: conversation.FactPath, Text: fmt.Sprintf("a/%d/%s.go", i, strings.Repeat("y", 140)), Count: int32(i)})
	}
	got := mergedFacts(older, newer)
	bytes := 0
	for _, f := range got {
		bytes += len(f.Text)
	}
	if bytes > 20<<10 || bytes < 20<<10-300 {
		t.Errorf("%d bytes are kept", bytes)
	}
	if n := len(ofKind(got, conversation.FactRule)); n != 60 || got[len(got)-1].Count != 59 || slices.ContainsFunc(got, func(f conversation.Fact) bool { return f.Count < 30 && f.Count != 9 }) {
		t.Errorf("%d rules, then %+v", n, got[60:])
	}
	rules := ofKind(mergedFacts(append(older, older[0]), append(older[20:40:40], renamed(older)...)), conversation.FactRule)
	if last := rules[len(rules)-1]; !strings.HasPrefix(last, "never again 59") || len(rules) > 75 || !strings.HasPrefix(rules[0], "never ") {
		t.Errorf("%d rules, the last is %.20q", len(rules), last)
	}
}

func renamed(facts []conversation.Fact) []conversation.Fact {
	out := slices.Clone(facts)
	for i := range out {
		out[i].Text = strings.Replace(out[i].Text, "never ", "never again ", 1)
	}
	return out
}

// scraps are what texts of properties are made of.
var scraps = []string{
	"/a/b.go", "src/x_1.py", "C:\\a\\b", "https://a.b/c", "550e8400-e29b-41d4-a716-446655440000", "#W1234567", "mia_li_3668", "$5", "10 ms", "ValueError: bad",
	"you must never", "always", "niemals", "必须", "हमेशा", "don’t", ". ", "\n", "\r\n", " ", "\t", "\\n", "\\u001b[1m", "\x00", "\x1b[0m", "\xff", "\u2028", "\u202e", "!",
	"Files:", "Errors:", "(and 3 more)", "e\u0301", "👨‍👩‍👧‍👦", "x", ":", "exit code 1", "\"", "<", "2024-05-15T10:30:00Z", "camelCase", "1,234.56 EUR", "'ABCDEF'", "。",
}

func drawText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 120).Draw(t, label), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
}

// seen returns a text as facts have it: white space, and what is not seen, as one space.
func seen(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError || facts.IsUnseen(r)
	}), " ")
}

// checkFacts holds facts to what is true of all.
func checkFacts(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, facts []conversation.Fact) {
	t.Helper()
	text = seen(text)
	known := map[[2]any]bool{}
	for _, f := range facts {
		limit := 200
		if f.Kind == conversation.FactRule {
			limit = 400
		}
		if n := utf8.RuneCountInString(f.Text); n == 0 || n > limit || f.Count < 1 || seen(f.Text) != f.Text || !utf8.ValidString(f.Text) {
			t.Fatalf("%d characters: %+v", n, f)
		}
		if !strings.Contains(text, strings.Trim(f.Text, "…")) {
			t.Fatalf("%+q is not in %+q", f.Text, text)
		}
		if key := [2]any{f.Kind, f.Text}; known[key] {
			t.Fatalf("%+v is there twice", f)
		} else {
			known[key] = true
		}
	}
}

func TestFacts_AnyText_HasOnlyWhatItSays(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		facts := factsOf(conversation.RoleUser, text)
		checkFacts(t, text, facts)
		if !slices.EqualFunc(facts, factsOf(conversation.RoleUser, text), same) {
			t.Fatalf("other facts the second time")
		}
	})
}

func TestMergeFacts_Grouping_MakesNoDifference(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		a, b, c := factsOf(conversation.RoleUser, drawText(t, "a")), factsOf(conversation.RoleUser, drawText(t, "b")), factsOf(conversation.RoleUser, drawText(t, "c"))
		left := mergedFacts(mergedFacts(a, b), c)
		if right := mergedFacts(a, mergedFacts(b, c)); !slices.EqualFunc(left, right, same) {
			t.Fatalf("%+v\n%+v", left, right)
		}
	})
}

func FuzzFacts(f *testing.F) {
	for _, scrap := range scraps {
		f.Add(scrap)
	}
	f.Add(strings.Join(scraps, " "))
	f.Fuzz(func(t *testing.T, text string) {
		facts := factsOf(conversation.RoleUser, text)
		checkFacts(t, text, facts)
		list, left := compaction.LossList(facts, 0, "", 500, perChar{})
		checkList(t, facts, list, left, 500)
	})
}

// BenchmarkFacts reads 400 KB of what a coding session shows, and lines of a megabyte that would be slow where time is not linear.
func BenchmarkFacts(b *testing.B) {
	for name, text := range map[string]string{
		"session": strings.Repeat("See src/app/main.go:12 and run `go test ./pkg/x -run TestParse_1`, it took 250 ms.\nerror: cannot open parse_config in app.core.rules\n", 3000),
		"slashes": strings.Repeat("/", 1<<20), "errors": strings.Repeat("Error: ", 1<<20/7), "word": strings.Repeat("a", 1<<20), "dots": strings.Repeat("1. ", 1<<20/3),
		"escapes": strings.Repeat(`\`, 1<<20), "drives": strings.Repeat(`C:\a`, 1<<18), "rules": strings.Repeat("must no ", 1<<17), "urls": strings.Repeat("a://", 1<<18),
		"numbers": strings.Repeat("1,", 1<<19), "digits": strings.Repeat("1", 1<<20), "chinese": strings.Repeat("必须不要", 1<<16), "wrapped": strings.Repeat(strings.Repeat("so ", 20)+"\n", 1<<14),
		"blank": strings.Repeat("\n \n", 1<<18), "at": strings.Repeat("a@b.c/", 1<<17),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				factsOf(conversation.RoleUser, text)
			}
		})
	}
}

// TestForgetFacts_WhatOneMessageAloneMentioned_Goes: and what stands elsewhere, or in what is left of the message, stays.
func TestForgetFacts_WhatOneMessageAloneMentioned_Goes(t *testing.T) {
	path := func(text string, of ...int32) conversation.Fact {
		return conversation.Fact{Kind: conversation.FactPath, Text: text, Count: 3, Of: of}
	}
	known := []conversation.Fact{path("alone", 7), path("both", 3, 7), path("other", 3), path("stands", 7), path("unknown")}
	left := compaction.ForgetFacts(known, 7, []conversation.Fact{path("stands", 7)})
	if want := []conversation.Fact{path("both", 3), path("other", 3), path("stands", 7)}; !slices.EqualFunc(left, want, same) {
		t.Errorf("%+v", left)
	}
	if left = compaction.ForgetFacts(left, 3, nil); !slices.EqualFunc(left, []conversation.Fact{path("stands", 7)}, same) || len(known[1].Of) != 2 || known[1].Of[1] != 7 {
		t.Errorf("%+v, of %+v", left, known)
	}
}

// TestMergeFacts_Sources_AreTheNewest: of a fact that many messages mention, few are remembered.
func TestMergeFacts_Sources_AreTheNewest(t *testing.T) {
	var known []conversation.Fact
	for i := range int32(9) {
		known = mergedFacts(known, []conversation.Fact{{Kind: conversation.FactPath, Text: "a", Count: 1, Of: []int32{i, i}}})
	}
	if want := (conversation.Fact{Kind: conversation.FactPath, Text: "a", Count: 9, Of: []int32{5, 6, 7, 8}}); len(known) != 1 || !same(known[0], want) {
		t.Errorf("%+v", known)
	}
}

// TestFacts_OpenCalls_AreOfTheirMessage: an erased call must be known by its message.
func TestFacts_OpenCalls_AreOfTheirMessage(t *testing.T) {
	call := func(index, ordinal int32) conversation.Item {
		m := &conversation.Message{Index: index, Role: conversation.RoleAssistant, Parts: []conversation.Part{
			{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: fmt.Sprint("call_", index), Name: "run", Ordinal: ordinal}},
		}}
		return conversation.Item{Message: m, Parts: m.Parts}
	}
	known := compaction.Facts([]conversation.Unit{{Items: []conversation.Item{call(4, 1), call(5, 2)}}})
	for i, f := range known {
		if f.Kind != conversation.FactCall || !slices.Equal(f.Of, []int32{int32(4 + i)}) {
			t.Errorf("%+v", f)
		}
	}
	if len(known) != 2 {
		t.Errorf("%+v", known)
	}
}
