package content

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

var allKinds = []Kind{KindText, KindMarkdown, KindHTML, KindJSON, KindLines, KindCode}

// checkReading asks of a reading what is true of all.
func checkReading(t rapid.TB, r *Reading, from, to int) {
	t.Helper()
	starts := r.Starts()
	if (len(starts) == 0) != (r.Text == "") || len(starts) > 0 && starts[0] != 0 {
		t.Fatalf("%d bytes of text begin with the sections %v", len(r.Text), starts[:min(3, len(starts))])
	}
	for i := range starts {
		if i > 0 && starts[i] <= starts[i-1] || int(starts[i]) >= len(r.Text) {
			t.Fatalf("section %d of %d bytes begins at %d", i, len(r.Text), starts[i])
		}
	}
	if int64(len(starts))*4 > int64(len(r.Text)/4+64) {
		t.Fatalf("%d sections in %d bytes", len(starts), len(r.Text))
	}
	if r.Kind != KindHTML && r.Text != r.Content {
		t.Fatalf("%d bytes are read as %d", len(r.Content), len(r.Text))
	}
	if place := r.Place(from, to); place == "" || len(place) > 2*maxPointerBytes+50 {
		t.Fatalf("the place of [%d, %d) of %d is %q", from, to, len(r.Text), place)
	}
	from = min(max(from, 0), len(r.Text))
	to = min(max(to, from), len(r.Text))
	bytes, chars := r.Source(from, to)
	if bytes[0] < 0 || bytes[1] < bytes[0] || bytes[1] > int64(len(r.Content)) {
		t.Fatalf("[%d, %d) came from the bytes %v", from, to, bytes)
	}
	for i := range bytes {
		if chars[i] != int64(utf8.RuneCountInString(r.Content[:bytes[i]])) && utf8.ValidString(r.Content) {
			t.Fatalf("byte %d is character %d", bytes[i], chars[i])
		}
	}
}

