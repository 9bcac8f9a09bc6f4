package interop

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A block of code that a page takes from a file: the whole, or what stands there between two lines that name a region.
//
//	<!-- from examples/python/expanding.py [handler] -->
var taken = regexp.MustCompile("(?m)^<!-- from (\\S+)(?: \\[(\\w+)\\])? -->\n\n?```\\w*\n((?s:.*?))^```$")

// TestDocs_CodeIsThatOfTheExamples holds the code in the documentation to the programs that the tests run.
func TestDocs_CodeIsThatOfTheExamples(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		text := read(t, page)
		for _, block := range taken.FindAllStringSubmatch(text, -1) {
			found++
			shown, want := block[3], region(t, block[1], block[2])
			if shown == want {
				continue
			}
			if os.Getenv("PALIMPSEST_REWRITE") == "" {
				t.Errorf("%s: the code from %s %s has drifted: run the test with PALIMPSEST_REWRITE=1", page, block[1], block[2])
				continue
			}
			text = strings.Replace(text, block[0], strings.TrimSuffix(block[0], shown+"```")+want+"```", 1)
			if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if marks := strings.Count(strings.Join(all(t), ""), "<!-- from "); found == 0 || marks != found {
		t.Errorf("%d blocks were compared, and %d are marked as taken from a file", found, marks)
	}
}

// region is the text of a file under the repository's root, or of a region of it.
func region(t *testing.T, file, name string) string {
	t.Helper()
	text := read(t, filepath.Join("../..", file))
	if name == "" {
		return text
	}
	shown, ok := cutRegion(text, name)
	if !ok {
		t.Fatalf("%s has no region %s", file, name)
	}
	return shown
}

// cutRegion is what stands between the two lines that name a region, without the empty lines at its end, which gofmt puts between a
// declaration and the next comment. Where the lines are indented, so is what stands between them: that much is taken off.
func cutRegion(text, name string) (string, bool) {
	begin, end := regexp.MustCompile(`(?m)^([ \t]*)(?:#|//) \[`+name+`\]\n`), regexp.MustCompile(`(?m)^[ \t]*(?:#|//) \[/`+name+`\]$`)
	from, to := begin.FindStringSubmatchIndex(text), end.FindStringIndex(text)
	if from == nil || to == nil || to[0] < from[1] {
		return "", false
	}
	indent, shown := text[from[2]:from[3]], strings.TrimRight(text[from[1]:to[0]], "\n")
	return strings.TrimPrefix(strings.ReplaceAll("\n"+shown+"\n", "\n"+indent, "\n"), "\n"), true
}

func TestCutRegion_Text_IsWhatIsShown(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"plain":                {"a\n# [x]\nb\n  c\n# [/x]\nd\n", "b\n  c\n"},
		"empty line at end":    {"// [x]\nfunc f() {}\n\n// [/x]\n", "func f() {}\n"},
		"indented":             {"\t// [x]\n\tif a {\n\n\t\tb()\n\t}\n\t// [/x]\n", "if a {\n\n\tb()\n}\n"},
		"second of two":        {"# [y]\na\n# [/y]\n# [x]\nb\n# [/x]\n", "b\n"},
		"without an end":       {"# [x]\nb\n", ""},
		"end before the start": {"# [/x]\nb\n# [x]\n", ""},
		"named in a sentence":  {"see # [x]\nb\n# [/x]\n", ""},
	} {
		if got, ok := cutRegion(c.text, "x"); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", what, got, ok, c.want)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

// TestDocs_LinksLeadSomewhere follows the links between pages: to files, and to headings in them.
func TestDocs_LinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, l := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, heading := page, strings.TrimPrefix(l[2], "#")
			if strings.Contains(l[1], "://") {
				continue
			}
			if l[1] != "" {
				target = filepath.Join(filepath.Dir(page), l[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", page, l[1])
				continue
			}
			if heading != "" && !anchors(read(t, target))[heading] {
				t.Errorf("%s links to %s#%s: no such heading", page, l[1], heading)
			}
		}
	}
}

var (
	headings   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	codeBlocks = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors are the names of a page's headings, as forges make them.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, h := range headings.FindAllStringSubmatch(codeBlocks.ReplaceAllString(page, ""), -1) {
		out[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return out
}

// pages lists what is written for people.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "clients/*/*.md", "clients/adapters/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	if len(out) < 10 {
		t.Fatalf("only %d pages were found", len(out))
	}
	return out
}

func all(t *testing.T) (texts []string) {
	t.Helper()
	for _, page := range pages(t) {
		texts = append(texts, read(t, page))
	}
	return texts
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
