package histories

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/history"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Place locates a message of the record in a list: the elements that it stands for.
type Place = history.Place

// Places returns where all messages of the record stand in the list: those on record before, and those that are appended from index first
// on.
func (x *Found) Places(first int32) []history.Place {
	out := slices.Clone(x.places)
	for i := range x.rest {
		m := &x.rest[i]
		out = append(out, history.Place{Message: first + int32(i), First: int32(m.First), End: int32(m.End)})
	}
	for i := range out {
		p := &out[i]
		for e := p.First; e < p.End; e++ {
			p.Changed = p.Changed || x.madeUp[e]
		}
	}
	return x.withSilent(out)
}

// Remembered returns where the messages stand in a list that was found before, and how many system messages lead it, as far as that is
// still remembered.
func (f *Finder) Remembered(ctx context.Context, key store.Key, r *Request) (places []history.Place, leading int32, err error) {
	snap, err := f.store.Read(ctx, key, store.Query{Slots: []string{view.HistorySlot}})
	if err != nil {
		return nil, 0, txn.Failure(err)
	}
	marks, err := decodeMarks(snap.Slots[view.HistorySlot])
	if err != nil {
		return nil, 0, txn.Failure(err)
	}
	count, sum := Hash(r.Input.Elements, r.KnownCount, r.KnownSHA256)
	for i := range marks {
		if m := &marks[i]; m.Count == count && m.Hash == txn.KeyedHash(snap.Head.Incarnation, sum) {
			places = unpackPlaces(m.Places, count)
			return places, leadingOf(count, places, m.System || r.Input.Leads), nil
		}
	}
	return nil, 0, nil
}

// Leading returns how many system messages lead the list whose other messages stand at these places.
func (x *Found) Leading(places []history.Place) int32 {
	return leadingOf(x.Count, places, x.leads || x.system || x.LacksSystem)
}

func leadingOf(count int32, places []history.Place, leads bool) int32 {
	switch {
	case !leads:
		return 0
	case len(places) == 0:
		return count
	default:
		return places[0].First
	}
}

// withSilent adds the elements in which the assistant says nothing, such as reasoning alone. Each is added to the message behind it, or
// else to the one before it.
func (x *Found) withSilent(places []history.Place) []history.Place {
	said := make(map[int32]int32, len(places)) // message of each element
	for _, p := range places {
		for e := p.First; e < p.End; e++ {
			said[e] = p.Message
		}
	}
	join := func(silent, beside *provider.InputMessage, element int) {
		_, told := said[int32(silent.First)]
		message, ok := said[int32(element)]
		if told || !ok || silent.Role != conversation.RoleAssistant || beside.Role != conversation.RoleAssistant || history.IsSaid(silent.Parts) {
			return
		}
		for e := silent.First; e < silent.End; e++ {
			said[int32(e)] = message
		}
		places = append(places, history.Place{Message: message, First: int32(silent.First), End: int32(silent.End)})
	}
	list := x.list
	for i := len(list) - 2; i >= 0; i-- {
		join(&list[i], &list[i+1], list[i+1].First)
	}
	for i := 1; i < len(list); i++ {
		join(&list[i], &list[i-1], list[i-1].End-1)
	}
	slices.SortStableFunc(places, func(a, b history.Place) int { return int(a.First - b.First) })
	return places
}

// Flags that are stored in a run's size.
const (
	runChanged = 1 << iota
	runRenamed
	runJumps // the numbers of a message and an element follow, as differences from the expected ones
	runSize
)

// packPlaces encodes places as numbers: runs of neighbors with the same size.
func packPlaces(places []history.Place) []int32 {
	var out []int32
	var message, element int32 // the numbers that a run without a jump has
	for i := 0; i < len(places); {
		p, n := places[i], 1
		for i+n < len(places) && places[i+n] == shifted(p, int32(n)) {
			n++
		}
		size := (p.End - p.First) * runSize
		if p.Changed {
			size |= runChanged
		}
		if p.Renamed {
			size |= runRenamed
		}
		if p.Message != message || p.First != element {
			out = append(out, int32(n), size|runJumps, zigzag(p.Message-message), zigzag(p.First-element))
		} else {
			out = append(out, int32(n), size)
		}
		message, element = p.Message+int32(n), p.First+int32(n)*(p.End-p.First)
		i += n
	}
	return out
}

// shifted returns the place of the n-th message after the message at p, if all have the same size.
func shifted(p history.Place, n int32) history.Place {
	size := p.End - p.First
	p.Message, p.First, p.End = p.Message+n, p.First+n*size, p.End+n*size
	return p
}

// unpackPlaces decodes what packPlaces encoded. It stops at incomplete data.
func unpackPlaces(packed []int32, elements int32) []history.Place {
	var out []history.Place
	var message, element int32
	for len(packed) >= 2 {
		n, flags, size := packed[0], packed[1], packed[1]/runSize
		if packed = packed[2:]; flags&runJumps != 0 {
			if len(packed) < 2 {
				return out
			}
			message, element, packed = message+unzigzag(packed[0]), element+unzigzag(packed[1]), packed[2:]
		}
		if n < 1 || size < 1 || element < 0 || message < 0 || int64(element)+int64(n)*int64(size) > int64(elements) {
			return out
		}
		p := history.Place{Message: message, First: element, End: element + size, Changed: flags&runChanged != 0, Renamed: flags&runRenamed != 0}
		for i := range n {
			out = append(out, shifted(p, i))
		}
		message, element = message+n, element+n*size
	}
	return out
}

func zigzag(n int32) int32 {
	if n < 0 {
		return -2*n - 1
	}
	return 2 * n
}

func unzigzag(n int32) int32 {
	if n%2 != 0 {
		return -(n + 1) / 2
	}
	return n / 2
}