func TestRead_AnyContent(t *testing.T) {
	contents := rapid.OneOf(rapid.Map(anyText(), func(b []byte) string { return string(b) }), proptest.JSON(), proptest.Page(), rapid.String())
	proptest.Check(t, func(t *rapid.T) {
		content := contents.Draw(t, "content")
		kind := rapid.SampledFrom(allKinds).Draw(t, "kind")
		r := Read(kind, content)
		checkReading(t, r, rapid.IntRange(-1, len(content)+1).Draw(t, "from"), rapid.IntRange(-1, len(content)+1).Draw(t, "to"))
	})
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"a":[{"b":1},"c"]}`, "<p>a&amp;b<script>x</script><h1>T</h1>", "# T\n\ntext\n```\n# no\n```\nT\n===\n", "<!--", "<svg>", "&notit;&#x41;&", "[1,2", "\xff\x00<a",
	} {
		for _, kind := range allKinds {
			f.Add(int8(kind), seed, 0, len(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind int8, content string, from, to int) {
		checkReading(t, Read(Kind(kind), content), from, to)
		KindOf("", content)
	})
}

// Whoever sends a content may want it to be dear to read.
func TestRead_HostileContents(t *testing.T) {
	const size = 256 << 10
	for name, unit := range map[string]string{
		"nested arrays": "[", "nested objects": `{"a":`, "one line": "word ", "no borders": "x", "open tags": "<div>", "open spans": "<b>x", "one tag": "<a ",
		"references": "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ampersands": "&", "entities": "&amp;", "comments": "<!-", "cells": "<td>", "scripts": "<script>",
		"headings": "# a\n\n", "underlines": "a\n---\n", "fences": "```\n", "NUL": "\x00", "invalid": "\xe7", "going on": "\x80", "blank lines": "\n", "quotes": `"`,
		"backslashes": `\`, "numbers": "1,", "closers": "]", "open headings": "<h1>", "empty cells": "<td></td>", "letters": "<i>a</i>", "spaces": " ", "mixed": "<p>&lt;[{\"",
	} {
		t.Run(name, func(t *testing.T) {
			content := strings.Repeat(unit, size/len(unit))
			for _, kind := range allKinds {
				hostile(t, kind, content)
				hostile(t, kind, `{"a":[`+content)
			}
			hostile(t, KindJSON, "["+strings.Repeat("[", 9000)+strings.Repeat(unit, 100)+strings.Repeat("]", 9000)+"]")
		})
	}
	hostile(t, KindJSON, strings.Repeat("[", 9999)+strings.Repeat("]", 9999))
	hostile(t, KindJSON, "["+strings.Repeat(strings.Repeat("[", 99)+strings.Repeat("]", 99)+",", size/200)+"1]")
	hostile(t, KindJSON, "["+strings.Repeat("1,", size/2)+"1]")
	hostile(t, KindJSON, `{"`+strings.Repeat("long ", size/5)+`":{"a":[`+strings.Repeat(`{"a":1},`, 99_999)+`1]}}`)
	hostile(t, KindHTML, strings.Repeat("&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 8*size/40))
	hostile(t, KindJSON, `{"a":"`+strings.Repeat(`\n`, size/2)+`"}`)
}

func hostile(t *testing.T, kind Kind, content string) {
	t.Helper()
	began := time.Now()
	KindOf("", content)
	r := Read(kind, content)
	for i := range 5 {
		checkReading(t, r, len(r.Text)*i/5, len(r.Text)*i/5+500)
	}
	if took := time.Since(began); took > testlane.Slack(5*time.Second) {
		t.Errorf("kind %d: %d bytes took %v", kind, len(content), took)
	}
	if size := r.Size(); size > 3*int64(len(content))+1<<10 {
		t.Errorf("kind %d: %d bytes need %d", kind, len(content), size)
	}
}

// value is a value of a JSON document: its pointer, and where it is, with its key.
type value struct {
	pointer   string
	from, end int
}

// values finds all values of a document, in their order.
func values(text string) []value {
	d := json.NewDecoder(strings.NewReader(text))
	var all []value
	var walk func(pointer string, from int)
	skip := func(at int64) int { return skipJSONSpace(text, int(at), ",:") }
	walk = func(pointer string, from int) {
		n := len(all)
		all = append(all, value{pointer: pointer, from: from})
		token, err := d.Token()
		if err != nil {
			panic(err)
		}
		switch token {
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				walk(fmt.Sprint(pointer, "/", i), skip(d.InputOffset()))
			}
			_, _ = d.Token()
		case json.Delim('{'):
			for d.More() {
				from := skip(d.InputOffset())
				key, _ := d.Token()
				walk(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(key)), from)
			}
			_, _ = d.Token()
		}
		all[n].end = int(d.InputOffset())
	}
	walk("", skip(0))
	return all
}

// header is what comes before the first value that a part is about.
var header = regexp.MustCompile(`^([\s\[{,:]|"([^"\\]|\\.)*"\s*:)*$`)

func TestReading_Place_JSONPointersHoldThePart(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := "[" + proptest.JSON().Filter(func(s string) bool { return json.Valid([]byte(s)) }).Draw(t, "document") + "]"
		r := Read(KindJSON, text)
		if r.Kind != KindJSON {
			t.Fatalf("%s is read as kind %d", text, r.Kind)
		}
		from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, min(len(text), from+2000)).Draw(t, "to")
		place := r.Place(from, to)
		head, tail, several := strings.Cut(place, " to ")
		part := strings.Trim(text[from:to], " \n\r\t,:[]{}")
		if part == "" {
			return
		}
		first := from + strings.Index(text[from:to], part)
		last := first + len(part)
		all := values(text)
		for i, v := range all {
			if v.pointer != head && (head != "/" || v.pointer != "") {
				continue
			}
			for _, w := range all[i:] {
				if (!several && w.pointer == v.pointer || several && w.pointer == tail) && (v.from <= first || header.MatchString(text[first:v.from])) && last <= w.end {
					return
				}
			}
		}
		t.Fatalf("%q...%q is at %s", part[:min(len(part), 50)], part[max(0, len(part)-50):], place)
	})
}

func TestReading_Place_JSON(t *testing.T) {
	var items []string
	for i := range 200 {
		items = append(items, fmt.Sprintf(`{"id": %d, "name": "item number %d", "text": %q, "tags": ["a", "b"]}`, i, i, strings.Repeat("words ", 50)))
	}
	long := `"` + strings.Repeat(`a line of a long text\n`, 100) + `"`
	text := `{"total": 200, "items": [` + strings.Join(items, ",\n") + `], "a/b~c": {"x": ` + long + `, "y": ` + long + `}, "end": [[1, 2], 3]}`
	r := Read(KindJSON, text)
	for i, item := range items {
		at := strings.Index(text, item)
		if place := r.Place(at, at+len(item)); place != fmt.Sprintf("/items/%d", i) {
			t.Errorf("item %d is at %s", i, place)
		}
		if place := r.Place(at+20, at+40); place != fmt.Sprintf("/items/%d", i) {
			t.Errorf("a part of item %d is at %s", i, place)
		}
	}
	for part, want := range map[string]string{
		`"total": 200`:                                 "/total",
		`"total": 200, "items": [`:                     "/total to /items",
		items[7] + ",\n" + items[8] + ",\n" + items[9]: "/items/7 to /items/9",
		`"items": [` + items[0]:                        "/items/0",
		`"x": ` + long:                                 "/a~1b~0c/x",
		`"y": ` + long[:100]:                           "/a~1b~0c/y",
		`"a/b~c": {"x": ` + long[:80]:                  "/a~1b~0c/x",
		`[1, 2]`:                                       "/end",
		text:                                           "/",
	} {
		at := strings.Index(text, part)
		if place := r.Place(at, at+len(part)); place != want {
			t.Errorf("%.60q is at %s, want %s", part, place, want)
		}
	}
	starts := 0
	for _, at := range r.Starts() {
		if strings.HasPrefix(text[at:], `{"id"`) {
			starts++
		}
	}
	if starts < len(items)-1 {
		t.Errorf("sections begin at %d of %d items", starts, len(items))
	}
}

// Places are found without reading a document from its beginning.
func TestReading_Place_JSONIsFast(t *testing.T) {
	testlane.Speed(t)
	record := `{"a": "` + strings.Repeat("word ", 200) + `", "b": [1, 2, 3]},`
	for name, text := range map[string]string{
		"small items": "[" + strings.Repeat("1,", 3_000_000) + "1]", "large items": "[" + strings.Repeat(record, 2000) + "1]",
		"after large items": "[" + strings.Repeat("{"+strings.Repeat(`"key": "value",`, 5000)+`"a": 1},`+strings.Repeat("8,", 20), 100) + "1]",
		"small members":     "[" + strings.Repeat("1,", 100_000) + `{"a": {` + strings.Repeat(`"key": "value",`, 100_000) + `"a": 1}}]`,
	} {
		r := Read(KindJSON, text)
		began := time.Now()
		for i := range 1000 {
			at := len(text) / 1000 * i
			at += max(0, strings.Index(text[at:], "8,"))
			r.Place(at, at+100)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: 1,000 places took %v", name, took)
		}
	}
}

func TestRead_LongParagraphsAreSeveralUnits(t *testing.T) {
	for _, kind := range []Kind{KindText, KindMarkdown, KindLines, KindCode, KindHTML} {
		for word, limit := range map[string]int{"word": sectionChars, "字字字": 3 * sectionChars} {
			text := "<pre>" + strings.Repeat("\t"+strings.Repeat(word+" ", 10)+"\n", 200)
			r := Read(kind, text)
			starts := append(r.Starts(), int32(len(r.Text)))
			for i := range starts[1:] {
				if size := int(starts[i+1] - starts[i]); size > 2*limit {
					t.Errorf("kind %d: a unit of %d bytes", kind, size)
				}
			}
			if kind != KindLines && len(starts) > 4*len(r.Text)/limit {
				t.Errorf("kind %d: %d units in %d bytes", kind, len(starts), len(r.Text))
			}
		}
	}
}

func TestReading_Source_CharactersOfLongTexts(t *testing.T) {
	for shift := range 3 {
		text := strings.Repeat("x", shift) + strings.Repeat("界", 3*positionStep)
		r := Read(KindText, text)
		for at := shift; at < len(text); at += 300 {
			if _, chars := r.Source(at, at+3); chars[0] != int64(shift+(at-shift)/3) || chars[1] != chars[0]+1 {
				t.Fatalf("byte %d is at %v", at, chars)
			}
		}
	}
}

func TestReading_Source_HTMLCharactersComeFromWhatSaysThem(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		content := proptest.Page().Draw(t, "page")
		r := Read(KindHTML, content)
		if r.Kind != KindHTML {
			return
		}
		end := int64(0)
		for at, c := range r.Text {
			size := utf8.RuneLen(c)
			if c == utf8.RuneError && strings.HasPrefix(r.Text[at:], "\xff") {
				size = 1
			}
			bytes, _ := r.Source(at, at+size)
			if bytes[0] < end {
				t.Fatalf("%q at %d came from %v, what is before it ended at %d", c, at, bytes, end)
			}
			end = bytes[1]
			raw := content[bytes[0]:bytes[1]]
			if said := html.UnescapeString(raw); said != r.Text[at:at+size] && strings.TrimSpace(string(c)) != "" && c != '|' {
				t.Fatalf("%q at %d came from %q", r.Text[at:at+size], at, raw)
			}
		}
		plain := html.UnescapeString(content)
		for _, word := range strings.Fields(r.Text) {
			if strings.Trim(word, "|") != "" && !strings.Contains(plain, strings.TrimRight(word, "|")) && !strings.ContainsAny(word, "|<") {
				if bytes, _ := r.Source(strings.Index(r.Text, word), strings.Index(r.Text, word)+len(word)); !strings.Contains(content[bytes[0]:bytes[1]], "<") {
					t.Fatalf("%q is not said", word)
				}
			}
		}
	})
}

func TestRead_HTML(t *testing.T) {
	page := `<!DOCTYPE html><html><head><title>The
 Title</title><style>p{}</style><script>var x = "<p>no</p>";</script><template><template>a</template>b</template></head><body><nav><a href=/>Home</a></nav>
<!-- nothing --><h1>Intro<span>duction</span></h1><p>First &amp; <b>second</b>&nbsp;word.</p><ul><li>one</li><li>two</li></ul>
<h2>Numbers</h2><table><tr><th>Name</th><th>Age</th></tr><tr><td>Ann</td><td>30</td></tr></table><pre>  a
    b</pre><p>End<br>of it</p></body></html>`
	r := Read(KindHTML, page)
	want := "The Title\n\nHome\n\nIntroduction\n\nFirst & second\u00a0word.\none\ntwo\n\nNumbers\n\nName | Age\nAnn | 30\n  a\n    b\nEnd\nof it"
	if r.Text != want && r.Text != strings.Replace(want, "30\n  a", "30\n\n  a", 1) {
		t.Errorf("read as %q", r.Text)
	}
	for part, want := range map[string]string{"Home": "lines 2-2", "First": "section: Introduction", "two": "section: Introduction", "Ann": "section: Numbers", "Numbers": "section: Numbers"} {
		at := strings.Index(r.Text, part)
		if place := r.Place(at, at+len(part)); place != want {
			t.Errorf("%q is at %s", part, place)
		}
		bytes, chars := r.Source(at, at+len(part))
		if page[bytes[0]:bytes[1]] != part || chars != bytes {
			t.Errorf("%q came from %q", part, page[bytes[0]:bytes[1]])
		}
	}
	at := strings.Index(r.Text, "First")
	if bytes, _ := r.Source(at, at+len("First & second")); page[bytes[0]:bytes[1]] != "First &amp; <b>second" {
		t.Errorf("came from %q", page[bytes[0]:bytes[1]])
	}
	if !strings.HasPrefix(r.Text[r.page.body:], "Introduction") {
		t.Errorf("the main part begins with %.20q", r.Text[r.page.body:])
	}
}

func TestRead_Markdown(t *testing.T) {
	text := "Preface of some length, to be a section.\n\n# One #\n\nText of one that is long enough.\n\nAnother paragraph of section one.\n\n```sh\n# not a heading at all, but a comment\n```\n\n" +
		"Two\n---\ntext of two, which is also long enough\n\n- list\n---\n\n####### seven\n"
	r := Read(KindMarkdown, text)
	for part, want := range map[string]string{
		"Preface": "lines 1-1", "# One": "section: One, lines 3-3", "Another": "section: One, lines 7-7", "# not": "section: One, lines 10-10",
		"Two\n---\ntext": "section: Two, lines 13-15", "seven": "section: Two, lines 20-20",
	} {
		at := strings.Index(text, part)
		if place := r.Place(at, at+len(part)); place != want {
			t.Errorf("%q is at %s, want %s", part, place, want)
		}
	}
	var begin []string
	for _, at := range r.Starts() {
		begin = append(begin, text[at:][:6])
	}
	if got := strings.Join(begin, "|"); got != "Prefac|# One |Anothe|Two\n--|- list" && got != "Prefac|# One |Anothe|```sh\n|Two\n--|- list" {
		t.Errorf("sections begin with %q", got)
	}
}

func TestRead_MarkdownFrontMatterIsNoHeading(t *testing.T) {
	text := "---\ntitle: A title\ndate: today\n---\n\n# Heading of the document\n\nText.\n"
	r := Read(KindMarkdown, text)
	if place := r.Place(5, 12); place != "lines 2-2" {
		t.Errorf("front matter is at %s", place)
	}
	if place := r.Place(len(text)-6, len(text)); place != "section: Heading of the document, lines 8-8" {
		t.Errorf("text is at %s", place)
	}
}

func TestReading_Place_SpaceBeforeAHeadingIsNoPartOfTheSectionBefore(t *testing.T) {
	text := "# One\n\nText of the first section.\n\n# Two\n\nText.\n"
	if place := Read(KindMarkdown, text).Place(strings.Index(text, "\n\n# Two"), len(text)); place != "section: Two, lines 5-7" {
		t.Errorf("it is at %s", place)
	}
}

func TestReading_Place_LinesAreThoseOfTheContent(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := string(anyText().Draw(t, "text"))
		r := Read(KindText, text)
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		part := strings.Trim(text[from:to], JSONSpace)
		if part == "" {
			return
		}
		first := from + strings.Index(text[from:to], part)
		want := fmt.Sprintf("lines %d-%d", 1+strings.Count(text[:first], "\n"), 1+strings.Count(text[:first+len(part)], "\n"))
		if place := r.Place(from, to); place != want {
			t.Fatalf("[%d, %d) is at %s, want %s", from, to, place, want)
		}
	})
}

