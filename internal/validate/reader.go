package validate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// What the formula of behaviour §12 adds to the counted text.
const (
	perMessage = 4
	perCall    = 6
	perMedia   = 1600
)

// reader collects what is wrong with one element.
type reader struct {
	model  string // that is called; empty for any
	count  Counter
	faults []Violation
}

func (r *reader) fault(where string, rule Rule) {
	r.faults = append(r.faults, Violation{where, rule})
}

func at(where string, i int) string { return where + "[" + strconv.Itoa(i) + "]" }

// block makes a block of what one piece of JSON says.
func (r *reader) block(role string, raw []byte, items ...Item) Block {
	b := Block{Role: role, JSON: string(raw), Items: items}
	for _, item := range items {
		b.Tokens += item.tokens(r.count)
	}
	return b
}

// hold takes in what pieces of the item say.
func (it *Item) hold(pieces []Item) {
	for _, piece := range pieces {
		it.Texts = append(it.Texts, piece.Texts...)
		it.Media += piece.Media
	}
}

func (it *Item) tokens(count Counter) int {
	n := it.Media * perMedia
	for _, text := range it.Texts {
		n += count(text)
	}
	if it.Kind == Call {
		n += perCall + count(it.Name)
	}
	return n
}

// object is a JSON object whose keys are read one by one.
type object struct {
	r      *reader
	at     string
	fields map[string][]byte
}

// object reads raw, which must be an object with none but the known keys.
func (r *reader) object(raw []byte, where string, known ...string) (object, bool) {
	o, ok := r.written(raw, where)
	o.known(known...)
	return o, ok
}

// known faults all keys but these.
func (o object) known(keys ...string) {
	for key := range o.fields {
		if !slices.Contains(keys, key) {
			o.r.fault(o.at, RuleUnknownKey)
		}
	}
}

// written reads raw, which must be an object that the provider wrote: it takes back what it answered, keys that are newer than this page too.
func (r *reader) written(raw []byte, where string) (object, bool) {
	o := object{r: r, at: where, fields: map[string][]byte{}}
	if len(raw) == 0 || raw[0] != '{' {
		r.fault(where, RuleType)
		return o, false
	}
	for _, m := range splitObject(raw) {
		if _, twice := o.fields[m.key]; twice {
			r.fault(where, RuleTwice)
		}
		o.fields[m.key] = m.raw
	}
	return o, true
}

func (o object) has(key string) bool { return o.fields[key] != nil }

func (o object) path(key string) string { return o.at + "." + key }

// text returns a required string.
func (o object) text(key string) (string, bool) {
	raw, ok := o.fields[key]
	if !ok {
		o.r.fault(o.path(key), RuleMissing)
		return "", false
	}
	return o.r.text(raw, o.path(key))
}

// optional returns a string that may be absent.
func (o object) optional(key string) string {
	if !o.has(key) {
		return ""
	}
	s, _ := o.text(key)
	return s
}

// one returns a required string that must be one of several.
func (o object) one(key string, rule Rule, values ...string) string {
	s, ok := o.text(key)
	if ok && !slices.Contains(values, s) {
		o.r.fault(o.path(key), rule)
	}
	return s
}

// full returns a required string that must not be empty.
func (o object) full(key string) string {
	s, ok := o.text(key)
	if ok && s == "" {
		o.r.fault(o.path(key), RuleEmpty)
	}
	return s
}

// truth returns a boolean that may be absent.
func (o object) truth(key string) bool {
	raw, ok := o.fields[key]
	if ok && string(raw) != "true" && string(raw) != "false" {
		o.r.fault(o.path(key), RuleType)
	}
	return string(raw) == "true"
}

// list returns the elements of a required array that must not be empty.
func (o object) list(key string) [][]byte {
	raw, ok := o.fields[key]
	if !ok {
		o.r.fault(o.path(key), RuleMissing)
		return nil
	}
	elements, isArray := splitArray(raw)
	switch {
	case !isArray:
		o.r.fault(o.path(key), RuleType)
	case len(elements) == 0:
		o.r.fault(o.path(key), RuleEmpty)
	}
	return elements
}

// matched returns a required string that must match a pattern.
func (o object) matched(key string, rule Rule, pattern func(string) bool) string {
	s, ok := o.text(key)
	if ok && !pattern(s) {
		o.r.fault(o.path(key), rule)
	}
	return s
}

func (r *reader) text(raw []byte, where string) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		r.fault(where, RuleType)
		return "", false
	}
	return s, true
}

// member is a key of an object and its value as it stands.
type member struct {
	key string
	raw []byte
}

// splitObject returns the members of an object that is known to be valid JSON.
func splitObject(raw []byte) []member {
	var out []member
	for i := 1; ; {
		i = skipSpace(raw, i)
		if raw[i] == '}' {
			return out
		}
		if raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
		end := stringEnd(raw, i)
		var m member
		// Valid JSON cannot fail to decode.
		_ = json.Unmarshal(raw[i:end], &m.key)
		i = skipSpace(raw, skipSpace(raw, end)+1)
		end = valueEnd(raw, i)
		m.raw = raw[i:end]
		out, i = append(out, m), end
	}
}

// splitArray returns the elements of an array, or false if raw is none. It
// checks what stands between the elements, and leaves the elements themselves
// to whoever reads them.
func splitArray(raw []byte) ([][]byte, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, false
	}
	var out [][]byte
	last := len(raw) - 1
	i := skipSpace(raw, 1)
	if i == last {
		return nil, true
	}
	for {
		end := valueEnd(raw, i)
		if end <= i || end > last {
			return out, false
		}
		out = append(out, raw[i:end])
		i = skipSpace(raw, end)
		if i == last {
			return out, true
		}
		if raw[i] != ',' {
			return out, false
		}
		i = skipSpace(raw, i+1)
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for j := i + 1; ; j++ {
		k := bytes.IndexByte(b[min(j, len(b)):], '"')
		if k < 0 {
			return len(b)
		}
		j += k
		escapes := 0
		for b[j-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return j + 1
		}
	}
}

// valueEnd returns the index after the value that begins at i. It finds ends,
// and checks nothing.
func valueEnd(b []byte, i int) int {
	depth := 0
	for j := i; j < len(b); {
		switch b[j] {
		case '"':
			j = stringEnd(b, j)
		case '{', '[':
			depth++
			j++
			continue
		case '}', ']':
			if depth == 0 {
				return j
			}
			depth--
			j++
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return j
			}
			j++
			continue
		default:
			j++
			continue
		}
		if depth == 0 {
			return j
		}
	}
	return len(b)
}
