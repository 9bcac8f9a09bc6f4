package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// WithResidue gives a part the members that its fields do not hold; nothing if there are none.
func (r *Reading) WithResidue(p conversation.Part, from string, kept Members) conversation.Part {
	if len(kept) > 0 {
		p.Residue = &conversation.Residue{Provider: from, JSON: mendSurrogates(kept.JSON())}
	}
	return p
}

// MoreResidue adds members before those that a part already has.
func (r *Reading) MoreResidue(p conversation.Part, from string, kept Members) conversation.Part {
	if p.Residue != nil {
		members(p.Residue.JSON, func(quoted, value string) bool {
			kept = append(kept, Member{unquote(quoted), value})
			return true
		})
	}
	return r.WithResidue(p, from, kept)
}

// Members are members of an object, in order.
type Members []Member

// Member is a name and a value in JSON.
type Member struct{ Key, JSON string }

// Add adds a member unless it is missing.
func (m *Members) Add(n Node) {
	if !n.Missing() {
		*m = append(*m, Member{n.key, n.JSON})
	}
}

// AddText adds a member that must be a string, unless it is missing.
func (m *Members) AddText(r *Reading, n Node) {
	if r.Text(n) != "" {
		m.Add(n)
	}
}

// AddString adds a member that is a string.
func (m *Members) AddString(key, text string) {
	*m = append(*m, Member{key, string(AppendString(nil, text))})
}

// JSON writes the object.
func (m Members) JSON() string {
	var b strings.Builder
	for i := range m {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(AppendString(nil, m[i].Key))
		b.WriteByte(':')
		b.WriteString(m[i].JSON)
	}
	if len(m) == 0 {
		return "{}"
	}
	b.WriteByte('}')
	return b.String()
}

// Rewriting says how a provider's own block is kept.
type Rewriting struct {
	Nulls []string // members that may be null, because the provider requires them; other nulls are dropped
	Free  []string // members whose values belong to the caller and are kept unchanged
	Drop  []string // members that are dropped, such as cache marks
	Top   bool     // only the block's own members are rewritten, and not nested ones
	Camel bool     // names in snake_case become camelCase
}

// Block returns a block without what its provider would refuse.
func (r *Reading) Block(w *Rewriting, n Node) string {
	if !n.Is('{') {
		r.Fail(&n, "must be an object")
		return "{}"
	}
	return mendSurrogates(string(w.object(make([]byte, 0, len(n.JSON)), n.JSON)))
}

func (w *Rewriting) object(dst []byte, object string) []byte {
	dst = append(dst, '{')
	start := len(dst)
	members(object, func(quoted, value string) bool {
		key := memberKey(quoted, w.Camel)
		if value == "null" && !slices.Contains(w.Nulls, key) || slices.Contains(w.Drop, key) {
			return true
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, key), ':')
		dst = w.value(dst, value, w.Top || slices.Contains(w.Free, key))
		return true
	})
	return append(dst, '}')
}

func (w *Rewriting) value(dst []byte, value string, asIs bool) []byte {
	switch {
	case asIs || value[0] != '{' && value[0] != '[':
		return append(dst, value...)
	case value[0] == '{':
		return w.object(dst, value)
	}
	dst = append(dst, '[')
	elements(value, func(i int, element string) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.value(dst, element, false)
	})
	return append(dst, ']')
}

// AddObject adds a member that must be an object or a list, unless it is missing.
func (m *Members) AddObject(r *Reading, w *Rewriting, n Node) {
	switch {
	case n.Missing():
	case n.Is('{') || n.Is('['):
		*m = append(*m, Member{n.key, string(w.value(nil, n.JSON, false))})
	default:
		r.Fail(&n, "must be an object or a list")
	}
}

// Unread keeps, under a key, the members of an object that nothing else reads; nothing if there are none.
func (m *Members) Unread(w *Rewriting, key string, o *Object, read ...string) {
	var rest Members
	for i := range o.members {
		if n := &o.members[i]; !slices.Contains(read, n.key) && !slices.Contains(w.Drop, n.key) {
			rest = append(rest, Member{n.key, string(w.value(nil, n.JSON, w.Top || slices.Contains(w.Free, n.key)))})
		}
	}
	if len(rest) > 0 {
		*m = append(*m, Member{key, rest.JSON()})
	}
}
