package report

import (
	"math"
	"reflect"
)

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
