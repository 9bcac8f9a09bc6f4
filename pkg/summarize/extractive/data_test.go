package extractive_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// checkExtract holds an extract to what holds for all, and returns it.
func checkExtract(t testing.TB, text string, n int) string {
	t.Helper()
	got := extractive.Extract(text, n)
	if again := extractive.Extract(text, n); again != got {
		t.Fatalf("not the same twice:\n%s\n\n%s", got, again)
	}
	if size := utf8.RuneCountInString(got); size > n {
		t.Fatalf("%d characters, at most %d: %s", size, n, got)
	}
	if !utf8.ValidString(got) {
		t.Fatalf("no valid UTF-8: %q", got)
	}
	return got
}

func TestExtract_RealInput_BoundedValidTheSame(t *testing.T) {
	texts := map[string]string{}
	for folder, pattern := range map[string]string{"json_api": "*.json", "loghub": "*.log", "html_docs": "*.html"} {
		for name, text := range readFiles(t, folder, pattern) {
			texts[name] = text
		}
	}
	for i, b := range bigResults(t) {
		texts[fmt.Sprint(b.set, i)] = b.text
	}
	for name, text := range texts {
		for _, n := range append(lengths, 1, 10, 50, 100) {
			got := checkExtract(t, text, n)
			if n >= 500 && utf8.RuneCountInString(got) < n/3 && len(text) > 20*n {
				t.Errorf("%s: %d characters could be used, and %d are", name, n, utf8.RuneCountInString(got))
			}
		}
	}
}

func TestExtract_RealJSON_CountsAreExact(t *testing.T) {
	for name, text := range readFiles(t, "json_api", "*.json") {
		var object map[string]map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		inner := 0
		for _, entry := range object {
			for _, key := range []string{"variants", "dates"} {
				if list, ok := entry[key].(map[string]any); ok {
					inner += len(list)
				}
			}
		}
		for _, n := range lengths {
			got := checkExtract(t, text, n)
			head := fmt.Sprintf("JSON object, %d entries, %s characters.", len(object), commas(utf8.RuneCountInString(text)))
			if !strings.HasPrefix(got, head) {
				t.Errorf("%s, %d characters: want %q first:\n%s", name, n, head, got)
			}
			if want := commas(inner) + " in all"; !strings.Contains(got, want) {
				t.Errorf("%s, %d characters: want %q:\n%s", name, n, want, got)
			}
		}
	}
}

