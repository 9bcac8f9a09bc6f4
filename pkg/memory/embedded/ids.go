package embedded

import (
	"cmp"
	"encoding/base32"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// tagSize is how many characters of an id say which scope's it is: an id of another scope leads nowhere.
const tagSize = 6

// tagOf is how the ids of a scope begin.
func tagOf(s memory.Scope) string {
	key := Partition(s)
	return strings.ToLower(base32.HexEncoding.EncodeToString([]byte(memory.Digest(key.Namespace + "\x00" + key.Conversation))))[:tagSize]
}

// place is where an entry is listed, and what its id says.
type place struct {
	kind   entryKind
	number int64 // of the note, the fact or the conversation
	index  int64 // of a message
}

func (e *entry) place() place {
	if e.more != nil {
		return place{kind: e.kind, number: e.more.number}
	}
	return place{kind: e.kind, number: e.talk.number, index: int64(e.index)}
}

// compare orders places: notes, facts, messages; the newest first.
func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(o.kind, p.kind), cmp.Compare(o.number, p.number), cmp.Compare(o.index, p.index))
}

// id is what a memory is called: its scope's tag, a letter for its kind, and numbers that the scope gives once.
func (p place) id(tag string) string {
	number := strconv.FormatInt(p.number, 10)
	switch p.kind {
	case noteEntry:
		return tag + "a" + number
	case factEntry:
		return tag + "f" + number
	default:
		return tag + "s" + number + "-" + strconv.FormatInt(p.index, 10)
	}
}

func (e *entry) id(tag string) string { return e.place().id(tag) }

// parseID reads an id of a scope.
func parseID(id, tag string) (p place, ok bool) {
	rest, ok := strings.CutPrefix(id, tag)
	if !ok || rest == "" {
		return p, false
	}
	switch rest[0] {
	case 'a':
		p.kind = noteEntry
	case 'f':
		p.kind = factEntry
	case 's':
		p.kind = saidEntry
	default:
		return p, false
	}
	number, index, has := strings.Cut(rest[1:], "-")
	if has != (p.kind == saidEntry) {
		return p, false
	}
	var err error
	if p.number, err = strconv.ParseInt(number, 10, 64); err != nil || p.number < 0 {
		return p, false
	}
	if has {
		if p.index, err = strconv.ParseInt(index, 10, 32); err != nil || p.index < 0 {
			return p, false
		}
	}
	return p, true
}
