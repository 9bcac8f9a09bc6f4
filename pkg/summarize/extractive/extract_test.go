package extractive_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// repeated writes a line n times with its number for each #.
func repeated(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

const page = `<!DOCTYPE html><html><head><title>Rate limits</title><style>p{color:red}</style></head><body>
<nav><a href="/home">Home</a> <a href="/pricing">All our pricing plans in one place</a></nav>
<main><h1>Rate limits</h1><p>Every key may send 600 requests per minute. Requests over the limit answer 429 &amp; say when to retry.</p>
<h2>Headers</h2><p>The header X-RateLimit-Remaining says how many requests are left in the window.</p>
<table><tr><th>Header</th><th>Meaning</th></tr><tr><td>Retry-After</td><td>seconds to wait</td></tr><tr><td>X-RateLimit-Reset</td><td>when the window ends</td></tr></table>
<h2>Raising a limit</h2><p>Write to <a href="https://example.com/support/limits">support</a> with the id of the key.</p>
<pre>curl -H "Authorization: Bearer $KEY" https://api.example.com/v1/limits
# more</pre><script>var hidden = "never shown";</script></main></body></html>`

const source = `package store

import (
	"context"
	"errors"
)

// ErrGone says that a record was deleted.
var ErrGone = errors.New("gone")

// Store keeps records in memory.
type Store struct {
	records map[string]string
}

// Get returns the record with an id, or ErrGone.
func (s *Store) Get(ctx context.Context, id string) (string, error) {
	if r, ok := s.records[id]; ok {
		return r, nil
	}
	return "", ErrGone
}

// Delete forgets a record.
func (s *Store) Delete(id string) {
	delete(s.records, id)
}
`

const patch = `diff --git a/pkg/a.go b/pkg/a.go
index 1..2 100644
--- a/pkg/a.go
+++ b/pkg/a.go
@@ -1,4 +1,5 @@ func first()
 package a
-const timeout = 3
+const timeout = 30
+const retries = 5
 // end
diff --git a/docs/readme.md b/docs/readme.md
--- a/docs/readme.md
+++ b/docs/readme.md
@@ -10,3 +10,2 @@
 text that stays as it was before, for context around the change
-old sentence about timeouts
 more text that stays as it was before, for context around it
`

// kinds are texts of every kind, the extract's length, its first line with # for the number of characters, and what must be
// in it and what must not.
var kinds = []struct {
	name, text string
	target     int
	first      string
	has, lacks []string
}{
	{
		"array of objects", `[{"id":"A1","city":"Rome","pop":2873000,"ok":true},{"id":"B2","city":"Oslo","pop":709000,"ok":true},` +
			`{"id":"C3","city":"Lima","pop":9751000,"ok":true},{"id":"D4","city":"Kyiv","pop":2952000,"ok":true}]`, 160,
		"JSON array, 4 items, # characters.",
		[]string{"id | city | pop", "all: ok true", "[0] A1 | Rome | 2873000", "[3] D4 | Kyiv | 2952000"}, nil,
	},
	{
		"error in an array", "[" + strings.Repeat(`{"id":7,"state":"done"},`, 80) + `{"id":99,"state":"failed","reason":"disk full on /dev/sdb1"}]`, 300,
		"JSON array, 81 items, # characters.",
		[]string{`[80].state: "failed" (id 99)`, "id", "reason (in 1)"}, nil,
	},
	{
		"members", `{"user":"ann","plan":"pro","usage":{"tokens":123456,"limit":500000},"tags":["a","b","c"],"notes":"` + strings.Repeat("x", 150) +
			`","next":"https://api.example.com/v1/users?page=2"}`, 250,
		"JSON object, 6 members, # characters.",
		[]string{"tags [3", `next: "https://api.example.com/v1/users?page=2"`, "usage.tokens: 123456", `user: "ann"`}, nil,
	},
	{
		"nested counts", `{"orders":{"o1":{"items":[1,2,3]},"o2":{"items":[4]},"o3":{"items":[]}},"pad":"` + strings.Repeat("y ", 60) + `"}`, 170,
		"JSON object, 2 members, # characters.",
		[]string{"orders [3: {items [0 to 3 each, 4 in all]}]"}, nil,
	},
	{
		"JSON lines", repeated(40, `{"seq":#,"event":"tick"}`), 200,
		"JSON lines, 40 items, # characters.",
		[]string{"all: event \"tick\"", "[0] 0", "[39] 39"}, nil,
	},
	{
		"JSON broken off", `{"rows":[` + strings.Repeat(`{"id":1,"v":"abc"},`, 30) + `{"id":2,"v":"a`, 200,
		"JSON object, broken off, at least 1 member, # characters.",
		[]string{"rows [31"}, nil,
	},
	{
		"log in JSON", `{"exit_code":2,"stdout":"` + strings.ReplaceAll(repeated(60, "2024-01-01 10:00:# INFO step # done"), "\n", `\n`) + `"}`, 300,
		"JSON around stdout: Log, 60 lines in 1 template, # characters.",
		[]string{"exit_code: 2", "L1 ×60: 2024-01-01 10:00:0 INFO step 0 done"}, nil,
	},
	{
		"log", repeated(50, "2024-01-01 10:00:# INFO worker # ready") + "2024-01-01 10:01:00 ERROR db-3 unreachable: no route to host\n" +
			repeated(20, "2024-01-01 10:02:# DEBUG cache hit #"), 400,
		"Log, 71 lines in 3 templates, 1 with error words, # characters.",
		[]string{
			"L51: 2024-01-01 10:01:00 ERROR db-3 unreachable: no route to host", "L1 ×50: 2024-01-01 10:00:0 INFO worker 0 ready",
			"×20: 2024-01-01 10:02:", "L71",
		},
		nil,
	},
	{
		"tests that pass", repeated(40, "tests/test_api.py::test_invalid_error_# PASSED [ #%]") + "1 failed, 40 passed in 3.2s\n", 300,
		"Output, 41 lines in 2 templates, 1 with error words, # characters.",
		[]string{"×40: tests/test_api.py::test_invalid_error_0 PASSED", "L41: 1 failed, 40 passed in 3.2s"}, nil,
	},
	{
		"page", page, 700,
		"HTML page “Rate limits”, 3 headings, 1 table, 1 code block, 1 link, # characters.",
		[]string{
			"# Rate limits", "## Headers", "## Raising a limit", "- Every key may send 600 requests per minute.", "limit answer 429 & say",
			"Table, 3 rows: Header | Meaning", "Code: curl -H", "https://example.com/support/limits",
		},
		[]string{"never shown", "color:red"},
	},
	{
		"Markdown", "# Guide\n\nIntro sentence about the guide for operators.\n\n## Install\n\n- Run `make install` first.\n- See [docs](https://example.com/docs).\n\n" +
			"```sh\nmake install PREFIX=/opt/tool\n```\n\n## Tables\n\n| Name | Use |\n|---|---|\n| a | b |\n| c | d |\n\n" + strings.Repeat("Filler sentence without content. ", 20), 420,
		"Markdown, 21 lines, 3 headings, 1 table, 1 code block, 1 link, # characters.",
		[]string{"# Guide", "## Install", "## Tables", "Table, 3 rows: | Name | Use |", "Code: make install PREFIX=/opt/tool", "https://example.com/docs"}, nil,
	},
	{
		"code", source, 460,
		"Go code, 27 lines, 1 type, 2 functions, # characters.",
		[]string{"L12: type Store struct {", "Get", "Delete", "ErrGone"}, nil,
	},
	{
		"error among code", source + "ERROR: linter crashed while reading store.go line 17\n" + source, 460,
		"Go code, 55 lines, 2 types, 4 functions, # characters.",
		[]string{"L28: ERROR: linter crashed while reading store.go line 17"}, nil,
	},
	{
		"diff", patch, 380,
		"Diff, 2 files, 2 lines added, 2 removed, # characters.",
		[]string{
			"+2 -1 pkg/a.go", "+0 -1 docs/readme.md", "@@ -1,4 +1,5 @@ func first()", "@@ -10,3 +10,2 @@", "+const timeout = 30", "-old sentence about timeouts",
		}, nil,
	},
	{
		"search results", repeated(30, "pkg/engine/build.go:1#:	if err := check(#); err != nil {") + repeated(10, "pkg/store/tx.go:2#:	return check(#)"), 300,
		"Search results, 40 lines in 2 files, # characters.",
		[]string{"(30) pkg/engine/build.go", "(10) pkg/store/tx.go", "return check(", "other lines)"}, nil,
	},
	{
		"paths", repeated(30, "src/app/page#.tsx") + repeated(12, "src/lib/mod#.ts"), 200,
		"Paths, 42 in 2 folders, # characters.",
		[]string{"src/app/ (30): page0.tsx", "src/lib/ (12): mod0.ts"}, nil,
	},
	{
		"separated values", "order_id,customer,status\n" + repeated(60, "100#,customer #,shipped") + "2099,Eve,payment failed\n", 300,
		"Table of separated values, 62 lines with the head, 3 columns, # characters.",
		[]string{"order_id,customer,status", "L62: 2099,Eve,payment failed", "L2: 1000,customer 0,shipped"}, nil,
	},
	{
		"wrapped", "<returncode>1</returncode>\n<output>\n" + repeated(40, "compiled module # in # ms") + "Segfault in module 41\n</output>", 300,
		"Output, 41 lines in 2 templates, 1 with error words, # characters.",
		[]string{"<returncode>1</returncode>", "L43: Segfault in module 41", "L3 ×40: compiled module 0 in 0 ms"}, []string{"<output>"},
	},
	{
		"prose", "The Harbour Act of 1911 moved the ferry terminal to Pier 7. " + strings.Repeat("It was a day like any other and nothing much was said of it. ", 20) +
			"The terminal cost 4.2 million kroner and opened on 3 May 1914.", 250,
		"Text, 22 sentences, # characters.",
		[]string{"The Harbour Act of 1911 moved the ferry terminal to Pier 7.", "4.2 million kroner"}, nil,
	},
}

func TestExtract_Kinds(t *testing.T) {
	for _, k := range kinds {
		got := checkExtract(t, k.text, k.target)
		first, _, _ := strings.Cut(got, "\n")
		if want := strings.ReplaceAll(k.first, "#", commas(utf8.RuneCountInString(k.text))); first != want {
			t.Errorf("%s: first line %q, want %q", k.name, first, want)
		}
		for _, s := range k.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %q is not in\n%s", k.name, s, got)
			}
		}
		for _, s := range k.lacks {
			if strings.Contains(got, s) {
				t.Errorf("%s: %q is in\n%s", k.name, s, got)
			}
		}
	}
}