func commas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return commas(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

var example = regexp.MustCompile(`(?m)^L(\d+)(?: ×([\d,]+))?: (.*)$`)

func TestExtract_RealLogs_CountsAreExactAndLinesVerbatim(t *testing.T) {
	for name, text := range readFiles(t, "loghub", "*.log") {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for _, n := range lengths {
			got := checkExtract(t, text, n)
			if want := fmt.Sprintf("Log, %s lines in ", commas(len(lines))); !strings.HasPrefix(got, want) {
				t.Errorf("%s: want %q first:\n%s", name, want, got)
			}
			spoken, alone := 0, 0
			for _, m := range example.FindAllStringSubmatch(got, -1) {
				number := uncommas(t, m[1])
				if m[2] == "" {
					alone++
					spoken++
				} else {
					spoken += uncommas(t, m[2])
				}
				for _, part := range strings.Split(m[3], "…") {
					if !strings.Contains(lines[number-1], part) {
						t.Errorf("%s: %q is not in line %d: %q", name, part, number, lines[number-1])
					}
				}
			}
			// A line shown for itself may be one of those that another stands for.
			if sum := spoken + othersOf(t, got); sum < nonBlank(lines) || sum > nonBlank(lines)+alone {
				t.Errorf("%s, %d characters: lines stand for %d of %d:\n%s", name, n, sum, nonBlank(lines), got)
			}
		}
	}
}

var othersNote = regexp.MustCompile(`\(\+([\d,]+) other `)

func othersOf(t testing.TB, extract string) (n int) {
	if m := othersNote.FindStringSubmatch(extract); m != nil {
		n = uncommas(t, m[1])
	}
	return n
}

func uncommas(t testing.TB, s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func nonBlank(lines []string) (n int) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// TestExtract_FrequentTemplates_HaveExactCounts compares counts with those of lines whose digits are masked, for logs of
// which the forms are known.
func TestExtract_FrequentTemplates_HaveExactCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	forms := []string{
		"2024-05-01 10:00:# INFO api: GET /v1/orders/# took # ms",
		"2024-05-01 10:00:# INFO cache: evicted # entries",
		"2024-05-01 10:00:# DEBUG pool: # connections idle of #",
		"2024-05-01 10:00:# INFO mailer: sent message # to user#@example.com",
	}
	counts := make([]int, len(forms))
	var b strings.Builder
	for range 3000 {
		k := min(r.IntN(4), r.IntN(4))
		counts[k]++
		b.WriteString(strings.ReplaceAll(forms[k], "#", fmt.Sprint(10+r.IntN(89))) + "\n")
	}
	for _, n := range lengths {
		got := checkExtract(t, b.String(), n)
		for k, form := range forms {
			word := strings.Fields(form)[3]
			if !regexp.MustCompile(`×` + commas(counts[k]) + `: .*` + word).MatchString(got) {
				t.Errorf("%d characters: want ×%s for %s:\n%s", n, commas(counts[k]), word, got)
			}
		}
	}
}

func TestExtract_UniqueErrorInJSON_SurvivesAtEveryLength(t *testing.T) {
	errors := []string{
		`"status":"failed"`, `"error":"card # declined by issuer"`, `"note":"upload aborted: disk quota # exceeded"`,
		`"result":{"ok":false,"message":"connection refused by db-#"}`, `"log":"Traceback: ValueError: bad column #"`,
	}
	for k := range 40 {
		r := rand.New(rand.NewPCG(uint64(k), 9))
		n := 50 + r.IntN(3000)
		at := r.IntN(n)
		fault := strings.ReplaceAll(errors[k%len(errors)], "#", fmt.Sprint(1000+r.IntN(9000)))
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":%d,"name":"item %d","status":"ok","note":"all well","amount":%d.25}`, i+7000, i, r.IntN(500))
		}
		items[at] = fmt.Sprintf(`{"id":%d,"name":"item %d",%s,"amount":3.5}`, at+7000, at, fault)
		value := regexp.MustCompile(`"[^"]*"}?$`).FindString(fault)
		value = strings.Trim(value, `"}`)
		for _, text := range []string{"[" + strings.Join(items, ",") + "]", strings.Join(items, "\n"), `{"page":1,"items":[` + strings.Join(items, ",\n  ") + "]}"} {
			for _, size := range lengths {
				if got := checkExtract(t, text, size); !strings.Contains(got, value) {
					t.Errorf("%d items, %d characters: %s of item %d is lost:\n%s", n, size, value, at, got)
				}
			}
		}
	}
}

func TestExtract_UniqueErrorInOutput_SurvivesAtEveryLength(t *testing.T) {
	for i, b := range bigResults(t) {
		lines := strings.Split(b.text, "\n")
		if strings.HasPrefix(b.text, "[") || len(lines) < 30 || i%3 != 0 {
			continue
		}
		for k := range planted {
			r := rand.New(rand.NewPCG(uint64(k), uint64(i)))
			line := plantedLine(r, k)
			at := 3 + r.IntN(len(lines)-5)
			text := strings.Join(lines[:at], "\n") + "\n" + line + "\n" + strings.Join(lines[at:], "\n")
			for _, n := range lengths {
				if got := extractive.Extract(text, n); !strings.Contains(got, line) {
					t.Errorf("%s %d, %d characters: %q planted at line %d of %d is lost:\n%s", b.set, i, n, line, at+1, len(lines), got)
				}
			}
		}
	}
}
