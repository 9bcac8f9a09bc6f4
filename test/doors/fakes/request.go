package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// request is what the toy and the answers need to know of a request.
type request struct {
	header   http.Header
	model    string
	stream   bool
	seed     string // of its bytes: the same request has the same answer
	offered  []string
	blocks   []validate.Block
	tokens   int
	mute     bool // tools must not be called
	single   bool // one call at a time
	usage    bool // Chat: usage comes with the stream
	thinking bool // reasoning comes with the answer
	sealed   bool // Responses: and is encrypted
	faults   []string
}

// fault says what is wrong with the request.
func (r *request) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// members are those of a JSON object whose values are not null.
type members map[string]json.RawMessage

// members are those of an object; what is not among the known keys is at fault.
func (r *request) members(raw []byte, where string, known ...string) members {
	var m members
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		r.fault("%s: is no JSON object", where)
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, key) {
			r.fault("%s: unknown parameter %q", where, key)
		}
		if string(m[key]) == "null" {
			delete(m, key)
		}
	}
	return m
}

func (m members) has(key string) bool { return m[key] != nil }

// text is a member that is a string, or empty.
func (m members) text(key string) string { return textOf(m[key]) }

// truth is a member that is a boolean, or false.
func (m members) truth(key string) (b bool) {
	return json.Unmarshal(m[key], &b) == nil && b
}

// list are the elements of a member that is an array; something else is at fault.
func (r *request) list(m members, key string) (out []json.RawMessage) {
	if m.has(key) && json.Unmarshal(m[key], &out) != nil {
		r.fault("%s: is no array", key)
		return nil
	}
	return out
}

// required faults members that are not there.
func (r *request) required(m members, keys ...string) {
	for _, key := range keys {
		if !m.has(key) {
			r.fault("%s: is required", key)
		}
	}
}

// one faults a member that is none of these texts.
func (r *request) one(m members, key string, values ...string) {
	if m.has(key) && !slices.Contains(values, m.text(key)) {
		r.fault("%s: is none of %s", key, strings.Join(values, ", "))
	}
}

// judge reads the context by the independent judge, and holds its calls to the tools that are offered.
func (r *request) judge(format validate.Format, system, messages []byte) {
	checker, err := validate.NewChecker(format, func(text string) int { return (len(text) + 3) / 4 })
	if err != nil {
		r.fault("%s", err)
		return
	}
	checker.Model = r.model
	context := checker.Read(system, messages)
	r.blocks, r.tokens = context.Blocks, context.Tokens
	for _, v := range context.Violations {
		r.fault("%s", v)
	}
	for _, item := range itemsOf(r.blocks, validate.Call) {
		if !slices.Contains(r.offered, item.Name) {
			r.fault("a call of %q, which is not among the tools", item.Name)
		}
	}
}

// cached is how much of the context stood in the cache, if there was a request before.
func (r *request) cached() int {
	for _, b := range r.blocks {
		if b.Role == "assistant" || b.Role == "model" {
			return r.tokens / 2
		}
	}
	return 0
}

// weight is what an answer weighs.
func (a *answer) weight() int {
	n := (len(a.text) + 3) / 4
	for _, c := range a.calls {
		n += 10 + len(c.arguments)/4
	}
	return n
}
