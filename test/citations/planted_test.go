package citations

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// shapes are what a list of sentences is written as: sentences of all lengths, some of them tiny, with one that is looked for.
func shapes() map[string]func(r *rand.Rand, sentences []string) string {
	return map[string]func(r *rand.Rand, sentences []string) string{
		"text":  func(_ *rand.Rand, s []string) string { return strings.Join(s, " ") },
		"lines": func(_ *rand.Rand, s []string) string { return strings.Join(s, "\n") },
		"paragraphs": func(r *rand.Rand, s []string) string {
			return strings.Join(grouped(r, s, " "), "\n\n")
		},
		"Markdown": func(r *rand.Rand, s []string) string {
			var b strings.Builder
			for i, g := range grouped(r, s, " ") {
				fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", i, g)
			}
			return b.String()
		},
		"HTML": func(r *rand.Rand, s []string) string {
			var b strings.Builder
			b.WriteString("<!DOCTYPE html><html><body>\n")
			for _, g := range grouped(r, s, " ") {
				fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(g))
			}
			return b.String() + "</body></html>\n"
		},
		"JSON": func(r *rand.Rand, s []string) string { return inJSON(r, grouped(r, s, " "), json.Marshal) },
		"indented JSON": func(r *rand.Rand, s []string) string {
			return inJSON(r, grouped(r, s, " "), func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "  ") })
		},
		"JSON with lines": func(r *rand.Rand, s []string) string { return inJSON(r, grouped(r, s, "\n"), json.Marshal) },
	}
}

// grouped puts sentences together, from one to fifty of them.
func grouped(r *rand.Rand, sentences []string, between string) (out []string) {
	for len(sentences) > 0 {
		n := min(1+r.IntN(1+r.IntN(50)), len(sentences))
		out, sentences = append(out, strings.Join(sentences[:n], between)), sentences[n:]
	}
	return out
}

func inJSON(r *rand.Rand, texts []string, encode func(any) ([]byte, error)) string {
	var items []map[string]any
	for i, text := range texts {
		items = append(items, map[string]any{"title": fmt.Sprint("Title ", i), "score": r.IntN(100), "content": text, "url": fmt.Sprint("https://x.test/", i)})
	}
	b, err := encode(map[string]any{"results": items})
	if err != nil {
		panic(err) // texts always encode
	}
	return string(b)
}

// sentences are of words that are no fact's.
func sentences(r *rand.Rand, words []string, n int) []string {
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for j := range 1 + r.IntN(1+r.IntN(60)) {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[r.IntN(1+r.IntN(len(words)))])
		}
		out[i] = strings.ToUpper(b.String()[:1]) + b.String()[1:] + "."
	}
	return out
}

// TestExcerpts_AnyPlaceInAnyShape_IsFound: a sentence that stands anywhere in a content is in the first excerpt for its words, and whole.
func TestExcerpts_AnyPlaceInAnyShape_IsFound(t *testing.T) {
	figures(t)
	const tries = 40
	w := newWorld(t)
	words := vocabulary()
	for shape, write := range shapes() {
		first, held := 0, 0
		for i := range tries {
			r := rand.New(rand.NewPCG(uint64(i), 8))
			all := sentences(r, words, 20+r.IntN(400))
			fact := fmt.Sprintf("The reserve code of the Lindqvist granary number %d is QX-%05d.", r.IntN(9), r.IntN(100_000))
			all[len(all)/10+r.IntN(len(all)*8/10)] = fact
			text := write(r, all)
			handle := w.keep(t, "planted", "", text)
			found := must[[]*pb.Excerpt](t)(w.excerpts(t.Context(), "planted", handle, "What is the reserve code of the Lindqvist granary?"))
			for rank, x := range found {
				if strings.Contains(x.GetText(), fact) {
					held++
					if rank == 0 {
						first++
					}
					break
				}
			}
		}
		t.Logf("%s: %d of %d are found, %d of them first", shape, held, tries, first)
		if held < tries {
			t.Errorf("of %d sentences in %s, %d are in no excerpt whole", tries, shape, tries-held)
		}
	}
}
