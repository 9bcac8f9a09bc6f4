package rules

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Facts is what a rule promises, for the test that holds the rules against the comments of the API.
type Facts struct {
	Field   string
	Limits  []string       // as the comment must say them
	Ignored bool           // output only: what a request says there is ignored
	Nested  func() []Facts // of the field's message; nil for scalars
}

// Rule is what one field of a message must obey.
type Rule[M any] struct {
	Facts
	Check func(c *Checker, m M) // nil if every value is good
}

// Also adds a check to those of the rule.
func (r Rule[M]) Also(check func(c *Checker, m M)) Rule[M] {
	first := r.Check
	if first == nil {
		r.Check = check
		return r
	}
	r.Check = func(c *Checker, m M) {
		first(c, m)
		check(c, m)
	}
	return r
}

// Then adds a check for what the rule finds no fault with.
func (r Rule[M]) Then(check func(c *Checker, m M)) Rule[M] {
	first := r.Check
	r.Check = func(c *Checker, m M) {
		before := len(c.found)
		if first(c, m); len(c.found) == before {
			check(c, m)
		}
	}
	return r
}

// Says adds a limit that the comment must name too.
func (r Rule[M]) Says(limit string) Rule[M] {
	r.Limits = append(r.Limits, limit)
	return r
}

// Table holds the rules of all fields of a message.
type Table[M any] []Rule[M]

// Check notes what breaks the rules in a message.
func (t Table[M]) Check(c *Checker, m M) {
	for i := range t {
		if t[i].Check == nil {
			continue
		}
		c.Enter(t[i].Field)
		t[i].Check(c, m)
		c.Leave()
	}
}

// Facts are what the rules promise.
func (t Table[M]) Facts() []Facts {
	out := make([]Facts, len(t))
	for i := range t {
		out[i] = t[i].Facts
	}
	return out
}

// condition says what is wrong with a text that is not empty, or nothing.
type condition func(text string) string

// Text is a string: required if the limit's minimum is above 0.
func Text[M any](field string, l Limit, get func(M) string, also ...condition) Rule[M] {
	return TextIf(field, l, func(m M) (string, bool) {
		s := get(m)
		return s, s != "" || l.min > 0
	}, also...)
}

// OptionalText is a string that may be empty, and obeys the limit if it is not.
func OptionalText[M any](field string, l Limit, get func(M) string, also ...condition) Rule[M] {
	return TextIf(field, l, func(m M) (string, bool) {
		s := get(m)
		return s, s != ""
	}, also...)
}

// Alternative gets the text of one alternative of a oneof, and says whether it is the one that is set.
func Alternative[M, O, A any](oneof func(M) O, text func(A) string) func(M) (string, bool) {
	return func(m M) (string, bool) {
		set, ok := any(oneof(m)).(A)
		if !ok {
			return "", false
		}
		return text(set), true
	}
}

// TextIf is a string that obeys its limit if get says that it is there.
func TextIf[M any](field string, l Limit, get func(M) (string, bool), also ...condition) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: []string{l.Length()}}, func(c *Checker, m M) {
		s, there := get(m)
		if !there {
			return
		}
		if !l.Holds(int64(len(s))) {
			c.Fail("must have %s", l.Length())
			return
		}
		for _, wrong := range also {
			if fault := wrong(s); fault != "" {
				c.Fail("%s", fault)
			}
		}
	}}
}

// Data is a field of bytes.
func Data[M any](field string, l Limit, get func(M) []byte) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: []string{l.Length()}}, func(c *Checker, m M) {
		if !l.Holds(int64(len(get(m)))) {
			c.Fail("must have %s", l.Length())
		}
	}}
}

// Whole are the numbers of the API: 32 bits wide, and 64 where contents are counted.
type Whole interface{ int32 | int64 }

// Number is a number that is always there: 0 must be good, or it is required.
func Number[M any, N Whole](field string, l Limit, get func(M) N) Rule[M] {
	return OptionalNumber(field, l, func(m M) *N {
		n := get(m)
		return &n
	})
}

// OptionalNumber is a number that may be left out.
func OptionalNumber[M any, N Whole](field string, l Limit, get func(M) *N) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: []string{l.Span()}}, func(c *Checker, m M) {
		if n := get(m); n != nil && !l.Holds(int64(*n)) {
			c.Fail("must be %s", l.Span())
		}
	}}
}

// Decimal is a number with a fraction, which may be left out.
func Decimal[M any](field string, least, most float64, get func(M) *float64) Rule[M] {
	span := decimalText(least) + " to " + decimalText(most)
	return Rule[M]{Facts{Field: field, Limits: []string{span}}, func(c *Checker, m M) {
		if n := get(m); n != nil && !(least <= *n && *n <= most) {
			c.Fail("must be %s", span)
		}
	}}
}

