package dialects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// unknown is a member that no type has: providers add members before SDKs have types for them.
const unknown = "zzlater"

// free are members whose value is the caller's or a tool's own: nothing is added in them, and null there is a value.
var free = []string{"input", "args", "arguments", "response", "metadata", "input_schema", "parameters"}

// node is JSON whose members keep their order: an object's are pairs.
type (
	node any
	pair struct {
		key   string
		value node
	}
	object []pair
)

// parse reads JSON that is known to be right.
func parse(t *testing.T, raw []byte) node {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := next(d)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func next(d *json.Decoder) (node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := next(d)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			o = append(o, pair{name, value})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []node{}
		for d.More() {
			value, err := next(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = d.Token()
		return list, err
	default:
		return token, nil
	}
}

// writer writes JSON in a way of its own.
type writer struct {
	quote func(string) string
}

func plainly(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string it does not fail
	return strings.TrimSuffix(b.String(), "\n")
}

// escaped writes every character of a string as \u, in a pair of halves where it takes two.
func escaped(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	b.WriteByte('"')
	return b.String()
}

func (w writer) write(b *strings.Builder, n node) {
	switch v := n.(type) {
	case object:
		b.WriteByte('{')
		for i, p := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(w.quote(p.key) + ":")
			w.write(b, p.value)
		}
		b.WriteByte('}')
	case []node:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			w.write(b, e)
		}
		b.WriteByte(']')
	case string:
		b.WriteString(w.quote(v))
	case json.Number:
		b.WriteString(v.String())
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

func (w writer) text(n node) []byte {
	var b strings.Builder
	w.write(&b, n)
	return []byte(b.String())
}

// each rewrites every object of a provider's, innermost first; not what is in free members.
func each(n node, change func(object) object) node {
	switch v := n.(type) {
	case object:
		out := make(object, 0, len(v))
		for _, p := range v {
			if !slices.Contains(free, p.key) {
				p.value = each(p.value, change)
			}
			out = append(out, p)
		}
		return change(out)
	case []node:
		out := make([]node, len(v))
		for i := range v {
			out[i] = each(v[i], change)
		}
		return out
	default:
		return n
	}
}

// reversed turns the order of all members around, of free ones too.
func reversed(n node) node {
	switch v := n.(type) {
	case object:
		out := make(object, len(v))
		for i, p := range v {
			out[len(v)-1-i] = pair{p.key, reversed(p.value)}
		}
		return out
	case []node:
		out := make([]node, len(v))
		for i := range v {
			out[i] = reversed(v[i])
		}
		return out
	default:
		return n
	}
}

// later is a message, an item or a content as a later version of the API may write it, with a member that is not known yet in the message,
// in what it says and in its calls. Anthropic's messages and Gemini's contents are joined with others, so that theirs have none.
func later(format string, o object) object {
	mark := func(o object) object { return append(slices.Clone(o), pair{unknown, "x"}) }
	marked := func(key string, change func(object) object) {
		if list, ok := o.get(key).([]node); ok {
			o = o.with(key, eachOf(list, change))
		}
	}
	switch format {
	case "anthropic":
		marked("content", mark)
		return o
	case "gemini":
		marked("parts", mark)
		return o
	case "openai-chat":
		marked("tool_calls", mark)
	}
	marked("content", mark)
	return mark(o)
}

// laterStep is a step of which later wrote what the model says.
func laterStep(format string, n node) node {
	o, ok := n.(object)
	if !ok || writtenByCaller(n) {
		return n
	}
	inside := func(o object, list, key string) object {
		return o.with(list, eachOf(o.get(list), func(c object) object {
			if m, ok := c.get(key).(object); ok {
				return c.with(key, later(format, m))
			}
			return c
		}))
	}
	switch {
	case o.get("choices") != nil:
		return inside(o, "choices", "message")
	case o.get("candidates") != nil:
		return inside(o, "candidates", "content")
	case o.get("object") == "response":
		return o.with("output", eachOf(o.get("output"), func(item object) object { return later(format, item) }))
	}
	return later(format, o)
}

// hands are writers of other tools: what they write of a step is the same step.
var hands = map[string]func(n node) []byte{
	"as dumped":        func(n node) []byte { return writer{plainly}.text(n) },
	"members reversed": func(n node) []byte { return writer{plainly}.text(reversed(n)) },
	"escaped":          func(n node) []byte { return writer{escaped}.text(n) },
	"nulls": func(n node) []byte {
		return writer{plainly}.text(each(n, func(o object) object { return append(o, pair{unknown, nil}) }))
	},
	"unknown members": func(n node) []byte {
		if writtenByCaller(n) {
			return writer{plainly}.text(n)
		}
		return writer{plainly}.text(each(n, func(o object) object { return append(o, pair{unknown, "x"}) }))
	},
}

// writtenByCaller reports whether a step is a caller's own, in which providers refuse members that they do not know.
func writtenByCaller(n node) bool {
	o, ok := n.(object)
	answer := ok && (o.get("choices") != nil || o.get("candidates") != nil || o.get("object") == "response")
	return !answer && (!ok || o.get("role") != "assistant" && o.get("role") != "model")
}
