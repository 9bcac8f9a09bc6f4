package citations

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// pageTokens is what a citation of a page weighs at most, and listTokens one of a list of entities.
	pageTokens, listTokens = 300, 400
	// smallField is how long a member of an object is at most that is kept beside a citation, in characters.
	smallField = 200
)

// weighty tells what citations weigh.
type weighty struct {
	*world
	conversation string
	results      int
	heaviest     map[int]int // by limit
}

func newWeighty(t testing.TB, w *world) *weighty {
	w.create(t, "weighed", nil)
	return &weighty{world: w, conversation: "weighed", heaviest: map[int]int{}}
}

// weigh demands that a result's citation weighs what it may.
func (w *weighty) weigh(t testing.TB, what, tool, text string) *pb.Citation {
	t.Helper()
	w.results++
	c := w.cite(t, w.conversation, outcome{id: fmt.Sprint("c", w.results), tool: tool, arguments: "{}", text: text})
	limit := pageTokens
	if strings.HasPrefix(c.GetContentType(), "application/json") {
		limit = listTokens
	}
	n := weigh(c.GetText())
	w.heaviest[limit] = max(w.heaviest[limit], n)
	if n > limit {
		t.Errorf("the citation of %s, %d bytes of %s, weighs %d tokens, more than %d", what, len(text), c.GetContentType(), n, limit)
	}
	return c
}

// TestCitation_RealInput_WeighsLittle: whole files, and cuts of them.
func TestCitation_RealInput_WeighsLittle(t *testing.T) {
	figures(t)
	m := newMaterial(t)
	w := newWeighty(t, newWorld(t))
	for i, text := range m.papers {
		w.weigh(t, fmt.Sprint("paper ", i), "fetch_page", text)
	}
	for i, text := range append(m.pages, m.logs...) {
		w.weigh(t, fmt.Sprint("page or log ", i), "read", text)
	}
	for _, name := range []string{"airline_flights.json", "retail_products.json"} {
		w.weigh(t, name, "query", string(file(t, "json_api", name)))
	}
	for n := range 4 {
		for _, s := range m.round(n) {
			w.weigh(t, "a result of "+s.tool, s.tool, s.text)
		}
	}
	for _, r := range recorded(t) {
		if len([]rune(r.text)) > threshold && weigh(r.text) > listTokens {
			w.weigh(t, "a result of "+r.tool+" in "+r.source, r.tool, r.text)
		}
	}
	t.Logf("%d citations: at most %d tokens for pages and %d for lists", w.results, w.heaviest[pageTokens], w.heaviest[listTokens])
}

// TestCitation_SmallFields_AreKeptBeside: what an agent needs to go on is shown, however much stands beside it.
func TestCitation_SmallFields_AreKeptBeside(t *testing.T) {
	w := newWeighty(t, newWorld(t))
	var products map[string]json.RawMessage
	if err := json.Unmarshal(file(t, "json_api", "retail_products.json"), &products); err != nil {
		t.Fatal(err)
	}
	rows := make([]json.RawMessage, 0, len(products))
	for _, key := range sortedKeys(products) {
		rows = append(rows, products[key])
	}
	small := map[string]any{"request_id": "req-7788-ab", "status": "partial", "next_cursor": "eyJvIjo0MH0", "took_ms": 41, "truncated": true, "warning": strings.Repeat("x", smallField-3)}
	for name, large := range map[string]any{"a list": rows, "an object": products, "a text": textOf(1, 9000), "html": "<html><body>" + textOf(2, 9000)} {
		object := map[string]any{"payload": large}
		for k, v := range small {
			object[k] = v
		}
		b, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		c := w.weigh(t, name, "query", string(b))
		for k, v := range small {
			if !strings.Contains(c.GetText(), k) || !strings.Contains(c.GetText(), fmt.Sprint(v)) {
				t.Errorf("beside %s the member %s is not shown", name, k)
			}
		}
		if !strings.Contains(c.GetText(), c.GetContentId()) || !strings.Contains(c.GetText(), "retrieve_content") {
			t.Error("the citation does not say how to get more")
		}
	}
}
