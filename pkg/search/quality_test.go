package search

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// question is one whose answer's place in a text is known, in characters.
type question struct {
	Question string `json:"question"`
	Start    int    `json:"start"`
	Answer   string `json:"answer"`
}

type article struct {
	ID    string     `json:"id"`
	Title string     `json:"title"`
	Text  string     `json:"text"`
	QA    []question `json:"qa"`
}

// recorded reads a file of JSON lines.
func recorded[T any](t testing.TB, name ...string) (all []T) {
	t.Helper()
	f, err := os.Open(recordings.Path(t, name...))
	if err != nil {
		t.Skip("the recorded data lacks a file: " + err.Error())
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(f, 1<<20)
	d := json.NewDecoder(in)
	for d.More() {
		var one T
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// tops counts in how many of the questions the answer is in the first 1, 3, 5 excerpts.
type tops struct {
	questions     int
	at1, at3, at5 int
}

func (n *tops) add(rank int) {
	n.questions++
	if rank < 1 {
		n.at1++
	}
	if rank < 3 {
		n.at3++
	}
	if rank < 5 {
		n.at5++
	}
}

func (n *tops) shares() [3]float64 {
	all := float64(max(1, n.questions)) / 100
	return [3]float64{float64(n.at1) / all, float64(n.at3) / all, float64(n.at5) / all}
}

// place is where an answer is: in which of the contents, and which of its characters.
type place struct {
	content    int
	start, end int64
}

func placeOf(content int, offset int, q question) place {
	length := min(utf8.RuneCountInString(q.Answer), 200)
	return place{content, int64(offset + q.Start), int64(offset + q.Start + length)}
}

// rankOf returns the first excerpt that holds an answer: its start, and as much of it as anybody needs.
func rankOf(excerpts []Excerpt, p place) int {
	for i, e := range excerpts {
		if e.Content == p.content && e.Chars[0] <= p.start && p.end <= e.Chars[1] {
			return i
		}
	}
	return len(excerpts) + 100
}

func ask(q string, documents ...*Document) []Excerpt {
	s := NewSearch(NewQuery(q), Options{})
	for i, d := range documents {
		s.Add(i, d)
	}
	return s.Excerpts()
}

func prepared(text string) *Document { return NewDocument(content.Read(content.KindText, text)) }

// oneByOne asks each article's questions of it alone.
func oneByOne(articles []article) (n tops) {
	for _, a := range articles {
		d := prepared(a.Text)
		for _, q := range a.QA {
			n.add(rankOf(ask(q.Question, d), placeOf(0, 0, q)))
		}
	}
	return n
}

// asOne asks all questions of one text of all articles.
func asOne(articles []article) (n tops) {
	var all strings.Builder
	for _, a := range articles {
		all.WriteString(a.Text + "\n\n")
	}
	d, offset := prepared(all.String()), 0
	for _, a := range articles {
		for _, q := range a.QA {
			n.add(rankOf(ask(q.Question, d), placeOf(0, offset, q)))
		}
		offset += utf8.RuneCountInString(a.Text) + 2
	}
	return n
}

// asMany asks all questions of all articles, each a document.
func asMany(articles []article) (n tops) {
	var all []*Document
	for _, a := range articles {
		all = append(all, prepared(a.Text))
	}
	for i, a := range articles {
		for _, q := range a.QA {
			n.add(rankOf(ask(q.Question, all...), placeOf(i, 0, q)))
		}
	}
	return n
}

// TestSearch_Excerpts_HoldAnswers: a search finds what answers questions. Every language is asked, and one text as well as many; where
// bars are measured (make bench-citations) every language is asked both ways, which takes three times as long.
func TestSearch_Excerpts_HoldAnswers(t *testing.T) {
	all := os.Getenv("PALIMPSEST_CITATION_BARS") != ""
	for _, c := range []struct {
		name string
		file []string
		ask  func([]article) tops
		bars [3]float64
		long bool // asked only where all are
	}{
		{"papers one by one", []string{"covidqa", "docs.jsonl"}, oneByOne, [3]float64{55, 78, 83}, false},
		{"papers as one text", []string{"covidqa", "docs.jsonl"}, asOne, [3]float64{45, 65, 71}, false},
		{"English as one text", []string{"xquad", "en.jsonl"}, asOne, [3]float64{89, 97.5, 98.5}, true},
		{"English as many", []string{"xquad", "en.jsonl"}, asMany, [3]float64{89, 97.5, 98.5}, false},
		{"Spanish as one text", []string{"xquad", "es.jsonl"}, asOne, [3]float64{82, 93.5, 95.5}, false},
		{"Spanish as many", []string{"xquad", "es.jsonl"}, asMany, [3]float64{82, 93.5, 95.5}, true},
		{"Chinese as one text", []string{"xquad", "zh.jsonl"}, asOne, [3]float64{93.5, 99, 99.7}, false},
		{"Chinese as many", []string{"xquad", "zh.jsonl"}, asMany, [3]float64{93.5, 99, 99.7}, true},
	} {
		if c.long && !all {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			n := c.ask(recorded[article](t, c.file...))
			got := n.shares()
			t.Logf("%d questions: in the first 1, 3, 5 excerpts %.1f %.1f %.1f, at least %.1f", n.questions, got[0], got[1], got[2], c.bars)
			for i, bar := range c.bars {
				if got[i] < bar {
					t.Errorf("%.1f %% of the answers are found, at least %.1f must be", got[i], bar)
				}
			}
		})
	}
}
