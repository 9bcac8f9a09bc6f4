package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

func usageSlot(model string) string { return slotPrefix + "usage/" + model }

// calibration is what reports have taught about a model in this conversation.
func (w *window) calibration(model string, profile conversation.ModelProfile) (tokens.Calibration, error) {
	var c tokens.Calibration
	if value, ok := w.slots[usageSlot(model)]; ok {
		stored, err := record.DecodeCalibration(value)
		if err != nil {
			return c, conversation.Errorf(conversation.CorruptRecord, "a stored calibration is damaged").Because(err)
		}
		return tokens.Calibration(stored), nil
	}
	if profile.Factor != nil {
		c.Prior = *profile.Factor
	}
	return c, nil
}

// factor is what counts are multiplied by for a model (behaviour §12).
func (w *window) factor(model string, profile conversation.ModelProfile) (float64, error) {
	c, err := w.calibration(model, profile)
	return c.Factor(), err
}

// observe learns from what the provider reported for a build. It is false if the report says nothing or the build had one.
func (w *window) observe(m *conversation.Manifest, model string, u Usage, profile conversation.ModelProfile) (bool, error) {
	if m.UsageReported || u.Context() == 0 {
		return false, nil
	}
	c, err := w.calibration(model, profile)
	if err != nil {
		return false, err
	}
	learned, name := record.Calibration(c.Observe(int(m.FixedTokens+m.Tokens), int(u.Context()))), usageSlot(model)
	w.setSlot(name, record.EncodeCalibration(&learned, w.slots[name]))
	m.UsageReported = true
	return true, w.report(m, model, u)
}

// setSlot changes a slot in the window; the commit that follows makes it stand.
func (w *window) setSlot(name string, value []byte) {
	slots := make(map[string][]byte, len(w.slots)+1)
	for n, v := range w.slots {
		slots[n] = v
	}
	slots[name] = value
	w.slots = slots
}

// ReportUsage tells what the provider counted for a build. An empty model is the build's. It returns the factor in force, and
// whether the report counts: at most one does for a build.
func (e *Engine) ReportUsage(ctx context.Context, key Key, manifest int64, model string, u Usage) (factor float64, counted bool, err error) {
	err = e.change(ctx, key, func() error {
		w, _, err := e.open(ctx, key, Request{})
		if err != nil {
			return err
		}
		m, err := e.manifest(ctx, w, manifest)
		if err != nil {
			return err
		}
		if model == "" {
			model = m.Model
		}
		factor, counted, err = e.reportUsage(ctx, w, m, model, u)
		if err == nil {
			e.giveBack(w)
		}
		return err
	})
	return factor, counted, err
}

func (e *Engine) reportUsage(ctx context.Context, w *window, m *conversation.Manifest, model string, u Usage) (float64, bool, error) {
	profile, err := e.profile(ctx, w.key.Namespace, model)
	if err != nil {
		return 0, false, err
	}
	counted, err := w.observe(m, model, u, profile)
	if err != nil {
		return 0, false, err
	}
	factor, err := w.factor(model, profile)
	if err != nil || !counted {
		return factor, false, err
	}
	c := &store.Change{
		Expect: w.head.Version, Head: next(w.head, e.now()), ReplaceManifests: []conversation.Manifest{*m},
		Slots: map[string][]byte{usageSlot(model): w.slots[usageSlot(model)], usedSlot: w.slots[usedSlot]},
	}
	c.Head.Revision++
	if err := e.store.Commit(ctx, w.key, c); err != nil {
		return 0, false, err
	}
	w.committed(c, w.view)
	return factor, true, nil
}
