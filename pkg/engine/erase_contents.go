package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// expireErased notes, of contents that a build erases with their messages, that they are gone.
func (d *deciding) expireErased() error {
	if len(d.gone) == 0 {
		return nil
	}
	names := make([]string, 0, len(d.gone))
	for _, handle := range d.gone {
		if n, ok := contents.NumberOf(handle); ok {
			names = append(names, contents.SourceSlot(n))
		}
	}
	for _, c := range d.erased.shared {
		names = append(names, contents.SharedSlot(c.SHA256))
	}
	read, err := d.Loaded.ExtraSlots(names...)
	if err != nil {
		return err
	}
	d.contents = contents.NewSlotChanges(read)
	for _, handle := range d.gone {
		if err := d.expireOne(handle); err != nil {
			return err
		}
	}
	for _, c := range d.erased.shared {
		free, err := d.contents.Release(c.SHA256, c.ID)
		if err != nil {
			return err
		}
		if !free {
			d.erased.release = slices.DeleteFunc(d.erased.release, func(id conversation.ID) bool { return id == c.ID })
		}
	}
	return nil
}

// expireOne notes of one content that it is gone. Its hash goes too: it would tell who guesses what it was.
func (d *deciding) expireOne(handle string) error {
	n, _ := contents.NumberOf(handle)
	value := d.contents.Get(contents.SourceSlot(n))
	if value == nil {
		return nil
	}
	r, err := contents.ParseRecord(value)
	if err != nil || r.Expired || r.Handle != handle {
		return err
	}
	d.add(conversation.Edit{
		Kind: conversation.EditExpireContent, Range: conversation.Range{First: r.Message, End: r.Message + 1},
		Reason: conversation.ReasonExpired, Content: handle, Erases: true,
	})
	r.Expired, r.SHA256 = true, nil
	return d.contents.Set(contents.SourceSlot(n), r.Encode())
}
