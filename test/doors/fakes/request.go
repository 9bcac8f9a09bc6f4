package main

import (
	"encoding/json"
	"fmt"
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
	bytes    int
	seed     string // of its bytes: the same request has the same answer
	offered  []string
	blocks   []validate.Block
	tokens   int
	mute     bool // tools must not be called
	single   bool // one call at a time
	usage    bool // Chat: usage comes with the stream
	thinking bool // reasoning comes with the answer
	sealed   bool // Responses: and is encrypted
}

// members are those of a JSON object whose values are not null.
type members map[string]json.RawMessage

// read returns the members of an object, and faults what is not among the known keys.
func readMembers(raw []byte, where string, known ...string) (members, []string) {
	var m members
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, []string{where + ": is no JSON object"}
	}
	var faults []string
	for key, value := range m {
		if !slices.Contains(known, key) {
			faults = append(faults, fmt.Sprintf("%s: unknown parameter %q", where, key))
		}
		if string(value) == "null" {
			delete(m, key)
		}
	}
	slices.Sort(faults)
	return m, faults
}

func (m members) has(key string) bool { return m[key] != nil }

// text is a member that is a string, or empty.
func (m members) text(key string) (s string) {
	if json.Unmarshal(m[key], &s) != nil {
		return ""
	}
	return s
}

// truth is a member that is a boolean, or false.
func (m members) truth(key string) (b bool) {
	return json.Unmarshal(m[key], &b) == nil && b
}

// list are the elements of a member that is an array; a fault if it is something else.
func (m members) list(key string) ([]json.RawMessage, []string) {
	var out []json.RawMessage
	if m.has(key) && json.Unmarshal(m[key], &out) != nil {
		return nil, []string{key + ": is no array"}
	}
	return out, nil
}

// required faults members that are not there.
func (m members) required(keys ...string) (faults []string) {
	for _, key := range keys {
		if !m.has(key) {
			faults = append(faults, key+": is required")
		}
	}
	return faults
}

// one faults a member that is none of these texts.
func (m members) one(key string, values ...string) []string {
	if m.has(key) && !slices.Contains(values, m.text(key)) {
		return []string{fmt.Sprintf("%s: is none of %s", key, strings.Join(values, ", "))}
	}
	return nil
}

// judge reads the context by the independent judge, and holds its calls to the tools that are offered.
func (r *request) judge(format validate.Format, system, messages []byte) (faults []string) {
	checker, err := validate.NewChecker(format, func(text string) int { return (len(text) + 3) / 4 })
	if err != nil {
		return []string{err.Error()}
	}
	context := checker.Read(system, messages)
	r.blocks, r.tokens = context.Blocks, context.Tokens
	for _, v := range context.Violations {
		faults = append(faults, v.String())
	}
	for _, item := range itemsOf(r.blocks, validate.Call) {
		if !slices.Contains(r.offered, item.Name) {
			faults = append(faults, fmt.Sprintf("a call of %q, which is not among the tools", item.Name))
		}
	}
	return faults
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