func decimalText(f float64) string {
	if f == math.Trunc(f) {
		return Grouped(int64(f))
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Enum is an enum that may be left out.
func Enum[M any, E protoreflect.Enum](field string, get func(M) E) Rule[M] {
	return Rule[M]{Facts{Field: field}, func(c *Checker, m M) { CheckEnum(c, get(m)) }}
}

// RequiredEnum is an enum that must be set.
func RequiredEnum[M any, E protoreflect.Enum](field string, get func(M) E) Rule[M] {
	return Rule[M]{Facts{Field: field}, func(c *Checker, m M) {
		if e := get(m); e.Number() == 0 {
			c.Fail("is required")
		} else {
			CheckEnum(c, e)
		}
	}}
}

// CheckEnum notes a number that the enum does not have.
func CheckEnum(c *Checker, e protoreflect.Enum) {
	if e.Descriptor().Values().ByNumber(e.Number()) == nil {
		c.Fail("is not a value of %s", e.Descriptor().Name())
	}
}

// Message is a field that holds a message with rules of its own.
func Message[M any, N comparable](field string, get func(M) N, rules Table[N]) Rule[M] {
	return Rule[M]{Facts{Field: field, Nested: rules.Facts}, func(c *Checker, m M) {
		var unset N
		if n := get(m); n != unset {
			rules.Check(c, n)
		}
	}}
}

// RequiredMessage is a message that must be set.
func RequiredMessage[M any, N comparable](field string, get func(M) N, rules Table[N]) Rule[M] {
	optional := Message(field, get, rules)
	return Rule[M]{optional.Facts, func(c *Checker, m M) {
		var unset N
		if get(m) == unset {
			c.Fail("is required")
		}
		optional.Check(c, m)
	}}
}

// List is a repeated message. A minimum above 0 makes it required.
func List[M, N any](field string, l Limit, get func(M) []N, rules Table[N]) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: []string{l.Length()}, Nested: rules.Facts}, func(c *Checker, m M) {
		elements := get(m)
		CheckCount(c, l, len(elements))
		for i, e := range elements {
			c.Element(i)
			rules.Check(c, e)
			c.Leave()
		}
	}}
}

// Scalars is a repeated scalar, each of which must pass.
func Scalars[M, N any](field string, l Limit, phrases []string, get func(M) []N, each func(*Checker, N)) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: append([]string{l.Length()}, phrases...)}, func(c *Checker, m M) {
		elements := get(m)
		CheckCount(c, l, len(elements))
		for i, e := range elements {
			c.Element(i)
			each(c, e)
			c.Leave()
		}
	}}
}

// CheckCount notes a list that has too few elements or too many.
func CheckCount(c *Checker, l Limit, n int) {
	if !l.Holds(int64(n)) {
		c.Fail("must have %s elements", l.Length())
	}
}

// Either demands that one field of a oneof is set. Its field is the oneof's name.
func Either[M any](oneof string, set func(M) bool) Rule[M] {
	return Rule[M]{Facts{Field: oneof}, func(c *Checker, m M) {
		if !set(m) {
			c.Fail("is required: one of its fields must be set")
		}
	}}
}

// Anything is a field all of whose values are good, such as a bool.
func Anything[M any](field string) Rule[M] { return Rule[M]{Facts: Facts{Field: field}} }

// Refused is a field that is output only and must not be set: what it stands for would be lost.
func Refused[M any](field string, set func(M) bool) Rule[M] {
	return Rule[M]{Facts{Field: field, Ignored: true}, func(c *Checker, m M) {
		if set(m) {
			c.Fail("is output only")
		}
	}}
}

// OutputOnly adds fields that requests may hold and nobody reads.
func (t Table[M]) OutputOnly(fields ...string) Table[M] {
	for _, field := range fields {
		t = append(t, Rule[M]{Facts: Facts{Field: field, Ignored: true}})
	}
	return t
}

// ShownName is a text that is shown to models on a line of the sidecar's making.
func ShownName[M any](field string, l Limit, get func(M) string) Rule[M] {
	return Text(field, l, get, NoControls).Says("no control characters")
}

// EndIndex is where a range ends: at its start at the earliest.
func EndIndex[M interface{ GetStartIndex() N }, N Whole](l Limit, get func(M) *N) Rule[M] {
	return OptionalNumber("end_index", l, get).Then(func(c *Checker, m M) {
		if n := get(m); n != nil && *n < m.GetStartIndex() {
			c.Fail("must not be less than start_index")
		}
	})
}

// Texts is a list of strings, each of which obeys a limit of its own.
func Texts[M any](field string, l, each Limit, get func(M) []string) Rule[M] {
	return Scalars(field, l, []string{"each " + each.Length()}, get, func(c *Checker, text string) {
		if !each.Holds(int64(len(text))) {
			c.Fail("must have %s", each.Length())
		}
	})
}

// ClosedText is a string that is empty or one of the words a condition knows.
func ClosedText[M any](field string, get func(M) string, known condition) Rule[M] {
	return Rule[M]{Facts{Field: field}, func(c *Checker, m M) {
		if s := get(m); s != "" {
			if fault := known(s); fault != "" {
				c.Fail("%s", fault)
			}
		}
	}}
}
