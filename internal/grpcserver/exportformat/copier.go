package exportformat

import (
	"reflect"
	"strings"
	"time"
)

// copier copies records to lines, or lines to records. A line's field is that of its name in the record, or what its tag "of" names: the
// path to a field, or "-" for what customs copy. Numbers become names of enums, and texts bytes; times are UTC's.
type copier struct {
	reading bool                    // lines to records
	pairs   map[reflect.Type][]pair // by the line's type
	customs map[reflect.Type]func(line, record reflect.Value)
}

// pair is a field of a line and where the record has it.
type pair struct {
	line   int
	record []int
}

func newCopier(reading bool) *copier {
	c := &copier{reading: reading, pairs: make(map[reflect.Type][]pair), customs: make(map[reflect.Type]func(line, record reflect.Value))}
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
	for _, p := range c.pairsOf(line.Type(), record.Type()) {
		c.copyField(line.Field(p.line), record, p.record)
	}
	if custom, ok := c.customs[line.Type()]; ok {
		custom(line, record)
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

// pairsOf panics where a line has a field that its record has not: any test that writes one tells.
func (c *copier) pairsOf(line, record reflect.Type) []pair {
	if known, ok := c.pairs[line]; ok {
		return known
	}
	var out []pair
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
		out = append(out, p)
	}
	c.pairs[line] = out
	return out
}
