package record

import (
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func encode[T any](c *Codec, k kind, v *T, write func([]byte, *T) []byte) []byte {
	return encodeTo(c, nil, k, v, write)
}

func encodeTo[T any](c *Codec, out []byte, k kind, v *T, write func([]byte, *T) []byte) []byte {
	buf := c.borrow()
	defer c.giveBack(buf)
	*buf = write(*buf, v)
	return c.sealTo(out, k, *buf)
}

func decode[T any](c *Codec, k kind, value []byte, read func(*reader, *T)) (T, error) {
	var v T
	payload, own, err := c.open(k, value)
	if err != nil {
		return v, err
	}
	r := reader{}
	if own {
		r.rest = alias(payload)
	} else {
		r.rest = string(payload)
	}
	read(&r, &v)
	if r.bad {
		var none T
		return none, damaged(k, "it is not well formed")
	}
	return v, nil
}

// decodeText is decode into a zero, for a value that does not change: what is read shares it.
func decodeText[T any](c *Codec, k kind, value string, into *T, read func(*reader, *T)) error {
	payload, _, err := c.open(k, unsafe.Slice(unsafe.StringData(value), len(value))) //nolint:gosec // nobody writes to it
	if err != nil {
		return err
	}
	r := reader{rest: alias(payload)}
	if read(&r, into); r.bad {
		return damaged(k, "it is not well formed")
	}
	return nil
}

// alias is bytes as a text, without a copy.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // nobody writes to them any more

// EncodeMessage makes the stored value of a message.
func (c *Codec) EncodeMessage(m *conversation.Message) []byte {
	return encode(c, kindMessage, m, writeMessage)
}

// AppendMessage appends to a buffer what EncodeMessage makes.
func (c *Codec) AppendMessage(out []byte, m *conversation.Message) []byte {
	return encodeTo(c, out, kindMessage, m, writeMessage)
}

// DecodeMessage reads what EncodeMessage made. As with all Decode methods, nothing of value is kept, and all damage is
// store.ErrCorrupt.
func (c *Codec) DecodeMessage(value []byte) (conversation.Message, error) {
	return decode(c, kindMessage, value, readMessage)
}

// DecodeMessageText is DecodeMessage into a zero, for a value that is a string already: the message shares it.
func (c *Codec) DecodeMessageText(value string, into *conversation.Message) error {
	return decodeText(c, kindMessage, value, into, readMessage)
}

// EncodeEdit makes the stored value of an edit.
func (c *Codec) EncodeEdit(e *conversation.Edit) []byte { return encode(c, kindEdit, e, writeEdit) }

// DecodeEdit reads what EncodeEdit made.
func (c *Codec) DecodeEdit(value []byte) (conversation.Edit, error) {
	return decode(c, kindEdit, value, readEdit)
}

// EncodeManifest makes the stored value of a manifest.
func (c *Codec) EncodeManifest(m *conversation.Manifest) []byte {
	return encode(c, kindManifest, m, writeManifest)
}

// DecodeManifest reads what EncodeManifest made.
func (c *Codec) DecodeManifest(value []byte) (conversation.Manifest, error) {
	return decode(c, kindManifest, value, readManifest)
}

// EncodeHead makes the stored value of a head.
func (c *Codec) EncodeHead(h *store.Head) []byte { return encode(c, kindHead, h, writeHead) }

// AppendHead appends to a buffer what EncodeHead makes.
func (c *Codec) AppendHead(out []byte, h *store.Head) []byte {
	return encodeTo(c, out, kindHead, h, writeHead)
}

// DecodeHead reads what EncodeHead made.
func (c *Codec) DecodeHead(value []byte) (store.Head, error) {
	return decode(c, kindHead, value, readHead)
}

// EncodeInfo makes the stored value of a conversation's attributes.
func (c *Codec) EncodeInfo(i *store.Info) []byte { return encode(c, kindInfo, i, writeInfo) }

// DecodeInfo reads what EncodeInfo made.
func (c *Codec) DecodeInfo(value []byte) (store.Info, error) {
	return decode(c, kindInfo, value, readInfo)
}

// EncodeOutcome makes the stored value of a request id.
func (c *Codec) EncodeOutcome(o *store.Outcome) []byte {
	return encode(c, kindOutcome, o, writeOutcome)
}

// DecodeOutcome reads what EncodeOutcome made.
func (c *Codec) DecodeOutcome(value []byte) (store.Outcome, error) {
	return decode(c, kindOutcome, value, readOutcome)
}

// EncodeSlot makes the stored value of a slot.
func (c *Codec) EncodeSlot(data []byte) []byte { return c.seal(kindSlot, data) }

// DecodeSlot reads what EncodeSlot made. The caller owns the result, which is never nil.
func (c *Codec) DecodeSlot(value []byte) ([]byte, error) { return c.raw(kindSlot, value) }

// EncodeChunk makes the stored value of a chunk of content.
func (c *Codec) EncodeChunk(data []byte) []byte { return c.seal(kindChunk, data) }

// DecodeChunk reads what EncodeChunk made. The caller owns the result, which is never nil.
func (c *Codec) DecodeChunk(value []byte) ([]byte, error) { return c.raw(kindChunk, value) }

func (c *Codec) raw(k kind, value []byte) ([]byte, error) {
	payload, own, err := c.open(k, value)
	if err != nil || own && payload != nil {
		return payload, err
	}
	return append(make([]byte, 0, len(payload)), payload...), nil
}

// EncodeLink makes the stored value of a name: the incarnation that it leads to.
func (c *Codec) EncodeLink(id conversation.ID) []byte { return encode(c, kindLink, &id, writeLink) }

// DecodeLink reads what EncodeLink made.
func (c *Codec) DecodeLink(value []byte) (conversation.ID, error) {
	return decode(c, kindLink, value, readLink)
}

// EncodeTask makes the stored value of work that is due, or of an upload that no commit refers to yet.
func (c *Codec) EncodeTask(t *store.Task) []byte { return encode(c, kindTask, t, writeTask) }

// DecodeTask reads what EncodeTask made.
func (c *Codec) DecodeTask(value []byte) (store.Task, error) {
	return decode(c, kindTask, value, readTask)
}
