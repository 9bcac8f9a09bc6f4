package engine

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

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
		unknown := f == fit{Budget: f.Budget, Start: -1, Anchor: -1}
		if f.Budget <= 0 || !unknown && f.Start < 0 || f.Start > im.head.Messages || f.Anchor < -1 || !unknown && f.Anchor >= f.Start || f.Restored < 0 || f.Restored > im.editSeq {
			return false
		}
	}
	return true
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
