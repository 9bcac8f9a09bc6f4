package archtest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// The page with the rules that code cites as "behaviour §N" or "behaviour §N.M".
const behaviorPage = "docs/behaviour.md"

var (
	behaviorSection = regexp.MustCompile(`(?m)^## (\d+)\. `)
	behaviorRule    = regexp.MustCompile(`(?m)^- \*\*(\d+\.\d+)\*\* `)
	namedTest       = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
	citation        = regexp.MustCompile(`behaviour §(?:§\d+(?:, \d+)*|\d+(?:\.\d+)?(?:(?:, | and | to )§\d+(?:\.\d+)?)*)`)
	sectionNumber   = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// checkBehavior holds the page to the tests that it names, and what cites the page to its sections and rules.
func checkBehavior(t *tree) (found []string) {
	numbers := map[string]bool{}
	for _, x := range t.texts {
		if x.path == behaviorPage {
			numbers = behaviorNumbers(x.content)
			found = append(found, checkHolders(x.content, t.tests())...)
		}
	}
	for _, x := range t.texts {
		for _, cited := range citation.FindAllString(x.content, -1) {
			for _, number := range sectionNumber.FindAllString(cited, -1) {
				if !numbers[number] {
					found = append(found, fmt.Sprintf("%s: cites %q, and %s has no %s", x.path, cited, behaviorPage, number))
				}
			}
		}
	}
	return found
}

// behaviorNumbers are those of the page's sections and rules.
func behaviorNumbers(page string) map[string]bool {
	out := map[string]bool{}
	for _, numbered := range []*regexp.Regexp{behaviorSection, behaviorRule} {
		for _, m := range numbered.FindAllStringSubmatch(page, -1) {
			out[m[1]] = true
		}
	}
	return out
}

// checkHolders finds sections that name no test, and tests that are not there.
func checkHolders(page string, tests map[string]bool) (found []string) {
	starts := behaviorSection.FindAllStringSubmatchIndex(page, -1)
	for i, at := range starts {
		end := len(page)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		section, number := page[at[0]:end], page[at[2]:at[3]]
		_, held, _ := strings.Cut(section, "\nHeld by: ")
		names := namedTest.FindAllStringSubmatch(held, -1)
		if len(names) == 0 {
			found = append(found, fmt.Sprintf("%s: §%s names no test that holds it", behaviorPage, number))
		}
		for _, name := range names {
			if !tests[name[1]] {
				found = append(found, fmt.Sprintf("%s: §%s names %s, which is not there", behaviorPage, number, name[1]))
			}
		}
	}
	return found
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.`)

// tests are the names of all tests of the repository.
func (t *tree) tests() map[string]bool {
	out := map[string]bool{}
	for _, f := range t.files {
		if !f.test {
			continue
		}
		for _, m := range testFunction.FindAllSubmatch(f.source, -1) {
			out[string(m[1])] = true
		}
	}
	return out
}

func TestCheckBehavior_Page_IsHeldByTestsAndHoldsCitations(t *testing.T) {
	const page = "# Behavior\n\n## 1. Words\n\n- **1.1** A rule.\n\nHeld by: `TestA_B`\n\n## 2. More\n\nHeld by: `TestA_B`\n"
	for what, c := range map[string]struct {
		comment string
		faults  int
	}{
		"sections and a rule": {"behaviour §1, §2 and behaviour §1.1. See behaviour §§1, 2; behaviour §1 and §2.", 0},
		"no such section":     {"behaviour §3", 1},
		"the second of two":   {"behaviour §1, §3", 1},
		"the end of a list":   {"behaviour §§1, 4", 1},
		"no such rule":        {"behaviour §2.1.", 1},
		"a number behind it":  {"behaviour §1, 7 turns", 0},
	} {
		parsed, err := load(fstest.MapFS{
			behaviorPage:         {Data: []byte(page)},
			"pkg/x/a_test.go":    {Data: []byte("package x\n\nfunc TestA_B(t *testing.T) {}\n")},
			"pkg/x/a.go":         {Data: []byte("package x\n\n// " + c.comment + "\n")},
			"pkg/x/not/a.go":     {Data: []byte("package x\n\nfunc TestC_D(t *testing.T) {}\n")},
			"proto/x/v1/a.proto": {Data: []byte("// behaviour §1\n")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if found := checkBehavior(parsed); len(found) != c.faults {
			t.Errorf("%s: found %q, want %d", what, found, c.faults)
		}
	}
}
