package view

import (
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// UsageSlot returns the name of the slot that holds a model's calibration.
func UsageSlot(model string) string { return BuildSlots + "usage/" + model }

// calibration is what usage reports taught about a model in this conversation.
func (w *Loaded) calibration(model string, profile conversation.ModelProfile) (tokens.Calibration, error) {
	value, ok := w.Slots[UsageSlot(model)]
	stored, err := ReadSlot(value, record.DecodeCalibration, "a stored calibration is damaged")
	c := tokens.Calibration(stored)
	if !ok && profile.Factor != nil {
		c.Prior = *profile.Factor
	}
	return c, err
}

// Factor is the factor by which counts are multiplied for a model (behaviour §12).
func (w *Loaded) Factor(model string, profile conversation.ModelProfile) (float64, error) {
	c, err := w.calibration(model, profile)
	return c.Factor(), err
}

// ObserveUsage updates the calibration with what the provider reported for a build. It returns false if the report is empty or
// the build already had one.
func (w *Loaded) ObserveUsage(m *conversation.Manifest, model string, u provider.Usage, profile conversation.ModelProfile) (bool, error) {
	if m.UsageReported || u.Context() == 0 {
		return false, nil
	}
	c, err := w.calibration(model, profile)
	if err != nil {
		return false, err
	}
	learned, name := record.Calibration(c.Observe(int(m.FixedTokens+m.Tokens), int(u.Context()))), UsageSlot(model)
	w.setSlot(name, record.EncodeCalibration(&learned, w.Slots[name]))
	m.UsageReported = true
	return true, w.noteUsage(m, model, u)
}

// setSlot changes a slot in the window. The commit that follows stores it.
func (w *Loaded) setSlot(name string, value []byte) {
	slots := make(map[string][]byte, len(w.Slots)+1)
	maps.Copy(slots, w.Slots)
	slots[name] = value
	w.Slots = slots
}

// UsedSlot holds the last usage report.
const UsedSlot = BuildSlots + "used"

// noteUsage stores a report as the last one, unless a later build has a report.
func (w *Loaded) noteUsage(m *conversation.Manifest, model string, u provider.Usage) error {
	last, _, err := w.LastUsage()
	if err != nil || last.Manifest > m.Seq {
		return err
	}
	w.setSlot(UsedSlot, record.EncodeUsageReport(&record.UsageReport{
		Manifest: m.Seq, Model: model, Messages: m.MessageCount, Counted: m.FixedTokens + m.Tokens,
		Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	}))
	return nil
}

// LastUsage returns the last usage report; ok is false if there is none.
func (w *Loaded) LastUsage() (r record.UsageReport, ok bool, err error) {
	value, ok := w.Slots[UsedSlot]
	r, err = ReadSlot(value, record.DecodeUsageReport, "the stored usage is damaged")
	return r, ok && err == nil, err
}
