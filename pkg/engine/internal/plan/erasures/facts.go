package erasures

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// FactsLeft are the facts of a summary over a range without those that only messages mentioned which this build erases: what was
// erased must not live on in the summary that takes this one up.
func (x *Erasures) FactsLeft(r conversation.Range, known []conversation.Fact) ([]conversation.Fact, error) {
	for _, index := range slices.Sorted(maps.Keys(x.Messages)) {
		if !r.Contains(index) {
			continue
		}
		m := x.Messages[index]
		parts, err := x.loaded.Extras.Inline(x.remainingParts(m))
		if err := view.IgnoreMissing(err); err != nil {
			return nil, err
		}
		standing := compaction.Facts([]conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: parts}}}})
		known = compaction.ForgetFacts(known, index, standing)
	}
	return known, x.loaded.Extras.Incomplete()
}

// remainingParts are the parts of a message that this build rewrites as the view knows them: without what it erases, and corrected.
func (x *Erasures) remainingParts(rewritten *conversation.Message) []conversation.Part {
	m, ok := x.loaded.Message(rewritten.Index)
	if !ok {
		return rewritten.Parts
	}
	parts := slices.Clone(m.Parts)
	for i := range parts {
		if conversation.Erased(rewritten.Parts[i : i+1]) {
			parts[i] = rewritten.Parts[i]
		}
	}
	return parts
}

// eraseFacts takes from the summaries that stand for what is erased the facts that go with it.
func (x *Erasures) eraseFacts() error {
	for _, seq := range slices.Sorted(maps.Keys(x.edits)) {
		if e := x.edits[seq]; e.Summary != nil {
			if err := view.IgnoreMissing(x.eraseFactsOf(e)); err != nil {
				return err
			}
		}
	}
	return x.loaded.Extras.Incomplete()
}

func (x *Erasures) eraseFactsOf(e *conversation.Edit) error {
	k, err := x.loaded.Extras.Facts(e.Summary)
	if err != nil || len(k.Facts) == 0 {
		return err
	}
	if k.Facts, err = x.FactsLeft(e.Range, k.Facts); err != nil {
		return err
	}
	if old := e.Summary.Facts.Ref; old != nil {
		x.release = append(x.release, old.ID)
	}
	s := *e.Summary
	s.Facts = conversation.Content{Inline: string(record.EncodeFacts(&k))}
	e.Summary = &s
	return nil
}

// AsCommitted is an edit as it is once this build is committed, as far as it is known.
func (x *Erasures) AsCommitted(e *conversation.Edit) *conversation.Edit {
	if rewritten := x.edits[e.Seq]; rewritten != nil {
		return rewritten
	}
	return e
}
