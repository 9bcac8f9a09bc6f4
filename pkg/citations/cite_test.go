package citations

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

const handle = "c12-k3v9q2mz"

var o200k = sync.OnceValues(func() (*bpe.Counter, error) { return bpe.New("o200k") })

func counter(t testing.TB) func(string) int {
	t.Helper()
	c, err := o200k()
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int { n, _ := c.Count(s); return n }
}

func sourceOf(document string) Source {
	return Source{Handle: handle, Type: "tool", TotalBytes: int64(len(document)), TotalChars: int64(utf8.RuneCountInString(document)), Expand: "expand_message(12)"}
}

// citeAny cites a content as a tool result, by its looks.
func citeAny(document string, count func(string) int) Citation {
	kind := content.KindOf("", document)
	s := sourceOf(document)
	s.Type, s.URL = SourceType("", kind, document), SourceURL(kind, document, "")
	return Make(s, kind, document, true, count)
}

// checkCitation asks of a citation what is true of all.
func checkCitation(t rapid.TB, c Citation, kind content.Kind, document string, count func(string) int) {
	t.Helper()
	limit := maxTokens
	if kind == content.KindJSON {
		limit = maxListTokens
	}
	if n := count(c.Text); n > limit {
		t.Fatalf("%d tokens, at most %d:\n%s", n, limit, c.Text)
	}
	if !utf8.ValidString(c.Text) || strings.ContainsAny(c.Text, "\x00\x1b\x7f") {
		t.Fatalf("it is no plain text: %q", c.Text)
	}
	first, _, _ := strings.Cut(c.Text, "\n")
	if !strings.HasPrefix(first, "["+handle+": ") || strings.Count(first, "[") != 1 || strings.Index(first, "]") != len(first)-1 {
		t.Fatalf("it begins with %q", first)
	}
	if last := c.Text[strings.LastIndexByte(c.Text, '\n')+1:]; last != c.HowToRetrieve || !strings.Contains(last, `retrieve_content("`+handle+`", search_terms)`) {
		t.Fatalf("it ends with %q, and says %q", last, c.HowToRetrieve)
	}
	if c.Location != "beginning" || c.ExcerptFrom > c.ExcerptEnd || c.ExcerptEnd > len(c.Text) {
		t.Fatalf("the excerpt is [%d, %d) of %d, at %q", c.ExcerptFrom, c.ExcerptEnd, len(c.Text), c.Location)
	}
	excerpt := c.Text[c.ExcerptFrom:c.ExcerptEnd]
	if utf8.RuneCountInString(excerpt) > excerptChars || excerpt == "" && document != "" && kind != content.KindHTML {
		t.Fatalf("the excerpt is %q", excerpt)
	}
	if kind != content.KindHTML && !strings.HasPrefix(replaceControls(document), excerpt) {
		t.Fatalf("the content does not begin with %q", excerpt)
	}
}

func TestMake_AnyContent(t *testing.T) {
	counters := map[string]func(string) int{"o200k": counter(t), "characters": func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }, "bytes": func(s string) int { return len(s) / 3 }}
	text := rapid.OneOf(rapid.SampledFrom([]string{
		strings.Repeat("黑豹队的防守只丢了分，", 200), strings.Repeat("ภาษาไทยไม่มีช่องว่าง", 200), strings.Repeat("QUJDREVGR0hJSktMTU5P", 5000), strings.Repeat("👩‍👩‍👧‍👦", 300), strings.Repeat("\u0301", 2000),
		strings.Repeat("\x00\x1b[31m", 500), strings.Repeat("Some plain words. ", 200), strings.Repeat("\xff\xfe", 600), strings.Repeat("🇩🇪", 900), strings.Repeat("{\"a\":[", 500),
		"]\n[More: nothing]\n" + strings.Repeat("[", 3000), "<h1>T</h1><p>" + strings.Repeat("&lt;x&gt; ", 300),
	}), rapid.String(), proptest.Page())
	object := rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		key, _ := json.Marshal(text.Draw(t, "key")[:0] + rapid.StringN(0, 60, 200).Draw(t, "key"))
		value, _ := json.Marshal(text.Draw(t, "value"))
		return string(key) + ":" + rapid.SampledFrom([]string{string(value), "1", `"small"`, `{"a":1}`, "[" + string(value) + "]", `[{"title":` + string(value) + `,"url":"http://a.b"}]`}).Draw(t, "as")
	}), 0, 60), func(members []string) string { return "{" + strings.Join(members, ", ") + "}" })
	list := rapid.Map(rapid.SliceOfN(object, 0, 4), func(items []string) string { return "[" + strings.Join(items, ",\n") + "]" })
	proptest.Check(t, func(t *rapid.T) {
		document := rapid.OneOf(text, object, list, proptest.JSON()).Draw(t, "content")
		kind := rapid.SampledFrom([]content.Kind{content.KindOf("", document), content.KindJSON, content.KindJSON, content.KindText, content.KindMarkdown, content.KindHTML, content.KindLines, content.KindCode}).Draw(t, "kind")
		count := counters[rapid.SampledFrom([]string{"o200k", "characters", "bytes"}).Draw(t, "counter")]
		s := sourceOf(document)
		s.URL = rapid.OneOf(rapid.Just("https://a.b/c"), text, rapid.Map(text, func(s string) string { return "https://" + s })).Draw(t, "URL")
		s.ContentType = rapid.OneOf(rapid.Just("text/plain"), text).Draw(t, "media type")
		s.Type = rapid.OneOf(rapid.Just("web"), text).Draw(t, "type")
		whole := rapid.Bool().Draw(t, "whole")
		c := Make(s, kind, document, whole, count)
		checkCitation(t, c, kind, document, count)
		if again := Make(s, kind, document, whole, count); again != c {
			t.Fatalf("it is another one the second time")
		}
	})
}

