package view

import (
	"bytes"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Shown is a run of adjacent blocks in a view that come from one message, from one summary, or from neither.
type Shown struct {
	Message int32 // -1 for none
	Summary int64 // 0 for none
	Unit    int   // index of the message's unit
	// Whole is set if the message is shown as it was appended. Renamed is set if calls of it have other ids.
	Whole   bool
	Renamed bool
	Blocks  []provider.Block
}

// Shown says, for what is shown behind a separate system prompt, how it relates to the record.
func (c *Composer) Shown(out *Composition) ([]Shown, error) {
	messages, err := c.shownMessages(out)
	if err != nil {
		return nil, err
	}
	var shown []Shown
	for i := range out.Blocks {
		b := &out.Blocks[i]
		if b.System {
			continue
		}
		if n := len(shown); n > 0 && shown[n-1].Message == b.Index && shown[n-1].Summary == b.Summary && b.Index >= 0 {
			shown[n-1].Blocks = append(shown[n-1].Blocks, *b)
			continue
		}
		s := Shown{Message: b.Index}
		if m := messages[b.Index]; m != nil {
			s = *m
		}
		s.Summary, s.Blocks = b.Summary, []provider.Block{*b}
		shown = append(shown, s)
	}
	return shown, nil
}

// shownMessages says for each message of a view how it is shown, without its blocks.
func (c *Composer) shownMessages(out *Composition) (map[int32]*Shown, error) {
	messages, left := map[int32]*Shown{}, map[int32]int{} // left: number of parts that are not shown
	for i := range out.Units {
		u := &out.Units[i]
		if u.Summary != nil {
			continue
		}
		changed, err := c.isChangedAround(out, i)
		if err != nil {
			return nil, err
		}
		for j := range u.Items {
			it := &u.Items[j]
			m := out.Original(it.Message)
			s := messages[m.Index]
			if s == nil {
				s = &Shown{Message: m.Index, Unit: i, Whole: true, Renamed: hasRenamed(m)}
				messages[m.Index], left[m.Index] = s, len(m.Parts)
			}
			left[m.Index] -= len(it.Parts)
			s.Whole = s.Whole && !changed && isWhole(it)
		}
	}
	for index, s := range messages {
		s.Whole = s.Whole && left[index] == 0
	}
	for _, r := range out.Repairs {
		if s := messages[r.Index]; s != nil && r.Reason == conversation.ReasonResultLate {
			s.Whole = false
		}
	}
	return messages, nil
}

// isChangedAround reports whether a unit is cut, or is written differently because the message before it is not shown.
func (c *Composer) isChangedAround(out *Composition, i int) (bool, error) {
	u := &out.Units[i]
	if u.First() < out.Window.Start && !CutOf(&out.Window, u).Leaves() {
		return true, nil
	}
	if !out.isSevered(i) {
		return false, nil
	}
	unit, err := c.inlineUnit(u)
	if err != nil {
		return false, err
	}
	uc := provider.UnitContext{Model: c.Model, Count: c.count}
	whole := c.Format.Unit(unit, uc)
	uc.Severed = true
	severed := c.Format.Unit(unit, uc)
	return !slices.EqualFunc(whole.Blocks, severed.Blocks, func(a, b provider.Block) bool { return bytes.Equal(a.JSON, b.JSON) }), nil
}

// isWhole reports whether an item shows its parts as they were appended.
func isWhole(it *conversation.Item) bool {
	return it.Level == conversation.Full && it.Correction == 0 && it.Masked == 0 && it.Unseen == 0 && it.RecalledTokens() == 0 &&
		!conversation.Erased(it.Message.Parts)
}

// hasRenamed reports whether calls of a message are sent with ids other than the ones they came with.
func hasRenamed(m *conversation.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Call != nil && !p.Call.Unique })
}
