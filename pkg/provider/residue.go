package provider

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Kept returns the members of a part's residue that the provider takes back; nil for most parts. Lines hold no other provider's residue.
func (s *UnitWriter) Kept(p *conversation.Part) Fields {
	if p.Residue == nil {
		return nil
	}
	return s.Traits.kept(p.Residue)
}

// kept returns the members that a format knows.
func (t *Traits) kept(r *conversation.Residue) Fields {
	fields := ReadFields(r.JSON)
	for key := range fields {
		if !slices.Contains(t.Residue, key) {
			delete(fields, key)
		}
	}
	return fields
}

// unweighed are members that no model reads: ids, how an answer was divided, and in which members the content came.
func unweighed() []string {
	return []string{"id", "status", "item", "continues", "as", "empty", "named"}
}

// WeighedResidue returns the part of a residue that weighs tokens; empty for most.
func WeighedResidue(object string) string {
	if !IsObject(object) {
		return object
	}
	var weighed Members
	members(object, func(quoted, value string) bool {
		if key := unquote(quoted); !slices.Contains(unweighed(), key) {
			weighed = append(weighed, Member{key, value})
		}
		return true
	})
	if len(weighed) == 0 {
		return ""
	}
	return weighed.JSON()
}

// isFile reports whether a medium is a file with an id at the provider or with a name, so that it may be of any type.
func (f Fields) isFile(m *conversation.Media) bool {
	return f.Text("file_id") != "" || f.Text("filename") != "" && IsReachable(m)
}

// keepOwnResidue leaves in the lines only residue that the format may write back: with a member that it knows, from its provider, and from a
// model whose blocks may be sent. Other residue is dropped with its weight.
func (s *UnitWriter) keepOwnResidue(lines []Line) {
	for i := range lines {
		l := &lines[i]
		copied := false
		for j := range l.Parts {
			p := &l.Parts[j]
			if p.Residue == nil || s.takes(l, p.Residue) {
				s.residue = s.residue || p.Residue != nil
				continue
			}
			if !copied { // the record's parts must not change
				l.Parts, copied = slices.Clone(l.Parts), true
				p = &l.Parts[j]
			}
			n := int32(0)
			if weighed := WeighedResidue(p.Residue.JSON); weighed != "" { // the dropped residue weighed something, unlike an id
				n = min(s.Context.count(weighed), p.Tokens)
				s.Repair(l.Index, conversation.ReasonResidueDropped, -int64(n))
			}
			p.Residue, p.Tokens, l.Tokens = nil, p.Tokens-n, l.Tokens-n
		}
	}
}

// takes reports whether the residue of a line may be sent back. Residue of the assistant may refer to blocks that not every model takes.
func (s *UnitWriter) takes(l *Line, r *conversation.Residue) bool {
	if r.Provider != s.Traits.Provider || l.Role == conversation.RoleAssistant && !s.Reads(l.Model) {
		return false
	}
	return len(s.Traits.kept(r)) > 0
}

// CallOf returns the call that a result answers; nil if the unit does not have it. It searches, but is only called if calls or results have
// residue, which is rare.
func (s *UnitWriter) CallOf(ordinal int32) *conversation.Part {
	return s.find(func(p *conversation.Part) bool {
		return p.Kind == conversation.PartToolCall && p.Call.Ordinal == ordinal
	})
}

// ResultOf returns the part with the result of a call.
func (s *UnitWriter) ResultOf(ordinal int32) *conversation.Part {
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
