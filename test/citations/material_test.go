package citations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"
)

// material is what a research agent's tools say: real input, cut to sizes that are usual for searches, pages and queries.
type material struct {
	random  *rand.Rand
	papers  []string
	pages   []string
	logs    []string
	records []json.RawMessage
	names   map[string]bool // that facts have been given
}

func newMaterial(t testing.TB) *material {
	m := &material{random: rand.New(rand.NewPCG(11, 3)), names: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(file(t, "covidqa", "docs.jsonl")))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var paper struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(lines.Bytes(), &paper); err != nil {
			t.Fatal(err)
		}
		m.papers = append(m.papers, paper.Text)
	}
	for _, name := range []string{"0.7_reference_env.html", "1.0_reference_agent.html"} {
		m.pages = append(m.pages, string(file(t, "html_docs", name)))
	}
	for _, name := range []string{"BGL", "HDFS", "OpenStack", "Mac", "Zookeeper"} {
		m.logs = append(m.logs, string(file(t, "loghub", name+"_2k.log")))
	}
	for _, name := range []string{"airline_flights.json", "retail_products.json"} {
		var by map[string]json.RawMessage
		if err := json.Unmarshal(file(t, "json_api", name), &by); err != nil {
			t.Fatal(err)
		}
		for _, key := range sortedKeys(by) {
			m.records = append(m.records, by[key])
		}
	}
	return m
}

// fact is something that stands in one result alone, and the question for it.
type fact struct{ statement, question, answer string }

// fact makes one: a name that no other has, and a value that follows from nothing.
func (m *material) fact() fact {
	words := []string{"Marlowe", "Tibbets", "Okafor", "Lindqvist", "Haruki", "Pemberton", "Castellane", "Brandywine", "Zielinski", "Arrowood", "Nakagawa", "Fitzroy"}
	places := []string{"depot", "archive", "terminal", "foundry", "clinic", "observatory", "granary", "shipyard"}
	name := ""
	for name == "" || m.names[name] {
		name = fmt.Sprintf("%s-%s %s", words[m.random.IntN(len(words))], words[m.random.IntN(len(words))], places[m.random.IntN(len(places))])
	}
	m.names[name] = true
	answer := fmt.Sprintf("%c%c-%05d", 'A'+m.random.IntN(26), 'A'+m.random.IntN(26), m.random.IntN(100_000))
	return fact{
		statement: fmt.Sprintf("The reserve code of the %s is %s.", name, answer),
		question:  fmt.Sprintf("What is the reserve code of the %s?", name), answer: answer,
	}
}

// span is some of a text: whole lines, or what passes for one, between two sizes.
func (m *material) span(text, end string, least, most int) string {
	n := min(least+m.random.IntN(most-least), len(text))
	from := m.random.IntN(len(text) - n + 1)
	if at := strings.Index(text[from:], end); at >= 0 && from+at+len(end)+n <= len(text) {
		from += at + len(end)
	}
	out := text[from:min(len(text), from+n)]
	if at := strings.LastIndex(out, end); at > 0 {
		out = out[:at+len(end)]
	}
	return strings.ToValidUTF8(out, "")
}

// planted puts a text behind some end of a sentence, line or element, anywhere in a text.
func (m *material) planted(text, end, plant string) string {
	from := len(text)/10 + m.random.IntN(len(text)*8/10) // not where a citation begins
	at := strings.Index(text[from:], end)
	if at < 0 {
		return text + plant
	}
	at += from + len(end)
	return text[:at] + plant + text[at:]
}

// search is what a web search says: ten hits with some of their text.
func (m *material) search(f fact) outcome {
	type hit struct {
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Score   float64 `json:"score"`
		Content string  `json:"content"`
	}
	result := struct {
		Query   string `json:"query"`
		Results []hit  `json:"results"`
	}{Query: f.question}
	lucky := 5 + m.random.IntN(5) // not among those that a citation shows
	for i := range 10 {
		paper := m.papers[m.random.IntN(len(m.papers))]
		title, _, _ := strings.Cut(paper, "\n")
		h := hit{Title: title, URL: fmt.Sprintf("https://papers.test/%d", m.random.IntN(10_000)), Score: 1 - float64(i)/20, Content: m.span(paper, ". ", 800, 3000)}
		if i == lucky {
			h.Content = m.planted(h.Content, ". ", f.statement+" ")
		}
		result.Results = append(result.Results, h)
	}
	b, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		panic(err) // texts always encode
	}
	return outcome{tool: "web_search", arguments: fmt.Sprintf(`{"query": %q}`, f.question), text: string(b)}
}

// page is a page of the web: HTML for the most part, or a paper.
func (m *material) page(f fact) outcome {
	url := fmt.Sprintf("https://pages.test/%d", m.random.IntN(10_000))
	o := outcome{tool: "fetch_page", arguments: fmt.Sprintf(`{"url": %q}`, url)}
	if m.random.IntN(4) == 0 {
		o.text = m.planted(m.papers[m.random.IntN(len(m.papers))], ". ", f.statement+" ")
		return o
	}
	body := m.span(m.pages[m.random.IntN(len(m.pages))], ">", 40_000, 120_000)
	o.text = "<!DOCTYPE html>\n<html><head><title>Reference</title></head><body>\n" +
		m.planted(body, "</p>", "<p>"+html.EscapeString(f.statement)+"</p>\n") + "</body></html>\n"
	return o
}

// query is what a database or a log says: records, or lines.
func (m *material) query(f fact) outcome {
	if m.random.IntN(3) == 0 {
		lines := m.span(m.logs[m.random.IntN(len(m.logs))], "\n", 20_000, 120_000)
		return outcome{tool: "read_log", arguments: `{"service": "x", "lines": 1000}`, text: m.planted(lines, "\n", "2024-05-05 12:00:01 INFO "+f.statement+"\n")}
	}
	var list []json.RawMessage
	size, most := 0, 20_000+m.random.IntN(80_000)
	for size < most {
		r := m.records[m.random.IntN(len(m.records))]
		list, size = append(list, r), size+len(r)
	}
	note, err := json.Marshal(map[string]string{"record": "note", "text": f.statement})
	if err != nil {
		panic(err) // texts always encode
	}
	list[len(list)/4+m.random.IntN(len(list)/2)] = note
	b, err := json.Marshal(map[string]any{"table": "records", "count": len(list), "rows": list})
	if err != nil {
		panic(err) // they were JSON
	}
	return outcome{tool: "query_database", arguments: `{"sql": "select * from records"}`, text: string(b)}
}

// step is a result of a round, and what is looked for in it.
type step struct {
	outcome
	fact
}

// round is five searches, ten pages and three queries.
func (m *material) round(n int) []step {
	var out []step
	add := func(from func(fact) outcome) {
		s := step{fact: m.fact()}
		s.outcome = from(s.fact)
		s.id = fmt.Sprintf("call-%d-%d", n, len(out))
		out = append(out, s)
	}
	for i := range 10 {
		if i%2 == 0 {
			add(m.search)
		}
		add(m.page)
		if i%3 == 2 {
			add(m.query)
		}
	}
	return out
}