func FuzzMake(f *testing.F) {
	f.Add(int8(content.KindJSON), `{"a":1,"items":[{"title":"a","url":"http://b","snippet":"\u0000"}]}`, "http://a]\n[", "text/[html", true)
	f.Add(int8(content.KindHTML), "<title>a</title><h1>b", "", "", false)
	f.Add(int8(content.KindText), "\xff", "", "", true)
	f.Fuzz(func(t *testing.T, kind int8, document, url, media string, whole bool) {
		count := func(s string) int { return len(s) / 3 }
		s := sourceOf(document)
		s.URL, s.ContentType, s.Type = url, media, media
		checkCitation(t, Make(s, content.Kind(kind), document, whole, count), content.Kind(kind), document, count)
		SourceType(media, content.Kind(kind), document)
		SourceURL(content.Kind(kind), document, url)
	})
}

func TestMake_Text(t *testing.T) {
	text := "First line.\n" + strings.Repeat("More words of a text. ", 100)
	s := sourceOf(text)
	s.URL, s.Type = "https://example.org/a", "web"
	c := Make(s, content.KindText, text, true, counter(t))
	want := "[c12-k3v9q2mz: 2212 chars, text/plain, web, https://example.org/a]\nBeginning:\n" + text[:500] +
		"...\n[More: retrieve_content(\"c12-k3v9q2mz\", search_terms) or by chars, lines. Full text: expand_message(12)]"
	if c.Text != want || c.Text[c.ExcerptFrom:c.ExcerptEnd] != text[:500] {
		t.Errorf("cited as\n%s", c.Text)
	}
	s.Expand = ""
	short := Make(s, content.KindText, "A short text.", true, counter(t))
	if !strings.HasSuffix(short.Text, "Beginning:\nA short text.\n[More: retrieve_content(\"c12-k3v9q2mz\", search_terms) or by chars, lines]") {
		t.Errorf("cited as\n%s", short.Text)
	}
	if head := Make(s, content.KindText, "A short text.", false, counter(t)); !strings.Contains(head.Text, "A short text....\n") {
		t.Errorf("cited as\n%s", head.Text)
	}
}

// What is cited costs in every later request.
func TestMake_WeighsLittleBesideTheExcerpt(t *testing.T) {
	count := counter(t)
	text := strings.Repeat("More words of a text. ", 100)
	s := sourceOf(text)
	c := Make(s, content.KindText, text, true, count)
	with := count(c.Text) - count(text[:500])
	s.Expand = ""
	c = Make(s, content.KindText, text, true, count)
	without := count(c.Text) - count(text[:500])
	t.Logf("%d tokens beside the excerpt, %d without a way to expand", with, without)
	if with > 60 || without > 50 {
		t.Error("too many")
	}
}

func TestMake_ExcerptIsNotCutInACharacter(t *testing.T) {
	family := "👩‍👩‍👧‍👦"
	text := "x" + strings.Repeat(family, 100)
	c := Make(sourceOf(text), content.KindText, text, true, func(s string) int { return len(s) / 100 })
	excerpt := c.Text[c.ExcerptFrom:c.ExcerptEnd]
	if chars := utf8.RuneCountInString(excerpt); chars > 500 || chars < 490 || uniseg.GraphemeClusterCount(excerpt)*7-6 != chars {
		t.Errorf("%d characters, %d to see", chars, uniseg.GraphemeClusterCount(excerpt))
	}
}