func TestExtract_ShortText_IsItself(t *testing.T) {
	for _, text := range []string{"", "a", "naïve 🇩🇪", strings.Repeat("é", 100), `{"a":1}`} {
		if got := extractive.Extract(text, utf8.RuneCountInString(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestExtract_NoRoom_ShortFirstLine(t *testing.T) {
	text := "[" + strings.Repeat("1,", 99) + "1]"
	for n, want := range map[int]string{-1: "", 0: "", 5: "JSON…", 10: "JSON array", 25: "JSON array, 100 items", 41: "JSON array, 100 items, 201 characters."} {
		if got := extractive.Extract(text, n); !strings.HasPrefix(got, want) || (n < 26 && got != want) {
			t.Errorf("%d characters: %q, want %q", n, got, want)
		}
	}
}

func TestExtract_InvalidUTF8_IsReplaced(t *testing.T) {
	got := checkExtract(t, strings.Repeat("ERROR \xff\xfe broken pipe\n", 50), 200)
	if !strings.Contains(got, "ERROR \uFFFD broken pipe") {
		t.Errorf("not shown:\n%s", got)
	}
}

func TestExtract_Colors_AreLeftOut(t *testing.T) {
	got := checkExtract(t, repeated(40, "\x1b[32mok\x1b[0m step #")+"\x1b[1;31mERROR\x1b[0m step 41 exploded\n", 200)
	if strings.Contains(got, "\x1b") || !strings.Contains(got, "ERROR step 41 exploded") {
		t.Errorf("got:\n%s", got)
	}
}

// TestExtract_Clusters_AreNotCut looks for beginnings of clusters where an ellipsis stands: what was cut must be whole.
func TestExtract_Clusters_AreNotCut(t *testing.T) {
	family, flag, accent := "👨‍👩‍👧‍👦", "🇩🇪", "q\u0301\u0323"
	for _, cluster := range []string{family, flag, accent, "한", "नि"} {
		for _, text := range []string{strings.Repeat(cluster, 400), strings.Repeat(cluster+" "+cluster+"\n", 200), `{"a":"` + strings.Repeat(cluster, 300) + `"}`} {
			for n := 40; n < 240; n += 7 {
				if rest := strings.ReplaceAll(checkExtract(t, text, n), cluster, ""); strings.ContainsAny(rest, cluster) {
					t.Fatalf("%q is cut in %q", cluster, extractive.Extract(text, n))
				}
			}
		}
	}
}

// TestExtract_AnyText_BoundedValidTheSame draws texts put together from what the kinds are made of.
func TestExtract_AnyText_BoundedValidTheSame(t *testing.T) {
	bits := []string{
		"{", "}", "[", "]", `"`, ":", ",", "\n", " ", "<p>", "</p>", "<table><tr>", "# ", "```\n", "@@ -1 +1 @@\n", "+a\n", "-b\n", "ERROR ", "a/b.go:1:",
		"def f():\n", "1", "x", "é", "👨‍👩‍👧", "\u0301", "\r", "\x1b[1m", "\\u00", "\xff", "<output>\n", "</output>", "。", "null", "--- a\n", "+++ b\n", "|", "\t",
	}
	proptest.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(bits), 0, 300).Draw(t, "parts")
		n := rapid.IntRange(1, 700).Draw(t, "n")
		text := strings.Join(parts, "")
		got := extractive.Extract(text, n)
		if utf8.RuneCountInString(got) > n || !utf8.ValidString(got) || got != extractive.Extract(text, n) {
			t.Fatalf("%d characters: %q", n, got)
		}
		if uniseg.GraphemeClusterCount(got) == 0 && strings.TrimSpace(text) != "" {
			t.Fatalf("%q gave nothing", text)
		}
	})
}

func FuzzExtract(f *testing.F) {
	for _, k := range kinds {
		f.Add(k.text, k.target)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 1), 10_000)
		got := extractive.Extract(text, n)
		if utf8.RuneCountInString(got) > n || !utf8.ValidString(got) || got != extractive.Extract(text, n) {
			t.Fatalf("%d characters: %q", n, got)
		}
		if utf8.ValidString(text) && utf8.RuneCountInString(text) <= n && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
