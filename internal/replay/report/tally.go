package report

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// turn pools the contexts of all conversations at one turn.
type turn struct {
	builds        int
	without, with int64
}

// Tally is the figures of one conversation, or of several merged.
type Tally struct {
	Report
	StableTokens   int64 // of ComparedTokens, those that stood in the context before
	ComparedTokens int64

	AppendTimes, BuildTimes, RetrieveTimes []time.Duration
}

// NewTally is one of nothing, which tells files apart.
func NewTally(files []string) *Tally {
	t := &Tally{Report: Report{
		Refused: map[string]int{}, Examples: []Example{}, LetGo: LetGo{Events: map[string]int{}, Deferred: map[string]int{}},
		AtEnd: AtEnd{Refused: map[string]int{}, RestoresRefused: map[string]int{}},
	}}
	for _, file := range files {
		t.Files = append(t.Files, FileReport{File: file})
	}
	return t
}

// AddExample keeps the first examples of each figure, each of another conversation.
func (t *Tally) AddExample(e Example) {
	kept := 0
	for _, old := range t.Examples {
		if old.Figure != e.Figure {
			continue
		}
		if kept++; old.Conversation == e.Conversation {
			return
		}
	}
	if kept < maxExamples {
		t.Examples = append(t.Examples, e)
	}
}

// AddTurn adds a context to the chart of its turn.
func (t *Tally) AddTurn(without, with int) {
	t.turns = append(t.turns, turn{1, int64(without), int64(with)})
}

// Merge adds another conversation's figures.
func (t *Tally) Merge(o *Tally) {
	addFigures(reflect.ValueOf(t).Elem(), reflect.ValueOf(o).Elem())
	for i := range t.Files {
		if f := &t.Files[i]; f.File == o.File {
			addFigures(reflect.ValueOf(f).Elem(), reflect.ValueOf(o).Elem())
			f.ReferenceRecall, f.ContentRecall, f.ForeignContentRecall = f.Recall.shares()
		}
	}
	t.mergeLists(o)
}

// addFigures adds the figures of a struct to those of the same names of another, with those of the structs and maps in it. A field with the tag
// merge:"max" keeps the larger of both, one with merge:"least" the smaller of those that are not 0. What is no figure stays.
func addFigures(into, from reflect.Value) {
	for i := range into.NumField() {
		field := into.Type().Field(i)
		to, of := into.Field(i), from.FieldByName(field.Name)
		rule := field.Tag.Get("merge")
		switch {
		case !field.IsExported(), !of.IsValid():
		case to.Kind() == reflect.Struct:
			addFigures(to, of)
		case to.Kind() == reflect.Map:
			for entry := of.MapRange(); entry.Next(); {
				sum := entry.Value().Int()
				if n := to.MapIndex(entry.Key()); n.IsValid() {
					sum += n.Int()
				}
				to.SetMapIndex(entry.Key(), reflect.ValueOf(int(sum)))
			}
		case to.CanFloat() && rule == "max":
			to.SetFloat(max(to.Float(), of.Float()))
		case to.CanFloat():
			to.SetFloat(to.Float() + of.Float())
		case to.CanInt() && rule == "max":
			to.SetInt(max(to.Int(), of.Int()))
		case to.CanInt() && rule == "least":
			to.SetInt(int64(LeastOf(int(to.Int()), int(of.Int()))))
		case to.CanInt():
			to.SetInt(to.Int() + of.Int())
		}
	}
}

func (t *Tally) mergeLists(o *Tally) {
	for _, e := range o.Examples {
		t.AddExample(e)
	}
	t.AppendTimes = append(t.AppendTimes, o.AppendTimes...)
	t.BuildTimes = append(t.BuildTimes, o.BuildTimes...)
	t.RetrieveTimes = append(t.RetrieveTimes, o.RetrieveTimes...)
	for i, add := range o.turns {
		if i == len(t.turns) {
			t.turns = append(t.turns, turn{})
		}
		t.turns[i].builds += add.builds
		t.turns[i].without += add.without
		t.turns[i].with += add.with
	}
}

// Result works out the shares.
func (t *Tally) Result() *Report {
	r := t.Report
	refused := 0
	for n := range maps.Values(t.Refused) {
		refused += n
	}
	r.RefusedShare = Share(refused, r.Builds)
	r.MeanFill = Share(r.FilledTokens, r.FilledRoom)
	r.StablePrefixShare = Share(t.StableTokens, t.ComparedTokens)
	r.ReferenceRecall, r.ContentRecall, r.ForeignContentRecall = t.Recall.shares()
	r.AppendMS, r.BuildMS, r.Citations.RetrieveMS = millis(t.AppendTimes), millis(t.BuildTimes), millis(t.RetrieveTimes)
	r.Citations.Mean = Share(float64(r.Citations.After), float64(r.Citations.Count))
	return &r
}

func millis(d []time.Duration) Millis {
	if len(d) == 0 {
		return Millis{}
	}
	slices.Sort(d)
	at := func(percent int) float64 { return float64(d[(len(d)-1)*percent/100]) / float64(time.Millisecond) }
	return Millis{P50: at(50), P95: at(95), P99: at(99)}
}

// LeastOf is the smaller of two figures of which 0 says that there is none.
func LeastOf(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Share is part of whole, and 0 of nothing.
func Share[N int | int64 | float64](part, whole N) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Mean is the mean of what a policy came to at several caps: of one cap alone
// it is chance where a long session is cut. What must be 0 is added up, so that
// nothing is rounded away; the largest and the least stay so.
func Mean(reports []*Report) *Report {
	if len(reports) == 1 {
		return reports[0]
	}
	sum := NewTally(nil)
	sum.Format, sum.Policy, sum.Cite, sum.Caps = reports[0].Format, reports[0].Policy, reports[0].Cite, reports
	sum.Files = make([]FileReport, len(reports[0].Files))
	for _, r := range reports {
		addFigures(reflect.ValueOf(&sum.Report).Elem(), reflect.ValueOf(r).Elem())
		sum.mergeLists(&Tally{Report: *r})
		for i := range r.Files {
			sum.Files[i].File = r.Files[i].File
			addFigures(reflect.ValueOf(&sum.Files[i]).Elem(), reflect.ValueOf(&r.Files[i]).Elem())
		}
	}
	divideFigures(reflect.ValueOf(&sum.Report).Elem(), len(reports))
	for i := range sum.Files {
		divideFigures(reflect.ValueOf(&sum.Files[i]).Elem(), len(reports))
	}
	sum.Cap = 0
	return &sum.Report
}

// divideFigures makes means of sums, of whole numbers the nearest.
func divideFigures(v reflect.Value, n int) {
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		nearest := func(sum int64) int64 { return int64(math.Round(float64(sum) / float64(n))) }
		switch {
		case !field.IsExported() || field.Tag.Get("must") != "" || field.Tag.Get("merge") != "":
		case f.Kind() == reflect.Struct:
			divideFigures(f, n)
		case f.Kind() == reflect.Map:
			for _, key := range f.MapKeys() {
				f.SetMapIndex(key, reflect.ValueOf(int(nearest(f.MapIndex(key).Int()))))
			}
		case f.CanFloat():
			f.SetFloat(f.Float() / float64(n))
		case f.CanInt():
			f.SetInt(nearest(f.Int()))
		}
	}
}
