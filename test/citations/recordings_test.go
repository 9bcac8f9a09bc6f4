package citations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// threshold is from which length on a result is cited by default, in characters.
	threshold = 1000
	// knownItems is how many runs of words are looked for, each of knownWords.
	knownItems, knownWords = 200, 8
	// leastFound is how many of them the first excerpt must hold.
	leastFound = 0.98
	// longResult is from which length on a result is worth looking in, in characters.
	longResult = 5000
)

// said is what a tool said in a recording.
type said struct{ source, tool, text string }

// recorded are the results of tools in all recordings, and the real results beside them, each text once.
func recorded(t testing.TB) []said {
	t.Helper()
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: there are no recordings")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "conversations.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d recordings: %v", len(files), err)
	}
	var out []said
	seen := map[string]bool{}
	add := func(source, tool, text string) {
		if tool == "" {
			tool = "tool"
		}
		if text != "" && !seen[text] && utf8.ValidString(text) {
			seen[text] = true
			out = append(out, said{source, tool, text})
		}
	}
	for _, path := range files {
		eachRecorded(t, path, func(tool, text string) { add(filepath.Base(filepath.Dir(path)), tool, text) })
	}
	for _, folder := range []string{"json_api", "html_docs", "loghub"} {
		others, err := filepath.Glob(filepath.Join(root, folder, "*_*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range others {
			add(folder, "read", string(must[[]byte](t)(os.ReadFile(path))))
		}
	}
	return out
}

// eachRecorded gives what tools said in a file of recordings, both as the agent saw it and before it was cut.
func eachRecorded(t testing.TB, path string, give func(tool, text string)) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(must[[]byte](t)(os.ReadFile(path))))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct {
			Messages []struct {
				Role    string  `json:"role"`
				Name    string  `json:"name"`
				Content *string `json:"content"`
				Raw     *string `json:"raw"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Messages {
			for _, text := range []*string{m.Content, m.Raw} {
				if m.Role == "tool" && text != nil {
					give(m.Name, *text)
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestRecordings_EveryResult_ComesBackAndIsFound: what tools really say comes back byte for byte, and eight words of it find the place.
func TestRecordings_EveryResult_ComesBackAndIsFound(t *testing.T) {
	figures(t)
	all := recorded(t)
	w := newWorld(t)
	w.create(t, "recorded", nil)
	handles := map[int]string{}
	bytesIn := 0
	for i, s := range all {
		receipt := must[*pb.Receipt](t)(w.append(t.Context(), "recorded", outcome{id: fmt.Sprint("c", i), tool: s.tool, arguments: "{}", text: s.text}))
		cited, long := len(receipt.GetCitations()) == 1, utf8.RuneCountInString(s.text) > threshold
		if cited && !long || long && !cited && weigh(s.text) > listTokens { // what a citation would not make lighter stays as it is
			t.Errorf("a result of %s with %d characters: cited is %v", s.source, utf8.RuneCountInString(s.text), cited)
		}
		if cited {
			handles[i] = receipt.GetCitations()[0].GetContentId()
			bytesIn += len(s.text)
		}
	}
	for i, handle := range handles {
		if got, err := w.text(t.Context(), "recorded", handle); err != nil || got != all[i].text {
			t.Errorf("result %d of %s comes back with %d bytes of %d, or others (%v)", i, all[i].source, len(got), len(all[i].text), err)
		}
	}
	t.Logf("%d results, %d cited with %d MB: all came back", len(all), len(handles), bytesIn/1_000_000)
	w.findKnown(t, all, handles)
}

// findKnown looks for running words of long results.
func (w *world) findKnown(t *testing.T, all []said, handles map[int]string) {
	t.Helper()
	var long []int
	for i := range all {
		if _, ok := handles[i]; ok && utf8.RuneCountInString(all[i].text) > longResult {
			long = append(long, i)
		}
	}
	r := rand.New(rand.NewPCG(2, 9))
	found, looked := 0, 0
	for looked < knownItems {
		i := long[r.IntN(len(long))]
		words := strings.Fields(visibleText(all[i].text))
		if len(words) < 2*knownWords {
			continue
		}
		at := r.IntN(len(words) - knownWords)
		wanted := strings.Join(words[at:at+knownWords], " ")
		if utf8.RuneCountInString(wanted) > 400 { // it would not go into an excerpt
			continue
		}
		looked++
		got := must[[]*pb.Excerpt](t)(w.excerpts(t.Context(), "recorded", handles[i], wanted))
		if len(got) > 0 && strings.Contains(folded(got[0].GetText()), folded(wanted)) {
			found++
			continue
		}
		t.Logf("not found first in a result of %s with %d bytes: %q", all[i].source, len(all[i].text), wanted)
	}
	t.Logf("%d of %d known items are in the first excerpt", found, looked)
	if float64(found) < leastFound*float64(looked) {
		t.Errorf("%d of %d known items are in the first excerpt, not %.0f %%", found, looked, 100*leastFound)
	}
}

// visibleText is a text, or nothing for a page: the words of its source are not those of the page.
func visibleText(text string) string {
	if strings.Contains(text[:min(len(text), 500)], "<html") || strings.Contains(text[:min(len(text), 500)], "<!DOCTYPE") {
		return ""
	}
	return text
}

// folded is a text without what case and white space say.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}