func TestRead_RealJSONIsReadFast(t *testing.T) {
	testlane.Speed(t)
	content := recordings.Text(t, "json_api", "airline_flights.json")
	best := time.Hour
	for range 10 {
		began := time.Now()
		Read(KindJSON, content)
		best = min(best, time.Since(began))
	}
	r := Read(KindJSON, content)
	t.Logf("%d bytes in %v, %d sections, %d bytes of memory", len(content), best, len(r.Starts()), r.Size())
	if best > 100*time.Millisecond || r.Size() > int64(len(content)/10) {
		t.Error("too slow or too large")
	}
}

func BenchmarkRead(b *testing.B) {
	for name, c := range map[string]struct {
		kind Kind
		path []string
	}{"json": {KindJSON, []string{"json_api", "airline_flights.json"}}, "html": {KindHTML, []string{"html_docs", "0.7_reference_env.html"}}, "lines": {KindLines, []string{"loghub", "OpenStack_2k.log"}}} {
		b.Run(name, func(b *testing.B) {
			content := recordings.Text(b, c.path...)
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				Read(c.kind, content)
			}
		})
	}
}

func TestJSONShape_NodeAt_EndsAreBeyond(t *testing.T) {
	r := Read(KindJSON, `{"a": {"list": [`+strings.Repeat(`"an item of some length", `, 200)+`"last"]}, "b": [`+strings.Repeat(`"another", `, 200)+`"last"]}`)
	for i, n := range r.json.nodes {
		if n.parent < 0 {
			continue
		}
		if at, _ := r.json.nodeAt(int(n.end)); at == int32(i) {
			t.Errorf("byte %d is in what ended there", n.end)
		}
		if at, _ := r.json.nodeAt(int(n.end) - 1); int(at) < i {
			t.Errorf("the last byte of node %d is in node %d", i, at)
		}
	}
	if len(r.json.nodes) < 3 {
		t.Errorf("%d nodes", len(r.json.nodes))
	}
}
