package plan

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// factsLeft are the facts of a summary over a range without those that only messages mentioned which this build erases: what was
// erased must not live on in the summary that takes this one up.
func (d erasing) factsLeft(r conversation.Range, known []conversation.Fact) ([]conversation.Fact, error) {
	for _, index := range slices.Sorted(maps.Keys(d.Erased.Messages)) {
		if !r.Contains(index) {
			continue
		}
		m := d.Erased.Messages[index]
		parts, err := d.Loaded.Inline(d.remainingParts(m))
		if err := d.Loaded.IgnoreMissing(err); err != nil {
			return nil, err
		}
		standing := compaction.Facts([]conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: parts}}}})
		known = compaction.ForgetFacts(known, index, standing)
	}
	return known, d.Loaded.Incomplete()
}

// remainingParts are the parts of a message that this build rewrites as the view knows them: without what it erases, and corrected.
func (d erasing) remainingParts(rewritten *conversation.Message) []conversation.Part {
	m, ok := d.Loaded.Message(rewritten.Index)
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
func (d erasing) eraseFacts() error {
	for _, seq := range slices.Sorted(maps.Keys(d.Erased.edits)) {
		if e := d.Erased.edits[seq]; e.Summary != nil {
			if err := d.Loaded.IgnoreMissing(d.eraseFactsOf(e)); err != nil {
				return err
			}
		}
	}
	return d.Loaded.Incomplete()
}

func (d erasing) eraseFactsOf(e *conversation.Edit) error {
	k, err := d.factsBeside(e.Summary)
	if err != nil || len(k.Facts) == 0 {
		return err
	}
	if k.Facts, err = d.factsLeft(e.Range, k.Facts); err != nil {
		return err
	}
	if old := e.Summary.Facts.Ref; old != nil {
		d.Erased.release = append(d.Erased.release, old.ID)
	}
	s := *e.Summary
	s.Facts = conversation.Content{Inline: string(record.EncodeFacts(&k))}
	e.Summary = &s
	return nil
}

// asCommitted is an edit as it is once this build is committed, as far as it is known.
func (d erasing) asCommitted(e *conversation.Edit) *conversation.Edit {
	if rewritten := d.Erased.edits[e.Seq]; rewritten != nil {
		return rewritten
	}
	return e
}

// factsBeside reads what is stored beside a summary's text.
func (d erasing) factsBeside(s *conversation.Summary) (SummaryFacts, error) {
	var k SummaryFacts
	contents, err := d.Loaded.Texts(s.Facts)
	if err != nil || contents[0] == "" {
		return k, err
	}
	if k, err = record.DecodeFacts([]byte(contents[0])); err != nil {
		return k, conversation.Errorf(conversation.CorruptRecord, "the facts of summary s%d are damaged", s.ID).Because(err)
	}
	return k, nil
}

// expireErased notes, of contents that a build erases with their messages, that they are gone.
func (d erasing) expireErased() error {
	if len(d.ErasedContents) == 0 {
		return nil
	}
	names := make([]string, 0, len(d.ErasedContents))
	for _, handle := range d.ErasedContents {
		if n, ok := contents.NumberOf(handle); ok {
			names = append(names, contents.SourceSlot(n))
		}
	}
	for _, c := range d.Erased.shared {
		names = append(names, contents.SharedSlot(c.SHA256))
	}
	read, err := d.Loaded.ExtraSlots(names...)
	if err != nil {
		return err
	}
	d.contentSlots = contents.NewSlotChanges(read)
	for _, handle := range d.ErasedContents {
		if err := d.expireOne(handle); err != nil {
			return err
		}
	}
	return d.keepShared()
}

// keepShared counts for each content that goes one less that has its chunks, and keeps those that some still have.
func (d erasing) keepShared() error {
	kept := map[conversation.ID]bool{}
	for _, c := range d.Erased.shared {
		free, err := d.contentSlots.Release(c.SHA256, c.ID)
		if err != nil {
			return err
		}
		kept[c.ID] = !free // the last of several of one build decides
	}
	d.Erased.release = slices.DeleteFunc(d.Erased.release, func(id conversation.ID) bool { return kept[id] })
	return nil
}

// expireOne notes of one content that it is gone. Its hash goes too: it would tell who guesses what it was.
func (d erasing) expireOne(handle string) error {
	n, _ := contents.NumberOf(handle)
	value := d.contentSlots.Get(contents.SourceSlot(n))
	if value == nil {
		return nil
	}
	r, err := contents.ParseRecord(value)
	if err != nil || r.Expired || r.Handle != handle {
		return err
	}
	d.addEdit(conversation.Edit{
		Kind: conversation.EditExpireContent, Range: conversation.Range{First: r.Message, End: r.Message + 1},
		Reason: conversation.ReasonExpired, Content: handle, Erases: true,
	})
	r.Expired, r.SHA256 = true, nil
	return d.contentSlots.Set(contents.SourceSlot(n), r.Encode())
}
