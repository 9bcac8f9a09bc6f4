package expiry

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// MessageText stands for a message's text and media together, where a part is expected.
const MessageText int32 = -1

// Kind is what happens to something that is due.
type Kind int8

// The kinds.
const (
	// Compact shortens a tool result, or a message's words.
	Compact Kind = iota + 1
	// Clear puts a placeholder in the place of a tool result, or of a message's words, in a unit that stays.
	Clear
	// Remove takes a whole unit out of the view.
	Remove
)

// Due is something whose time is over.
type Due struct {
	Kind       Kind
	Unit       *conversation.Unit
	Index      int32 // the message; of Remove, the unit's first
	Part       int32 // the tool result's position, or Words
	Expiration conversation.Expiration
	Since      int32 // the first turn that it was due in
	// Fresh is set for Remove: which messages expire by it; the others had nothing to expire, or have expired before.
	Fresh map[int32]bool
	// Erase lists what is erased with it.
	Erase []Place
}

// Message returns the message that is due; for Remove, the unit's first.
func (d *Due) Message() *conversation.Message {
	for i := range d.Unit.Items {
		if m := d.Unit.Items[i].Message; m.Index == d.Index {
			return m
		}
	}
	return nil
}

// Place is a tool result, or the words, of a message.
type Place struct{ Index, Part int32 }

// Input is the input of Plan.
type Input struct {
	Turn  int32
	Units []conversation.Unit // none that never expires: neither the newest, nor leading system messages, nor pinned ones
	View  *conversation.View
	// Policy is for results for which nothing else sets an expiration, and fills in what is left open; Override takes precedence over
	// everything.
	Policy   conversation.Expiration
	Override *conversation.ExpirationOverride
	// KeepUnits keeps units: it is for messages outside the view, of whose units the rest is unknown.
	KeepUnits bool
	// OnlyErasures limits the plan to what is erased.
	OnlyErasures bool
}

// Plan returns what of the units is due at the build of a turn and has not expired yet, in order.
func Plan(in Input) []Due {
	var out []Due
	for i := range in.Units {
		if u := &in.Units[i]; in.mayExpire(u) {
			out = append(out, in.unitDue(u)...)
		}
	}
	return out
}

// mayExpire reports whether anything in a unit may expire. Most units of most views never do, so they are skipped at once.
func (in *Input) mayExpire(u *conversation.Unit) bool {
	switch {
	case in.Override != nil && in.Override.Disable:
		return false
	case in.Policy.Turns != nil || in.Override != nil:
		return u.Summary == nil
	}
	for i := range u.Items {
		m := u.Items[i].Message
		if m.Expiration != nil {
			return true
		}
		for p := range m.Parts {
			if r := m.Parts[p].Result; r != nil && r.Expiration != nil {
				return true
			}
		}
	}
	return false
}

// unitDue returns what of a unit is due: the whole unit if all of it is removed, else each candidate by itself.
func (in *Input) unitDue(u *conversation.Unit) []Due {
	things := in.candidates(u)
	if len(things) == 0 || IsEmptied(u) && !in.KeepUnits {
		return nil
	}
	if whole, ok := unitRemoval(u, things); ok && !in.KeepUnits {
		return []Due{whole}
	}
	var out []Due
	for i := range things {
		if t := &things[i]; t.due && !t.done && !t.waitsForUnit() {
			out = append(out, t.Due)
		}
	}
	return out
}

// candidate is something in a unit that expires by itself: a tool result, or the words of a message.
type candidate struct {
	Due
	expires bool
	due     bool
	done    bool // it has expired before, at the level that it would get now or above
}

func (in *Input) candidates(u *conversation.Unit) []candidate {
	var out []candidate
	for i := range u.Items {
		m := u.Items[i].Message
		if positions := TextParts(m); len(positions) > 0 && u.Items[i].Holds(positions[0]) {
			out = append(out, in.candidate(u, m, MessageText, positions[0], m.Expiration))
		}
		for p := range m.Parts {
			if m.Parts[p].Kind == conversation.PartToolResult && u.Items[i].Holds(int32(p)) {
				out = append(out, in.candidate(u, m, int32(p), int32(p), m.Parts[p].Result.Expiration))
			}
		}
	}
	return out
}

func (in *Input) candidate(u *conversation.Unit, m *conversation.Message, part, at int32, stored *conversation.Expiration) candidate {
	t := candidate{Due: Due{Unit: u, Index: m.Index, Part: part, Expiration: in.inForce(m, part, stored)}}
	_, expanded, back := in.View.Restored(m.Index)
	t.Since, t.expires = dueTurn(&t.Expiration, max(m.TurnAdded, expanded))
	if back { // with 0 turns too it is shown once: the turn after the one it was expanded in is the first that shows it
		t.Since = max(t.Since, expanded+2)
	}
	t.due = t.expires && in.Turn >= t.Since
	if t.Expiration.Erases() && !t.isEmpty() {
		t.Erase = []Place{{m.Index, part}}
	} else if in.OnlyErasures {
		t.expires, t.due = false, false
	}
	t.Kind = Compact
	level := conversation.Shortened
	if t.Expiration.Mode == conversation.ExpirationRemove {
		t.Kind, level = Clear, conversation.Cleared
	}
	shown, reason := in.View.Part(m.Index, at)
	t.done = shown > level || shown == level && reason.Expired()
	if len(t.Erase) > 0 {
		t.done = t.isErased()
	}
	return t
}

// contents returns the contents of a candidate.
func (t *candidate) contents() []*conversation.Content {
	m, positions := t.Message(), t.Positions()
	out := make([]*conversation.Content, 0, len(positions))
	for _, p := range positions {
		out = append(out, conversation.Contents(m.Parts[p:p+1])...)
	}
	return out
}

