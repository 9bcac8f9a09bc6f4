package engine

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// maxImportedSlots bounds the calibrations of an import: one a model.
const maxImportedSlots = 256

// checkSlots demands of imported state what builds rely on.
func (im *importing) checkSlots() error {
	if len(im.slots) > maxImportedSlots {
		return invalid("the state has more than %d entries", maxImportedSlots)
	}
	for name, value := range im.slots {
		known := false
		switch {
		case name == fitSlot:
			known = im.fits(value)
		case name == usedSlot:
			known = im.reported(value)
		case strings.HasPrefix(name, usageSlot("")):
			known = calibrates(value)
		case name == eraseSlot:
			known = im.erasures(value)
		case name == askedSlot:
			known = im.asked(value)
		case name == reclaimSlot:
			known = im.reclaims(value)
		}
		if !known {
			return invalid("the state has an entry that is unknown or damaged")
		}
	}
	return nil
}

func (im *importing) fits(value []byte) bool {
	var known fits
	if json.Unmarshal(value, &known) != nil || len(known) > maxFits {
		return false
	}
	for _, f := range known {
		if f.Budget <= 0 || !im.admits(f.window()) && !(f.Start == -1 && f.Request == -1 && f.Restored == 0) {
			return false
		}
	}
	return true
}

// admits says whether a window may be one of this conversation's.
func (im *importing) admits(w conversation.Window) bool {
	cuts := !slices.ContainsFunc(w.Cuts, func(c conversation.Cut) bool {
		return c.Message < 0 || c.Message > im.head.Messages || c.Summary < 0 || min(c.Head, c.From, c.Tail) < 0
	})
	before := func(index int32) bool { return -1 <= index && (index < w.Start || index == 0) }
	return 0 <= w.Start && w.Start <= im.head.Messages && before(w.Request) && before(w.Opening) && cuts &&
		0 <= w.Restored && w.Restored <= im.editSeq && 0 <= w.Afresh && w.Afresh <= im.editSeq
}

func (im *importing) erasures(value []byte) bool {
	list, err := parseErasures(value)
	if err != nil || len(list) > maxErasures {
		return false
	}
	for _, x := range list {
		if x.Index < 0 || x.Index >= im.head.Messages || x.Turn < 0 {
			return false
		}
	}
	return true
}

func (im *importing) asked(value []byte) bool {
	list, err := parseAsked(value)
	return err == nil && len(list) <= maxAsked && !slices.ContainsFunc(list, func(a askedSummary) bool {
		return a.Index < 0 || a.Index >= im.head.Messages || a.Part < expiry.Words || a.Turn < 0
	})
}

func (im *importing) reclaims(value []byte) bool {
	list, err := parseReclaims(value)
	return err == nil && len(list) <= maxErasures && !slices.ContainsFunc(list, func(r reclaim) bool {
		return r.Index < 0 || r.Index >= im.head.Messages || r.Part < 0
	})
}

func (im *importing) reported(value []byte) bool {
	var r reported
	return json.Unmarshal(value, &r) == nil && r.Messages >= 0 && r.Messages <= im.head.Messages &&
		min(r.Manifest, r.Counted, r.Context, r.Output, r.Thought) >= 0 && max(r.Counted, r.Context, r.Output, r.Thought) <= maxReported
}

// maxReported is more tokens than any provider takes.
const maxReported = 1 << 40

func calibrates(value []byte) bool {
	var c tokens.Calibration
	if json.Unmarshal(value, &c) != nil {
		return false
	}
	for _, f := range []float64{c.Prior, c.CountedSum, c.ReportedSum} {
		if f < 0 || f > math.MaxInt32 {
			return false
		}
	}
	return c.Counted >= 0 && c.Reported >= 0
}