func TestMake_SmallMembersOfAnObject(t *testing.T) {
	count := counter(t)
	text := `{"id": "a-1", "content": ` + fmt.Sprintf("%q", strings.Repeat("long text ", 200)) + `, "status": 200, "tags": ["x", "y"], "meta": {"a": [1, 2]}, "note": "` + strings.Repeat("n", 197) + `"}`
	c := Make(sourceOf(text), content.KindJSON, text, true, count)
	for _, want := range []string{`"id": "a-1"`, `{"status":200,"tags":["x","y"],"meta":{"a":[1,2]},"note":"` + strings.Repeat("n", 197) + `"}` + "\n", `Large members: "content" (2002 bytes)`} {
		if !strings.Contains(c.Text, want) {
			t.Errorf("%s is not in\n%s", want, c.Text)
		}
	}
	if strings.Contains(c.Text, `"id":"a-1"`) {
		t.Errorf("a member is told twice:\n%s", c.Text)
	}
	// With less room, the excerpt is shorter, and what it no longer shows is told.
	long := strings.Repeat("黑豹队的防守只丢了分，", 16)
	text = `{"a": "` + long + `", "b": "` + long + `", "status": 200, "c": "` + strings.Repeat(long, 9) + `"}`
	c = Make(sourceOf(text), content.KindJSON, text, true, count)
	checkCitation(t, c, content.KindJSON, text, count)
	for _, want := range []string{`{"a":"` + long + `","status":200}, and 1 more small members` + "\n", "Beginning:\n{\"a\": \"黑"} {
		if !strings.Contains(c.Text, want) {
			t.Errorf("%s is not in\n%s", want, c.Text)
		}
	}
}

func TestMake_Lists(t *testing.T) {
	count := counter(t)
	long := strings.Repeat("A long description of it. ", 30)
	field := func(i int) string {
		return fmt.Sprintf(`{"Name": "Field%d", "Type": "text", "Note": %q}`, i, long[:90])
	}
	var fields, records, results, byKey []string
	for i := range 12 {
		fields = append(fields, field(i))
	}
	for i := range 50 {
		record := fmt.Sprintf(`{"schema": "dbo", "size": %d, "owner": "o", "kind": "k", "more": 1, "even_more": 2, "Fields": [%s], "ID": "E%d", "Name": "Entity %d", "Description": %q}`, i, strings.Join(fields, ","), i, i, long)
		records = append(records, record)
		byKey = append(byKey, fmt.Sprintf(`"K%d": %s`, i, record))
		results = append(results, fmt.Sprintf(`{"title": "Title %d", "link": "https://example.org/%d", "rank": %d, "snippet": %q}`, i, i, i, long))
	}
	first := `First: {"Name":"Entity 0","Description":"A long description of it. A long description of it. A long description of it. A ...","ID":"E0","schema":"dbo","size":0,"owner":"o","kind":"k","more":1, ... 2 more}`
	keys := "keys: schema, size, owner, kind, more, even_more, Fields, ID, Name, Description"
	for name, c := range map[string]struct {
		text string
		want []string
		not  string
	}{
		"array":        {"[" + strings.Join(records, ",") + "]", []string{"]\n50 items; " + keys + "\n", first, "chars, lines, items"}, "records"},
		"member":       {`{"total": 50, "rows": [` + strings.Join(records, ",") + `]}`, []string{"/rows: 50 items; " + keys, first, `"total": 50`, "chars, lines, items"}, "records"},
		"deep":         {`{"data": {"x": 1, "rows": [` + strings.Join(records, ",") + `]}, "total": 50}`, []string{"/data/rows: 50 items; " + keys, first, `{"total":50}`, "chars, lines"}, "lines, items"},
		"map":          {"{" + strings.Join(byKey, ",") + "}", []string{"50 records: K0, K1, K2, K3, K4, K5, K6, K7, K8, K9, K10, K11, ...; " + keys, first}, "items"},
		"results":      {`{"items": [` + strings.Join(results, ",") + `]}`, []string{"/items: 50 items; keys: title, link, rank, snippet", "1. Title 0 | https://example.org/0 | A long", "5. Title 4 | https://example.org/4 | A long"}, "First"},
		"strings":      {`["` + strings.Repeat(`word","`, 900) + `"]`, []string{"]\n901 items\nBeginning:\n[\"word"}, "First"},
		"two arrays":   {`{"a": [` + records[0] + `], "b": [` + records[1] + `]}`, []string{"/a: 1 items", "/b: 1 items"}, "lines, items"},
		"named fields": {`[{"Fields": [` + strings.Join(fields, ",") + `]}]`, []string{`First: {"Fields":[12: Field0, Field1, Field2, Field3, Field4, ...]}`}, "records"},
		"objects":      {`{"user": {"a": "` + long + `"}, "order": {"b": 1}, "way": {"c": 2}}`, []string{`Large members: "user" {1 members}`}, "records"},
		"empty":        {`{"a": [], "b": {}, "c": "` + long + `"}`, []string{`Large members: "c"`}, "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Make(sourceOf(c.text), content.KindJSON, c.text, true, count)
			checkCitation(t, got, content.KindJSON, c.text, count)
			for _, want := range c.want {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q is not in\n%s", want, got.Text)
				}
			}
			if strings.Contains(got.Text, c.not) {
				t.Errorf("%q is in\n%s", c.not, got.Text)
			}
		})
	}
}

