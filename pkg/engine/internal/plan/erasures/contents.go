package erasures

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// Complete erases what goes with what was erased: contents that were cited, and facts of summaries. It makes the edits that say so.
func (x *Erasures) Complete(addEdit func(conversation.Edit)) error {
	if err := x.expireContents(addEdit); err != nil {
		return err
	}
	return x.eraseFacts()
}

// expireContents notes, of contents that a build erases with their messages, that they are gone.
func (x *Erasures) expireContents(addEdit func(conversation.Edit)) error {
	if len(x.Contents) == 0 {
		return nil
	}
	names := make([]string, 0, len(x.Contents))
	for _, handle := range x.Contents {
		if n, ok := contents.NumberOf(handle); ok {
			names = append(names, contents.SourceSlot(n))
		}
	}
	for _, c := range x.shared {
		names = append(names, contents.SharedSlot(c.SHA256))
	}
	read, err := x.loaded.Extras.Slots(names...)
	if err != nil {
		return err
	}
	x.contentSlots = contents.NewSlotChanges(read)
	for _, handle := range x.Contents {
		if err := x.expireOne(handle, addEdit); err != nil {
			return err
		}
	}
	return x.keepShared()
}

// keepShared counts for each content that goes one less that has its chunks, and keeps those that some still have.
func (x *Erasures) keepShared() error {
	kept := map[conversation.ID]bool{}
	for _, c := range x.shared {
		free, err := x.contentSlots.Release(c.SHA256, c.ID)
		if err != nil {
			return err
		}
		kept[c.ID] = !free // the last of several of one build decides
	}
	x.release = slices.DeleteFunc(x.release, func(id conversation.ID) bool { return kept[id] })
	return nil
}

// expireOne notes of one content that it is gone. Its hash goes too: it would tell who guesses what it was.
func (x *Erasures) expireOne(handle string, addEdit func(conversation.Edit)) error {
	n, _ := contents.NumberOf(handle)
	value := x.contentSlots.Get(contents.SourceSlot(n))
	if value == nil {
		return nil
	}
	r, err := contents.ParseRecord(value)
	if err != nil || r.Expired || r.Handle != handle {
		return err
	}
	addEdit(conversation.Edit{
		Kind: conversation.EditExpireContent, Range: conversation.Range{First: r.Message, End: r.Message + 1},
		Reason: conversation.ReasonExpired, Content: handle, Erases: true,
	})
	r.Expired, r.SHA256 = true, nil
	return x.contentSlots.Set(contents.SourceSlot(n), r.Encode())
}
