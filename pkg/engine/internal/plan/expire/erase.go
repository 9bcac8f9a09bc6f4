package expire

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// loadErasures loads the messages of which something is to be erased in this turn, wherever they are, and returns all that is to be erased.
func loadErasures(g *pass.Given) ([]record.Erasure, error) {
	list, err := erasures.ParseDue(g.Loaded.Slots[erasures.DueSlot])
	if err != nil || !g.NewTurn {
		return nil, err
	}
	var ranges []conversation.Range
	for _, x := range list {
		if x.Turn <= g.Turn {
			ranges = append(ranges, conversation.Range{First: x.Index, End: x.Index + 1})
		}
	}
	return list, g.Loaded.Require(ranges...)
}

// eraseOutsideView erases what is due of messages that the view does not show, and takes what is done off the list.
func (d *expiring) eraseOutsideView() error {
	shown := make(map[int32]bool)
	for i := range d.Composed.Units {
		if expiry.IsEmptied(&d.Composed.Units[i]) {
			continue
		}
		for j := range d.Composed.Units[i].Items {
			shown[d.Composed.Units[i].Items[j].Message.Index] = true
		}
	}
	var left []record.Erasure
	for _, x := range d.out.Erasures {
		if x.Turn > d.Given.Turn {
			left = append(left, x)
			continue
		}
		if !shown[x.Index] {
			if err := view.IgnoreMissing(d.eraseUnshown(x.Index)); err != nil {
				return err
			}
		}
		if staysScheduled(d.Given, d.Erased, x.Index) {
			x.Turn = d.Given.Turn + 1
			left = append(left, x)
		}
	}
	d.out.Erasures = left
	return d.Given.Loaded.Extras.Incomplete()
}

// eraseUnshown lets go what is due of a message that the view does not show.
func (d *expiring) eraseUnshown(index int32) error {
	m, ok := d.Given.Loaded.Message(index)
	if !ok || d.Given.Kept.Has(index) {
		return nil
	}
	in := d.expiryInput([]conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}})
	in.KeepUnits = true
	for _, x := range expiry.Plan(in) {
		if !x.Erases() {
			continue
		}
		if err := d.applyExpiration(&x); err != nil {
			return err
		}
	}
	return nil
}

// staysScheduled says whether a message whose turn has come is still to be erased: it is in the newest unit, was expanded, is given
// more time by an override of this build, or waits for the conversation's policy to say when.
func staysScheduled(g *pass.Given, erased *erasures.Erasures, index int32) bool {
	m := erased.Messages[index]
	if m == nil {
		m, _ = g.Loaded.Message(index)
	}
	if m == nil || g.Kept.Has(index) {
		return false
	}
	asAppended := expiry.Input{
		Turn: g.Turn, Units: []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}},
		View: &conversation.View{}, KeepUnits: true, Policy: g.Settings.Policy.Expiration.Results,
	}
	return expiry.MayErase(m) || slices.ContainsFunc(expiry.Plan(asAppended), func(x expiry.Due) bool { return x.Erases() })
}
