package view

import (
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// KeptUsageSlot holds what a provider reported with an answer that was appended. The next build counts it, unless it brings a report.
const KeptUsageSlot = BuildSlots + "reported"

// KeepUsage is the slot's value for a build. What came from caches is input to whoever counts it.
func KeepUsage(manifest int64, u provider.Usage) []byte {
	return record.EncodeUsageReport(&record.UsageReport{
		Manifest: manifest, Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	})
}

// KeptUsage is the report that is kept, and the build that it is of; 0 for none.
func (w *Loaded) KeptUsage() (manifest int64, u provider.Usage, err error) {
	r, err := ReadSlot(w.Slots[KeptUsageSlot], record.DecodeUsageReport, "the stored usage is damaged")
	if err != nil {
		return 0, u, err
	}
	return r.Manifest, provider.Usage{Input: clamp(r.Context), Output: clamp(r.Output), Reasoning: clamp(r.Thought)}, nil
}

// DropKeptUsage adds to a build's change that the report is kept no more.
func (w *Loaded) DropKeptUsage(c *store.Change) {
	if _, ok := w.Slots[KeptUsageSlot]; ok {
		c.Slots[KeptUsageSlot] = nil
	}
}

func clamp(n int64) int32 { return int32(min(n, MaxIndex)) }
