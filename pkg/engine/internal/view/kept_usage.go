package view

import (
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// KeptUsageSlot holds the usage that a provider reported with an appended answer. The next build counts it unless its request has a
// report.
const KeptUsageSlot = BuildSlots + "reported"

// KeepUsage returns the slot's value for a build. Cached tokens are added to the input.
func KeepUsage(manifest int64, u provider.Usage) []byte {
	return record.EncodeUsageReport(&record.UsageReport{
		Manifest: manifest, Context: u.Context(), Output: int64(u.Output), Thought: int64(u.Reasoning),
	})
}

// KeptUsage returns the kept report and the build that it is for; 0 if there is none.
func (s Slots) KeptUsage() (manifest int64, u provider.Usage, err error) {
	r, err := ReadSlot(s[KeptUsageSlot], record.DecodeUsageReport, "the stored usage is damaged")
	if err != nil {
		return 0, u, err
	}
	return r.Manifest, provider.Usage{Input: clamp(r.Context), Output: clamp(r.Output), Reasoning: clamp(r.Thought)}, nil
}

// DropKeptUsage adds to a build's change that the kept report is deleted.
func (s Slots) DropKeptUsage(c *store.Change) {
	if _, ok := s[KeptUsageSlot]; ok {
		c.Slots[KeptUsageSlot] = nil
	}
}

func clamp(n int64) int32 { return int32(min(n, MaxIndex)) }