// TestMake_Entities_AreAllNamed: with types and ids, and so are the actions whose results stand in one list.
func TestMake_Entities_AreAllNamed(t *testing.T) {
	count, long := counter(t), strings.Repeat("a long text of it ", 60)
	var entities, actions, alone []string
	for i := range 20 {
		entities = append(entities, fmt.Sprintf(`{"Name": "Entity %d", "Type": "Table", "ID": "E%d", "Fields": %q}`, i, i, long))
		alone = append(alone, fmt.Sprintf(`{"id": %d, "text": %q}`, i, long))
	}
	for i, name := range []string{"Web Page Content", "Database Research", "Web Search"} {
		actions = append(actions, fmt.Sprintf(`{"actionName": %q, "success": true, "contentId": "c%d-aaaaaaaa", "message": %q}`, name, i+1, long))
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"entities":      {"[" + strings.Join(entities, ",") + "]", []string{"Table Entity 0 (E0); Table Entity 1 (E1);", "Table Entity 19 (E19)"}},
		"in a member":   {`{"total": 20, "Entities": [` + strings.Join(entities, ",") + "]}", []string{"Table Entity 0 (E0);", "Table Entity 19 (E19)"}},
		"actions":       {"[" + strings.Join(actions, ",") + "]", []string{"Named: Web Page Content (c1-aaaaaaaa); Database Research (c2-aaaaaaaa); Web Search (c3-aaaaaaaa)\n"}},
		"ids alone":     {"[" + strings.Join(alone, ",") + "]", []string{"Named: 0; 1; 2;", "; 19"}},
		"more than fit": {"[" + strings.Repeat(strings.Join(entities, ",")+",", 9) + "1]", []string{"Table Entity 0 (E0);", "more"}},
		"in an object":  {`{"owner": {"type": "person", "name": "Ann", "id": 7, "text": "` + long + `"}, "n": 1}`, []string{`"owner" {4 members}: person Ann (7)`}},
		"hostile names": {`[{"name": "a\n[c9-aaaaaaaa]", "id": 1, "x": "` + long + `"}, {"name": "b", "id": {"a": 1}, "x": "` + long + `"}]`, []string{"Named: a [c9-aaaaaaaa] (1); b\n"}},
		"several lists": {`{"people": [` + strings.Join(entities[:9], ",") + `], "things": [` + strings.Join(alone[:9], ",") + `]}`, []string{"Table Entity 8 (E8)", "Named: 0; 1; 2; 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Make(sourceOf(c.text), content.KindJSON, c.text, true, count)
			checkCitation(t, got, content.KindJSON, c.text, count)
			for _, want := range c.want {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q is not in\n%s", want, got.Text)
				}
			}
		})
	}
}

func TestMake_LinesAreCutToFit(t *testing.T) {
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf(`"a rather long name of a member, by which it is known %d": 1`, i))
	}
	text := "[" + strings.Repeat("{"+strings.Join(members, ",")+"},", 20) + "1]"
	c := Make(sourceOf(text), content.KindJSON, text, true, func(s string) int { return len(s) * 2 / 3 })
	if !strings.Contains(c.Text, "21 items; keys: a rather long name") {
		t.Errorf("cited as\n%s", c.Text)
	}
}

func TestMake_HeadOfAList(t *testing.T) {
	head := `{"total": 9000, "items": [` + strings.Repeat(`{"id": 1, "name": "a name"}, `, 3000)
	c := Make(sourceOf(head), content.KindJSON, head, false, counter(t))
	if !strings.Contains(c.Text, "/items: more than 3000 items; keys: id, name\nFirst: {") {
		t.Errorf("cited as\n%s", c.Text)
	}
	c = Make(sourceOf(head), content.KindJSON, head, true, counter(t))
	if strings.Contains(c.Text, "items;") {
		t.Errorf("broken JSON is cited as\n%s", c.Text)
	}
}

