package provider

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Kept are members of a part's residue that its provider takes back; nil for most parts.
type Kept map[string]json.RawMessage

// Kept returns what is kept of a part for the format, whose lines have no residue of others.
func (s *UnitWriter) Kept(p *conversation.Part) Kept {
	if p.Residue == nil {
		return nil
	}
	return s.Traits.kept(p.Residue)
}

// kept returns the members that a format knows.
func (t *Traits) kept(r *conversation.Residue) Kept {
	fields, _ := Fields(r.JSON)
	for key := range fields {
		if !slices.Contains(t.Residue, key) {
			delete(fields, key)
		}
	}
	return fields
}

// Text returns a member that is a string, or empty.
func (k Kept) Text(key string) string { return StringField(k, key) }

// Is reports whether a member is there and of a kind: { [ " or 0 for numbers.
func (k Kept) Is(key string, kind byte) bool {
	value := k[key]
	if len(value) == 0 {
		return false
	}
	return value[0] == kind || kind == '0' && '0' < value[0] && value[0] <= '9'
}

// Blocks reports whether a member is a list of blocks, at least one, each of which says its type.
func (k Kept) Blocks(key string) bool {
	var blocks []map[string]json.RawMessage
	if json.Unmarshal(k[key], &blocks) != nil {
		return false
	}
	untyped := func(b map[string]json.RawMessage) bool { return StringField(b, "type") == "" }
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, untyped)
}

// Append puts members behind those of an object, if they are of a kind.
func (k Kept) Append(object []byte, kind byte, keys ...string) []byte {
	for _, key := range keys {
		if !k.Is(key, kind) {
			continue
		}
		object = object[:len(object)-1]
		if object[len(object)-1] != '{' {
			object = append(object, ',')
		}
		object = append(AppendString(object, key), ':')
		object = append(append(object, k[key]...), '}')
	}
	return object
}

// isFile reports whether a medium is a file that the provider keeps under an id, or that has a name, so that it may be of any type.
func (k Kept) isFile(m *conversation.Media) bool {
	return k.Text("file_id") != "" || k.Text("filename") != "" && (HasData(m) || IsWeb(m))
}

// takeResidue leaves in the lines what the format may merge back: residue of its provider, by the model that is called, of which it knows a
// member. All other residue is left out, and what it weighs.
func (s *UnitWriter) takeResidue(lines []Line) {
	for i := range lines {
		l := &lines[i]
		copied := false
		for j := range l.Parts {
			p := &l.Parts[j]
			if p.Residue == nil || s.takes(l, p.Residue) {
				s.residue = s.residue || p.Residue != nil
				continue
			}
			if !copied { // the record's own must not change
				l.Parts, copied = slices.Clone(l.Parts), true
				p = &l.Parts[j]
			}
			n := min(s.Context.count(p.Residue.JSON), p.Tokens)
			s.Repair(l.Index, conversation.ReasonResidueDropped, -int64(n))
			p.Residue, p.Tokens, l.Tokens = nil, p.Tokens-n, l.Tokens-n
		}
	}
}

// takes reports whether residue in a line may go back. What the assistant's has may refer to blocks that only its model takes.
func (s *UnitWriter) takes(l *Line, r *conversation.Residue) bool {
	if r.Provider != s.Traits.Provider || l.Role == conversation.RoleAssistant && !SameModel(s.Context.Model, l.Model) {
		return false
	}
	return len(s.Traits.kept(r)) > 0
}

// Asked returns the call that a result answers and Answered the result of a call; nil if the unit has none. They are looked for where calls
// or results have residue, which is rare.
func (s *UnitWriter) Asked(ordinal int32) *conversation.Part {
	return s.find(func(p *conversation.Part) bool {
		return p.Kind == conversation.PartToolCall && p.Call.Ordinal == ordinal
	})
}

// Answered returns the part with the result of a call.
func (s *UnitWriter) Answered(ordinal int32) *conversation.Part {
	return s.find(func(p *conversation.Part) bool {
		return p.Kind == conversation.PartToolResult && p.Result.Ordinal == ordinal
	})
}

func (s *UnitWriter) find(is func(*conversation.Part) bool) *conversation.Part {
	if !s.residue {
		return nil
	}
	for i := range s.lines {
		if at := slices.IndexFunc(s.lines[i].Parts, func(p conversation.Part) bool { return is(&p) }); at >= 0 {
			return &s.lines[i].Parts[at]
		}
	}
	return nil
}
