package dialects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// apart are members that comparisons leave out: marks for a prompt cache, which are the sidecar's own affair, and what providers only answer
// with.
var apart = map[string][]string{
	"openai-chat":      {"annotations"},
	"openai-responses": {"prompt_cache_breakpoint", "logprobs"},
	"anthropic":        {"cache_control"},
}

// canonical is a list in the one of its equal forms that comparisons use: docs/provider-json.md says which are equal. Null is absent, as
// is the empty text of an assistant, one text is a list of one text, and neighbors of one role are one message where the provider takes turns.
func canonical(format string, list []node) []node {
	var out []node
	for _, e := range list {
		o, ok := each(e, func(o object) object { return bare(o, apart[format]) }).(object)
		if !ok {
			out = append(out, e)
			continue
		}
		switch format {
		case "openai-chat":
			if o.get("content") == "" && o.get("role") == "assistant" {
				o = o.with("content", nil)
			}
			o = bare(listed(o, "content", "text"), nil)
			if calls := o.get("tool_calls"); calls != nil { // whose index says where they stand anyway
				o = o.with("tool_calls", eachOf(calls, func(c object) object { return spelled(bare(c, []string{"index"})) }))
			}
		case "openai-responses":
			o = listedItem(o)
		case "anthropic":
			o = o.with("content", eachOf(listed(o, "content", "text").get("content"), func(b object) object { return listed(b, "content", "text") }))
		}
		out = joined(out, o, map[string]string{"anthropic": "content", "gemini": "parts"}[format])
	}
	return out
}

// bare is an object without nulls and some members.
func bare(o object, apart []string) object {
	return slices.DeleteFunc(o, func(p pair) bool { return p.value == nil || slices.Contains(apart, p.key) })
}

// spelled writes the arguments of a call without escapes, which they have where they came as an object.
func spelled(call object) object {
	function, _ := call.get("function").(object)
	text, _ := function.get("arguments").(string)
	if !strings.Contains(text, `\u`) {
		return call
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if n, err := next(d); err == nil {
		return call.with("function", function.with("arguments", string(writer{plainly}.text(n))))
	}
	return call
}

// listed writes a text of an object as a list of one text.
func listed(o object, key, kind string) object {
	text, ok := o.get(key).(string)
	if !ok {
		return o
	}
	return o.with(key, []node{object{{"type", kind}, {"text", text}}})
}

// listedItem is a message of Responses in its long form; other items are as they are.
func listedItem(o object) object {
	role, ok := o.get("role").(string)
	if !ok {
		return o
	}
	if role == "assistant" {
		return listed(o.with("type", "message"), "content", "output_text")
	}
	return listed(o.with("type", "message"), "content", "input_text")
}

// joined appends a message to a list, or what it says to the message before it, if that is of the same role and the provider takes turns.
func joined(list []node, o object, key string) []node {
	if key != "" && len(list) > 0 {
		if last, ok := list[len(list)-1].(object); ok && last.get("role") == o.get("role") {
			before, _ := last.get(key).([]node)
			more, _ := o.get(key).([]node)
			list[len(list)-1] = last.with(key, slices.Concat(before, more))
			return list
		}
	}
	return append(list, o)
}

func eachOf(list node, change func(object) object) node {
	all, _ := list.([]node)
	out := make([]node, len(all))
	for i, e := range all {
		if out[i] = e; e != nil {
			if o, ok := e.(object); ok {
				out[i] = change(o)
			}
		}
	}
	return out
}

func (o object) get(key string) node {
	for _, p := range o {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// with sets a member, in its place if it is there.
func (o object) with(key string, value node) object {
	out := slices.Clone(o)
	for i := range out {
		if out[i].key == key {
			out[i].value = value
			return out
		}
	}
	return append(out, pair{key, value})
}

// without leaves a member out, at every level.
func without(n node, key string) node {
	return each(n, func(o object) object { return slices.DeleteFunc(o, func(p pair) bool { return p.key == key }) })
}

// sorted writes JSON with members in the order of their names, so that what is equal is written alike.
func sorted(n node) string {
	return string(writer{plainly}.text(inOrder(n)))
}

func inOrder(n node) node {
	switch v := n.(type) {
	case object:
		out := make(object, len(v))
		for i, p := range v {
			out[i] = pair{p.key, inOrder(p.value)}
		}
		slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.key, b.key) })
		return out
	case []node:
		out := make([]node, len(v))
		for i := range v {
			out[i] = inOrder(v[i])
		}
		return out
	default:
		return n
	}
}

// difference names the first elements that differ, on both sides.
func difference(got, want []node) string {
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = sorted(got[i])
		}
		if i < len(want) {
			w = sorted(want[i])
		}
		if g != w {
			return fmt.Sprintf("element %d is\n%s, not\n%s", i, g, w)
		}
	}
	return ""
}
