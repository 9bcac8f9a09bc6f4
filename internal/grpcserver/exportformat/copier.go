package exportformat

import (
	"reflect"
	"strings"
	"time"
)

// copier copies records to lines, or lines to records. A line's field is that of its name in the record, or what its tag "of" names: the
// path to a field, or "-" for what customs copy. Numbers become names of enums, and texts bytes; times are UTC's.
type copier struct {
	reading bool                   // lines to records
	plans   map[reflect.Type]*plan // by the line's type
	customs map[reflect.Type]func(line, record reflect.Value)
}

// plan is how one type of line and its record become each other.
type plan struct {
	pairs  []pair
	custom func(line, record reflect.Value) // nil for none
}

// pair is a field of a line and where the record has it.
type pair struct {
	line   int
	record []int
	same   bool // of one type that holds nothing to convert
}

func newCopier(reading bool) *copier {
	c := &copier{reading: reading, plans: make(map[reflect.Type]*plan), customs: make(map[reflect.Type]func(line, record reflect.Value))}
	for _, x := range customs() {
		c.customs[x.line] = x.fromRecord
		if reading {
			c.customs[x.line] = x.toRecord
		}
	}
	return c
}

// copied is what becomes of a line or a record that from points to.
func copied[To any](c *copier, from any) *To {
	to := new(To)
	c.copy(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem())
	return to
}

func (c *copier) copy(to, from reflect.Value) {
	switch {
	case from.Kind() == reflect.Struct:
		c.copyStruct(to, from)
	case from.Kind() == reflect.Pointer && to.Kind() == reflect.Pointer:
		c.copyPointer(to, from)
	case from.Kind() == reflect.Pointer || to.Kind() == reflect.Pointer:
		copyIndex(to, from)
	case from.Type() == to.Type():
		to.Set(from)
	case from.Kind() == reflect.Slice && to.Kind() == reflect.Slice:
		c.copyList(to, from)
	case from.Kind() == reflect.Array && to.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		reflect.Copy(to, from)
	case from.Kind() == reflect.Slice && to.Kind() == reflect.Array:
		reflect.Copy(to, from)
	case from.CanInt():
		to.SetInt(from.Int())
	default:
		to.Set(from.Convert(to.Type()))
	}
}

// copyPointer copies a list that is set and empty as [], and never as null, which is read as a list that is not set.
func (c *copier) copyPointer(to, from reflect.Value) {
	if from.IsNil() {
		return
	}
	to.Set(reflect.New(to.Type().Elem()))
	c.copy(to.Elem(), from.Elem())
	if list := to.Elem(); list.Kind() == reflect.Slice && list.IsNil() {
		list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	}
}

func (c *copier) copyList(to, from reflect.Value) {
	if from.Len() == 0 {
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
	for i := range from.Len() {
		c.copy(to.Index(i), from.Index(i))
	}
}

// copyIndex copies an index, which is absent from a line and below 0 in a record if there is none.
func copyIndex(to, from reflect.Value) {
	switch {
	case from.Kind() != reflect.Pointer && from.Int() >= 0:
		to.Set(reflect.New(to.Type().Elem()))
		to.Elem().Set(from)
	case from.Kind() == reflect.Pointer && from.IsNil():
		to.SetInt(-1)
	case from.Kind() == reflect.Pointer:
		to.Set(from.Elem())
	}
}

func (c *copier) copyStruct(to, from reflect.Value) {
	if at, ok := reflect.TypeAssert[time.Time](from); ok {
		to.Set(reflect.ValueOf(at.UTC()))
		return
	}
	line, record := to, from
	if c.reading {
		line, record = from, to
	}
	how := c.planOf(line.Type(), record.Type())
	for i := range how.pairs {
		switch p := &how.pairs[i]; {
		case !p.same:
			c.copyField(line.Field(p.line), record, p.record)
		case c.reading:
			record.Field(p.record[0]).Set(line.Field(p.line))
		default:
			line.Field(p.line).Set(record.Field(p.record[0]))
		}
	}
	if how.custom != nil {
		how.custom(line, record)
	}
}

func (c *copier) copyField(field, record reflect.Value, path []int) {
	for _, i := range path {
		if record.Kind() == reflect.Pointer {
			if record.IsNil() && (!c.reading || field.Len() == 0) {
				return
			}
			if record.IsNil() {
				record.Set(reflect.New(record.Type().Elem()))
			}
			record = record.Elem()
		}
		record = record.Field(i)
	}
	if c.reading {
		c.copy(record, field)
	} else {
		c.copy(field, record)
	}
}

// planOf panics where a line has a field that its record has not: any test that writes one tells.
func (c *copier) planOf(line, record reflect.Type) *plan {
	if known, ok := c.plans[line]; ok {
		return known
	}
	out := &plan{custom: c.customs[line]}
	for i := range line.NumField() {
		path, named := line.Field(i).Tag.Lookup("of")
		if path == "-" {
			continue
		}
		if !named {
			path = line.Field(i).Name
		}
		p := pair{line: i}
		at := record
		for name := range strings.SplitSeq(path, ".") {
			if at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			f, ok := at.FieldByName(name)
			if !ok {
				panic("exportformat: " + record.String() + " has no " + path)
			}
			p.record, at = append(p.record, f.Index...), f.Type
		}
		kind := at.Kind()
		p.same = len(p.record) == 1 && at == line.Field(i).Type && (kind == reflect.String || kind == reflect.Bool || reflect.Int <= kind && kind <= reflect.Float64)
		out.pairs = append(out.pairs, p)
	}
	c.plans[line] = out
	return out
}