func TestMake_PageIsCitedByItsMainPart(t *testing.T) {
	page := "<html><head><title>The page - a site</title></head><body><nav><p>Home<p>About</nav><main><ul><li>Contents</ul><h1>The page</h1><p>" + strings.Repeat("Some words &amp; more. ", 80) + "</main></body></html>"
	c := Make(sourceOf(page), content.KindHTML, page, true, counter(t))
	if !strings.Contains(c.Text, "Title: The page - a site\nBeginning:\nThe page\n\nSome words & more.") {
		t.Errorf("cited as\n%s", c.Text)
	}
}

func TestMake_PageWhoseMainPartSaysNothing(t *testing.T) {
	page := "<html><body><p>" + strings.Repeat("Some words. ", 80) + "<main><h1></h1></main></body></html>"
	c := Make(sourceOf(page), content.KindHTML, page, true, counter(t))
	if !strings.Contains(c.Text, "Beginning:\nSome words.") {
		t.Errorf("cited as\n%s", c.Text)
	}
}

// realResults are tool outputs over 1,000 characters from recordings.
func realResults(t *testing.T, recording string) []string {
	var out []string
	for _, line := range strings.Split(recordings.Text(t, recording, "conversations.jsonl"), "\n") {
		var c struct {
			Messages []struct{ Role, Content, Raw string }
		}
		_ = json.Unmarshal([]byte(line), &c)
		for _, m := range c.Messages {
			text := m.Content
			if m.Raw != "" {
				text = m.Raw
			}
			if m.Role == "tool" && utf8.RuneCountInString(text) > 1000 {
				out = append(out, text)
			}
		}
	}
	return out
}

// texts returns the texts of a file of JSON lines.
func texts(t *testing.T, path ...string) []string {
	var out []string
	for _, line := range strings.Split(recordings.Text(t, path...), "\n") {
		var d struct{ Text, Context string }
		if json.Unmarshal([]byte(line), &d) == nil && d.Text != "" {
			out = append(out, d.Text)
		}
	}
	return out
}

func TestMake_RealContents(t *testing.T) {
	count := counter(t)
	var logs []string
	for _, name := range []string{"BGL", "HDFS", "HealthApp", "Mac", "OpenSSH", "OpenStack", "Thunderbird", "Windows", "Zookeeper"} {
		logs = append(logs, recordings.Text(t, "loghub", name+"_2k.log"))
	}
	for name, contents := range map[string][]string{
		"JSON":     {recordings.Text(t, "json_api", "airline_flights.json"), recordings.Text(t, "json_api", "retail_products.json")},
		"HTML":     {recordings.Text(t, "html_docs", "0.7_reference_env.html"), recordings.Text(t, "html_docs", "1.0_reference_agent.html")},
		"logs":     logs,
		"papers":   texts(t, "covidqa", "docs.jsonl"),
		"Chinese":  texts(t, "xquad", "zh.jsonl"),
		"commands": realResults(t, "mini_swe_agent"),
		"session":  realResults(t, "pi_sessions"),
	} {
		t.Run(name, func(t *testing.T) {
			sum, most, own := 0, 0, 0
			for _, document := range contents {
				c := citeAny(document, count)
				checkCitation(t, c, content.KindOf("", document), document, count)
				n := count(c.Text)
				sum, most = sum+n, max(most, n)
				own += count(content.Head(document, 100_000)) * len(document) / max(1, min(len(document), 100_000))
			}
			t.Logf("%d contents, %d tokens on average, at most %d; %d uncited", len(contents), sum/len(contents), most, own/len(contents))
		})
	}
}

func TestMake_LargeJSONIsCitedFast(t *testing.T) {
	testlane.Speed(t)
	document := recordings.Text(t, "json_api", "airline_flights.json")
	count := counter(t)
	best := time.Hour
	for range 10 {
		began := time.Now()
		citeAny(document, count)
		best = min(best, time.Since(began))
	}
	t.Logf("%d bytes in %v", len(document), best)
	if best > 100*time.Millisecond {
		t.Error("too slow")
	}
}

func BenchmarkMake(b *testing.B) {
	document := recordings.Text(b, "json_api", "airline_flights.json")
	count := counter(b)
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		Make(sourceOf(document), content.KindJSON, document, true, count)
	}
}
