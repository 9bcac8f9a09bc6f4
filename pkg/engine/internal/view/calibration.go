package view

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// UsageSlot returns the name of the slot that holds a model's calibration.
func UsageSlot(model string) string { return BuildSlots + "usage/" + model }

// calibration is what usage reports taught about a model in this conversation.
func (s Slots) calibration(model string, profile conversation.ModelProfile) (tokens.Calibration, error) {
	value, ok := s[UsageSlot(model)]
	stored, err := ReadSlot(value, record.DecodeCalibration, "a stored calibration is damaged")
	c := tokens.Calibration(stored)
	if !ok && profile.Factor != nil {
		c.Prior = *profile.Factor
	}
	return c, err
}

// Factor is the factor by which counts are multiplied for a model (behaviour §12).
func (s Slots) Factor(model string, profile conversation.ModelProfile) (float64, error) {
	c, err := s.calibration(model, profile)
	return c.Factor(), err
}

// ObserveUsage updates the calibration with what the provider reported for a build. It returns false if the report is empty or
// the build already had one.
func (w *Loaded) ObserveUsage(m *conversation.Manifest, model string, u provider.Usage, profile conversation.ModelProfile) (bool, error) {
	if m.UsageReported || u.Context() == 0 {
		return false, nil
	}
	c, err := w.Slots.calibration(model, profile)
	if err != nil {
		return false, err
	}
	learned, name := record.Calibration(c.Observe(int(m.FixedTokens+m.Tokens), int(u.Context()))), UsageSlot(model)
	w.Slots = w.Slots.with(name, record.EncodeCalibration(&learned, w.Slots[name]))
	m.UsageReported = true
	w.Slots, err = w.Slots.withUsage(m, model, u)
	return true, err
}

// UsedSlot holds the last usage report.
const UsedSlot = BuildSlots + "used"

// withUsage returns the slots with a report as the last one, unless a later build has a report.
func (s Slots) withUsage(m *conversation.Manifest, model string, u provider.Usage) (Slots, error) {
	last, _, err := s.LastUsage()
	if err != nil || last.Manifest > m.Seq {
		return s, err
	}
	return s.with(UsedSlot, record.EncodeUsageReport(&record.UsageReport{
		Manifest: m.Seq, Model: model, Messages: m.MessageCount, Counted: m.FixedTokens + m.Tokens,
		Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	})), nil
}

// LastUsage returns the last usage report; ok is false if there is none.
func (s Slots) LastUsage() (r record.UsageReport, ok bool, err error) {
	value, ok := s[UsedSlot]
	r, err = ReadSlot(value, record.DecodeUsageReport, "the stored usage is damaged")
	return r, ok && err == nil, err
}
