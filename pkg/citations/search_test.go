package citations

import (
	"os"
	"path/filepath"
	"testing"
)

// flights is a large JSON result.
func flights(t testing.TB) *Reading {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dataFolder(t), "json_api", "airline_flights.json"))
	if err != nil {
		t.Skip("the recorded data lacks a file: " + err.Error())
	}
	return Read(KindJSON, string(content))
}

func BenchmarkPrepare_LargeJSON(b *testing.B) {
	r := flights(b)
	b.SetBytes(int64(len(r.Text)))
	b.ReportAllocs()
	for b.Loop() {
		d := Prepare(r)
		b.ReportMetric(float64(d.Size())/float64(len(r.Text)), "size/content")
	}
}

func BenchmarkSearch_LargeJSON(b *testing.B) {
	d := Prepare(flights(b))
	for _, c := range []struct{ name, term string }{
		{"one flight", "HAT136"}, {"question", "What does flight HAT136 from Boston to Minneapolis cost in business class on May 20?"},
		{"common words", "available economy business prices"}, {"absent", "zeppelin"}, {"phrase", `"status": "available"`}, {"marks", `": {"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewSearch(NewQuery(c.term), Options{})
				s.Add(0, d)
				s.Excerpts()
			}
		})
	}
}