// isEmpty reports whether there is nothing to erase: no text, or only media stored elsewhere.
func (t *candidate) isEmpty() bool {
	return !slices.ContainsFunc(t.contents(), func(c *conversation.Content) bool { return c.Bytes() > 0 })
}

func (t *candidate) isErased() bool {
	return slices.ContainsFunc(t.contents(), func(c *conversation.Content) bool { return c.Erased != nil })
}

// inForce returns the expiration of a candidate in this build.
func (in *Input) inForce(m *conversation.Message, part int32, stored *conversation.Expiration) conversation.Expiration {
	if !PolicyApplies(m, part) {
		return InForce(stored, conversation.Expiration{})
	}
	e := InForce(stored, policyFor(importanceOf(m, part), in.Policy))
	if in.Override != nil {
		set := in.Override.Expiration
		set.Source = conversation.SourceOverride
		e = set.Or(e)
	}
	return e
}

// PolicyApplies reports whether the conversation's policy, and overrides of builds, apply to a tool result or the words of a message.
func PolicyApplies(m *conversation.Message, part int32) bool {
	return part != MessageText || m.Type == conversation.TypeActionResult || m.Type == conversation.TypeSubAgentResult
}

// dueTurn returns the first turn in which something is due: when its age, counted from the turn it was added or expanded in, exceeds its
// turns. False if it never is.
func dueTurn(e *conversation.Expiration, from int32) (int32, bool) {
	if !e.Expires() {
		return 0, false
	}
	turn := int64(from) + int64(*e.Turns) + 1
	if turn > int64(maxTurn) {
		return 0, false
	}
	return int32(turn), true
}

const maxTurn = 1<<31 - 1

// unitRemoval reports whether a whole unit is removed: when everything in it that can expire is due to be removed. The rest, such as a
// message that only calls tools, goes with it.
func unitRemoval(u *conversation.Unit, things []candidate) (Due, bool) {
	out := Due{Kind: Remove, Unit: u, Index: u.First(), Part: MessageText, Fresh: map[int32]bool{}}
	for i := range things {
		t := &things[i]
		if !t.due || t.Expiration.Mode != conversation.ExpirationRemove {
			return out, false
		}
		if t.Since >= out.Since {
			out.Since, out.Expiration = t.Since, t.Expiration
		}
		if !t.done {
			out.Fresh[t.Index] = true
		}
		out.Erase = append(out.Erase, t.Erase...)
	}
	return out, true
}

// IsEmptied reports whether all that is still shown of a unit are additions with a KEEP_LAST retention, so that the rest of it has left.
func IsEmptied(u *conversation.Unit) bool {
	for i := range u.Items {
		it := &u.Items[i]
		for j := range it.Parts {
			if at := it.Position(j); at >= 0 && it.Message.Parts[at].Retention.Kind != conversation.RetentionKeepLast {
				return false
			}
		}
	}
	return true
}

// waitsForUnit reports whether a candidate stays until its unit leaves, as the words of a message do unless they are erased.
func (t *candidate) waitsForUnit() bool {
	return t.Kind == Clear && t.Part == MessageText && len(t.Erase) == 0
}

// TextParts returns the parts of a message that expire together as its words: text that is not blank, and media, unless a plugin gave them a
// retention of their own.
func TextParts(m *conversation.Message) []int32 {
	var out []int32
	for i := range m.Parts {
		p := &m.Parts[i]
		words := p.Kind == conversation.PartMedia || p.Kind == conversation.PartText && !isBlank(p.Text)
		if words && p.Retention.Kind != conversation.RetentionKeepLast && p.Variant != conversation.DisplayOnly {
			out = append(out, int32(i))
		}
	}
	return out
}

func isBlank(c conversation.Content) bool {
	return c.Ref == nil && c.Erased == nil && strings.TrimSpace(c.Inline) == ""
}

// Upcoming returns what of the units will fall due in a later turn.
func Upcoming(in Input) []Due {
	var out []Due
	for i := range in.Units {
		u := &in.Units[i]
		if !in.mayExpire(u) {
			continue
		}
		for _, t := range in.candidates(u) {
			if t.expires && !t.due && !t.done {
				out = append(out, t.Due)
			}
		}
	}
	return out
}

// EraseTurn returns the first turn in which something of a message may have to be erased; false if there is none. If the turns or the mode
// are not set, the conversation's policy may set them at any later build.
func EraseTurn(m *conversation.Message, part int32, stored *conversation.Expiration) (turn int32, ok bool) {
	if stored == nil {
		return 0, false
	}
	e := *stored
	if PolicyApplies(m, part) {
		e = e.Or(conversation.Expiration{Turns: new(int32), Mode: conversation.ExpirationRemove})
	}
	if !e.Erases() {
		return 0, false
	}
	return dueTurn(&e, m.TurnAdded)
}

// MayErase reports whether something of a message may have to be erased in a turn that the conversation's policy has not set yet.
func MayErase(m *conversation.Message) bool {
	in := Input{View: &conversation.View{}, Policy: conversation.Expiration{Turns: new(int32), Mode: conversation.ExpirationRemove}}
	u := conversation.Unit{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}
	return slices.ContainsFunc(in.candidates(&u), func(t candidate) bool {
		return len(t.Erase) > 0 && !t.done && !t.storedExpiration().Whole()
	})
}

// storedExpiration returns the expiration that append stored.
func (t *candidate) storedExpiration() *conversation.Expiration {
	m := t.Message()
	if t.Part == MessageText {
		return m.Expiration
	}
	return m.Parts[t.Part].Result.Expiration
}
