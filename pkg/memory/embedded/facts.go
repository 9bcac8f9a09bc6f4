package embedded

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// maxSources is how many sources a fact keeps: the newest. With the last of them the fact goes.
const maxSources = 32

// maxSpeaker is how much is kept of who says a fact, in code points.
const maxSpeaker = 100

// citing is the fact with other sources.
func (e *entry) citing(sources []source) *entry {
	more := *e.more
	more.sources = sources
	out := *e
	out.more, out.time = &more, 0
	for _, s := range sources {
		out.time = max(out.time, s.time)
	}
	return &out
}

// supersededBy is the fact with the number of what contradicts it; 0 for nothing.
func (e *entry) supersededBy(number int64) *entry {
	more := *e.more
	more.superseded = number
	out := *e
	out.more = &more
	return &out
}

// addFacts adds what was drawn from the messages that this draft adds.
func (d *draft) addFacts(drawn []Extracted) {
	said := d.addedMessages()
	for i := range drawn[:min(len(drawn), maxExtracted*len(said))] {
		if e := d.newFact(&drawn[i], said); e != nil {
			d.settleFact(e)
		}
	}
}

// newFact makes an entry of a fact, nil if no message that is added says it.
func (d *draft) newFact(x *Extracted, said map[int32]*entry) *entry {
	var sources []source
	indices := slices.Compact(slices.Sorted(slices.Values(x.Indices)))
	for _, index := range indices {
		if e := said[index]; e != nil {
			sources = append(sources, source{e.talk, e.index, e.index, e.time})
		}
	}
	text := facts.Clean(x.Text, facts.MaxRule)
	if len(sources) == 0 || len(sources) > maxSources || text == "" {
		return nil
	}
	e := &entry{kind: factEntry, more: &details{text: text, saidBy: facts.Clean(x.SaidBy, maxSpeaker)}}
	return e.citing(sources)
}

// statement is what a fact says.
func (d *draft) statement(e *entry) *statement {
	s := d.stated[e.more.text]
	if s == nil {
		s = newStatement(e.more.text)
		d.stated[e.more.text] = s
	}
	return s
}

// settleFact adds a fact, or its sources to one that says the same, and decides which facts it contradicts.
func (d *draft) settleFact(e *entry) {
	states := d.statement(e)
	all := d.facts()
	for _, known := range all {
		if known.more.saidBy == e.more.saidBy && d.statement(known).words == states.words {
			again := known.citing(mergeSources(known.more.sources, e.more.sources))
			again.more.superseded = 0 // decided anew: it may be the newest again
			d.replace(known, again)
			d.contradict(again, states, d.facts())
			return
		}
	}
	e.more.number, e.line = d.nextNumber(), lineOf(e.more.text, nil)
	d.add(e)
	d.contradict(e, states, all)
}

// contradict lets the newer of a fact and of each that it contradicts supersede the other.
func (d *draft) contradict(e *entry, states *statement, all []*entry) {
	var newer *entry
	for _, known := range all {
		switch {
		case known.more.number == e.more.number, known.more.saidBy != e.more.saidBy, !states.contradicts(d.statement(known)):
		case known.time > e.time:
			if newer == nil || known.time > newer.time {
				newer = known
			}
		case known.more.superseded != e.more.number:
			d.replace(known, known.supersededBy(e.more.number))
		}
	}
	if newer != nil {
		d.replace(e, e.supersededBy(newer.more.number))
	}
}

func mergeSources(known, more []source) []source {
	out := slices.Clone(known)
	for _, s := range more {
		same := func(k source) bool {
			return k.talk.talkKey == s.talk.talkKey && k.first == s.first && k.last == s.last
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b source) int { return cmp.Compare(a.time, b.time) })
	return out[max(0, len(out)-maxSources):]
}
