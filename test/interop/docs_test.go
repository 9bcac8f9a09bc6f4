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
	begin, end := regexp.MustCompile(`(?m)^(#|//) \[`+name+`\]\n`), regexp.MustCompile(`(?m)^(#|//) \[/`+name+`\]$`)
	from, to := begin.FindStringIndex(text), end.FindStringIndex(text)
	if from == nil || to == nil || to[0] < from[1] {
		t.Fatalf("%s has no region %s", file, name)
	}
	return text[from[1]:to[0]]
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
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md"} {
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
