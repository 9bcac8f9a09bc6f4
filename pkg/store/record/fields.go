package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// fields goes over the fields of a message, to write them or to read them: one function for each kind of message names its fields with
// their numbers, so that what is written and what is read cannot differ.
//
// The function is called once to write, and writes fields in its order. To read it is called until no field is left, and each call takes
// what comes in its order. Records lie in that order, so that one call reads almost all of them, and any other order is read too.
type fields struct {
	reading bool
	out     []byte // what has been written
	in      reader // its field is the one to be taken next; none at the end of the message
	taken   int    // fields so far
	before  int    // taken when the message's function was called
	first   bool   // it is the first call for this message
}

// none is no field's number.
const none = -1

// read calls a message's function until the message in f.in is at its end.
func read[T any](f *fields, v *T, of func(*fields, *T)) {
	f.advance()
	for f.first = true; ; f.first = false {
		f.before = f.taken
		of(f, v)
		if f.in.field == none {
			return
		}
		if f.taken == f.before {
			f.advance() // nobody knows it
		}
	}
}

func (f *fields) advance() {
	f.taken++
	if !f.in.next() {
		f.in.field = none
	}
}

// inner reads the message that is the value of the current field.
func inner[T any](f *fields, v *T, of func(*fields, *T)) {
	rest, before, first := f.in.rest, f.before, f.first
	f.in.rest = f.in.text()
	read(f, v, of)
	f.in.rest, f.before, f.first = rest, before, first
	f.advance()
}

// unknown keeps what a newer version wrote. It comes last.
func (f *fields) unknown(v *string) {
	switch {
	case !f.reading:
		f.out = append(f.out, *v...)
	case f.in.field != none && f.taken == f.before:
		*v += f.in.raw
		f.advance()
	}
}

func (f *fields) text(field int, v *string) {
	if !f.reading {
		f.out = appendText(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.text()
		f.advance()
	}
}

func (f *fields) blob(field int, v *[]byte) {
	if !f.reading {
		f.out = appendText(f.out, field, *v)
	} else if f.in.field == field {
		*v = []byte(f.in.text())
		f.advance()
	}
}

func (f *fields) texts(field int, v *[]string) {
	if !f.reading {
		for _, text := range *v {
			f.out = appendElement(f.out, field, text)
		}
		return
	}
	for f.in.field == field {
		*v = append(*v, f.in.text())
		f.advance()
	}
}

func integer[T signed](f *fields, field int, v *T) {
	if !f.reading {
		f.out = appendInt(f.out, field, *v)
	} else if f.in.field == field {
		*v = T(f.in.uint())
		f.advance()
	}
}

func (f *fields) uint(field int, v *uint64) {
	if !f.reading {
		f.out = appendUint(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.uint()
		f.advance()
	}
}

// sint is for fields that use -1: see appendSint.
func (f *fields) sint(field int, v *int32) {
	if !f.reading {
		f.out = appendSint(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.sint()
		f.advance()
	}
}

// plusOne is for fields that are -1 where a version that did not know them wrote nothing.
func (f *fields) plusOne(field int, v *int32) {
	if !f.reading {
		f.out = appendInt(f.out, field, *v+1)
		return
	}
	if f.first {
		*v = -1
	}
	if f.in.field == field {
		*v = f.in.int32() - 1
		f.advance()
	}
}

func (f *fields) bool(field int, v *bool) {
	if !f.reading {
		f.out = appendBool(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.bool()
		f.advance()
	}
}

func (f *fields) float(field int, v *float64) {
	if !f.reading {
		f.out = appendFloat(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.float()
		f.advance()
	}
}

func (f *fields) id(field int, v *conversation.ID) {
	if !f.reading {
		f.out = appendID(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.id()
		f.advance()
	}
}

func (f *fields) hash(field int, v *[32]byte) {
	if !f.reading {
		f.out = appendHash(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.hash()
		f.advance()
	}
}

func (f *fields) time(field int, v *time.Time) {
	if !f.reading {
		f.out = appendTime(f.out, field, *v)
	} else if f.in.field == field {
		*v = f.in.time()
		f.advance()
	}
}

// pointer is a setting: what is zero is written too, because it is not one that is not set.
func pointer[T any](f *fields, field int, v **T, put func(b []byte, field int, v T) []byte, take func(*reader) T) {
	if f.reading {
		if f.in.field == field {
			*v = new(take(&f.in))
			f.advance()
		}
	} else if *v != nil {
		f.out = put(f.out, field, **v)
	}
}

func setting[T signed](f *fields, field int, v **T) {
	pointer(f, field, v, putInt, func(r *reader) T { return T(r.uint()) })
}

func (f *fields) number(field int, v **float64) { pointer(f, field, v, putFloat, (*reader).float) }

// toggle is on or off.
func (f *fields) toggle(field int, v **bool) { pointer(f, field, v, putBool, (*reader).bool) }

func (f *fields) textSetting(field int, v **string) {
	pointer(f, field, v, appendElement, (*reader).text)
}

func numbers[T signed](f *fields, field int, v *[]T) {
	if !f.reading {
		f.out = appendPacked(f.out, field, *v, false)
		return
	}
	for f.in.field == field {
		packed(&f.in, func(n T) { *v = append(*v, n) })
		f.advance()
	}
}

// nested is a message in a message.
func nested[T any](f *fields, field int, v *T, of func(*fields, *T)) {
	if !f.reading {
		var start int
		f.out, start = beginNested(f.out, field)
		of(f, v)
		f.out = endNested(f.out, start)
	} else if f.in.field == field {
		inner(f, v, of)
	}
}

// section is nested, and nothing where it is zero.
func section[T comparable](f *fields, field int, v *T, of func(*fields, *T)) {
	var zero T
	if f.reading || *v != zero {
		nested(f, field, v, of)
	}
}

// optional is nested, and nothing where it is nil.
func optional[T any](f *fields, field int, v **T, of func(*fields, *T)) {
	if f.reading {
		if f.in.field == field {
			*v = new(T)
			inner(f, *v, of)
		}
	} else if *v != nil {
		nested(f, field, *v, of)
	}
}

// list is any number of nested messages.
func list[T any](f *fields, field int, v *[]T, of func(*fields, *T)) {
	if !f.reading {
		for i := range *v {
			nested(f, field, &(*v)[i], of)
		}
		return
	}
	for f.in.field == field {
		var zero T
		*v = append(*v, zero)
		inner(f, &(*v)[len(*v)-1], of)
	}
}
