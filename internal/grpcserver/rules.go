package grpcserver

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// facts is what a rule promises, for the test that holds the rules against the comments of the API.
type facts struct {
	field   string
	limits  []string       // as the comment must say them
	ignored bool           // output only: what a request says there is ignored
	nested  func() []facts // of the field's message; nil for scalars
}

// rule is what one field of a message must obey.
type rule[M any] struct {
	facts
	check func(c *checker, m M) // nil if every value is good
}

// table holds the rules of all fields of a message.
type table[M any] []rule[M]

func (t table[M]) check(c *checker, m M) {
	for i := range t {
		if t[i].check == nil {
			continue
		}
		c.enter(t[i].field)
		t[i].check(c, m)
		c.leave()
	}
}

func (t table[M]) facts() []facts {
	out := make([]facts, len(t))
	for i := range t {
		out[i] = t[i].facts
	}
	return out
}

// condition says what is wrong with a text that is not empty, or nothing.
type condition func(text string) string

// text is a string: required if the limit's minimum is above 0.
func text[M any](field string, l limit, get func(M) string, also ...condition) rule[M] {
	return textIf(field, l, func(m M) (string, bool) {
		s := get(m)
		return s, s != "" || l.min > 0
	}, also...)
}

// optionalText is a string that may be empty, and obeys the limit if it is not.
func optionalText[M any](field string, l limit, get func(M) string, also ...condition) rule[M] {
	return textIf(field, l, func(m M) (string, bool) {
		s := get(m)
		return s, s != ""
	}, also...)
}

// textIf is a string that obeys its limit if get says that it is there.
func textIf[M any](field string, l limit, get func(M) (string, bool), also ...condition) rule[M] {
	return rule[M]{facts{field: field, limits: []string{l.length()}}, func(c *checker, m M) {
		s, there := get(m)
		if !there {
			return
		}
		if !l.holds(int64(len(s))) {
			c.fail("must have %s", l.length())
			return
		}
		for _, wrong := range also {
			if fault := wrong(s); fault != "" {
				c.fail("%s", fault)
			}
		}
	}}
}

func data[M any](field string, l limit, get func(M) []byte) rule[M] {
	return rule[M]{facts{field: field, limits: []string{l.length()}}, func(c *checker, m M) {
		if !l.holds(int64(len(get(m)))) {
			c.fail("must have %s", l.length())
		}
	}}
}

// whole are the numbers of the API: 32 bits wide, and 64 where contents are counted.
type whole interface{ int32 | int64 }

func number[M any, N whole](field string, l limit, get func(M) N) rule[M] {
	return optionalNumber(field, l, func(m M) *N {
		n := get(m)
		return &n
	})
}

func optionalNumber[M any, N whole](field string, l limit, get func(M) *N) rule[M] {
	return rule[M]{facts{field: field, limits: []string{l.span()}}, func(c *checker, m M) {
		if n := get(m); n != nil && !l.holds(int64(*n)) {
			c.fail("must be %s", l.span())
		}
	}}
}

func decimal[M any](field string, least, most float64, get func(M) *float64) rule[M] {
	span := decimalText(least) + " to " + decimalText(most)
	return rule[M]{facts{field: field, limits: []string{span}}, func(c *checker, m M) {
		if n := get(m); n != nil && !(least <= *n && *n <= most) {
			c.fail("must be %s", span)
		}
	}}
}

func decimalText(f float64) string {
	if f == math.Trunc(f) {
		return grouped(int64(f))
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func enum[M any, E protoreflect.Enum](field string, get func(M) E) rule[M] {
	return rule[M]{facts{field: field}, func(c *checker, m M) { checkEnum(c, get(m)) }}
}

func requiredEnum[M any, E protoreflect.Enum](field string, get func(M) E) rule[M] {
	return rule[M]{facts{field: field}, func(c *checker, m M) {
		if e := get(m); e.Number() == 0 {
			c.fail("is required")
		} else {
			checkEnum(c, e)
		}
	}}
}

func checkEnum(c *checker, e protoreflect.Enum) {
	if e.Descriptor().Values().ByNumber(e.Number()) == nil {
		c.fail("is not a value of %s", e.Descriptor().Name())
	}
}

// message is a field that holds a message with rules of its own.
func message[M any, N comparable](field string, get func(M) N, rules table[N]) rule[M] {
	return rule[M]{facts{field: field, nested: rules.facts}, func(c *checker, m M) {
		var unset N
		if n := get(m); n != unset {
			rules.check(c, n)
		}
	}}
}

func requiredMessage[M any, N comparable](field string, get func(M) N, rules table[N]) rule[M] {
	optional := message(field, get, rules)
	return rule[M]{optional.facts, func(c *checker, m M) {
		var unset N
		if get(m) == unset {
			c.fail("is required")
		}
		optional.check(c, m)
	}}
}

// list is a repeated message. A minimum above 0 makes it required.
func list[M, N any](field string, l limit, get func(M) []N, rules table[N]) rule[M] {
	return rule[M]{facts{field: field, limits: []string{l.length()}, nested: rules.facts}, func(c *checker, m M) {
		elements := get(m)
		checkCount(c, l, len(elements))
		for i, e := range elements {
			c.element(i)
			rules.check(c, e)
			c.leave()
		}
	}}
}

// scalars is a repeated scalar, each of which must pass.
func scalars[M, N any](field string, l limit, phrases []string, get func(M) []N, each func(*checker, N)) rule[M] {
	return rule[M]{facts{field: field, limits: append([]string{l.length()}, phrases...)}, func(c *checker, m M) {
		elements := get(m)
		checkCount(c, l, len(elements))
		for i, e := range elements {
			c.element(i)
			each(c, e)
			c.leave()
		}
	}}
}

func checkCount(c *checker, l limit, n int) {
	if !l.holds(int64(n)) {
		c.fail("must have %s elements", l.length())
	}
}

// either demands that one field of a oneof is set. Its field is the oneof's name.
func either[M any](oneof string, set func(M) bool) rule[M] {
	return rule[M]{facts{field: oneof}, func(c *checker, m M) {
		if !set(m) {
			c.fail("is required: one of its fields must be set")
		}
	}}
}

// anything is a field all of whose values are good, such as a bool.
func anything[M any](field string) rule[M] { return rule[M]{facts: facts{field: field}} }

// refused is a field that is output only and must not be set: what it stands for would be lost.
func refused[M any](field string, set func(M) bool) rule[M] {
	return rule[M]{facts{field: field, ignored: true}, func(c *checker, m M) {
		if set(m) {
			c.fail("is output only")
		}
	}}
}

// outputOnly is a field that requests may hold and nobody reads.
func outputOnly[M any](field string) rule[M] {
	return rule[M]{facts: facts{field: field, ignored: true}}
}
