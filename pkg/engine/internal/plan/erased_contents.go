package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// expireErased notes, of contents that a build erases with their messages, that they are gone.
func (d *Attempt) expireErased() error {
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
	for _, c := range d.Erased.shared {
		free, err := d.contentSlots.Release(c.SHA256, c.ID)
		if err != nil {
			return err
		}
		if !free {
			d.Erased.release = slices.DeleteFunc(d.Erased.release, func(id conversation.ID) bool { return id == c.ID })
		}
	}
	return nil
}

// expireOne notes of one content that it is gone. Its hash goes too: it would tell who guesses what it was.
func (d *Attempt) expireOne(handle string) error {
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
