package record

import (
	"bytes"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func encode[T any](c *Codec, k kind, v *T, of func(*fields, *T)) []byte {
	return encodeTo(c, nil, k, v, of)
}

func encodeTo[T any](c *Codec, out []byte, k kind, v *T, of func(*fields, *T)) []byte {
	f := c.borrow()
	defer c.giveBack(f)
	of(f, v)
	return c.sealTo(out, k, f.out)
}

func decode[T any](c *Codec, k kind, value []byte, of func(*fields, *T)) (T, error) {
	var v T
	payload, own, err := c.open(k, value)
	if err != nil {
		return v, err
	}
	if !own {
		payload = bytes.Clone(payload)
	}
	if err := decodePayload(c, k, payload, &v, of); err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// decodeText is decode into a zero, for a value that does not change: what is read shares it.
func decodeText[T any](c *Codec, k kind, value string, into *T, of func(*fields, *T)) error {
	payload, _, err := c.open(k, unsafe.Slice(unsafe.StringData(value), len(value))) //nolint:gosec // nobody writes to it
	if err != nil {
		return err
	}
	return decodePayload(c, k, payload, into, of)
}

// decodePayload reads a payload that nobody changes any more.
func decodePayload[T any](c *Codec, k kind, payload []byte, into *T, of func(*fields, *T)) error {
	f := c.borrow()
	defer c.giveBack(f)
	f.reading, f.in.rest = true, alias(payload)
	if read(f, into, of); f.in.bad {
		return damaged(k, "it is not well formed")
	}
	return nil
}

// alias is bytes as a text, without a copy.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // nobody writes to them any more

// EncodeMessage makes the stored value of a message.
func (c *Codec) EncodeMessage(m *conversation.Message) []byte {
	return encode(c, kindMessage, m, messageFields)
}

// AppendMessage appends to a buffer what EncodeMessage makes.
func (c *Codec) AppendMessage(out []byte, m *conversation.Message) []byte {
	return encodeTo(c, out, kindMessage, m, messageFields)
}

// DecodeMessage reads what EncodeMessage made. As with all Decode methods, nothing of value is kept, and all damage is
// store.ErrCorrupt.
func (c *Codec) DecodeMessage(value []byte) (conversation.Message, error) {
	return decode(c, kindMessage, value, messageFields)
}

// DecodeMessageText is DecodeMessage into a zero, for a value that is a string already: the message shares it.
func (c *Codec) DecodeMessageText(value string, into *conversation.Message) error {
	return decodeText(c, kindMessage, value, into, messageFields)
}

// EncodeEdit makes the stored value of an edit.
func (c *Codec) EncodeEdit(e *conversation.Edit) []byte { return encode(c, kindEdit, e, editFields) }

// DecodeEdit reads what EncodeEdit made.
func (c *Codec) DecodeEdit(value []byte) (conversation.Edit, error) {
	return decode(c, kindEdit, value, editFields)
}

// EncodeManifest makes the stored value of a manifest.
func (c *Codec) EncodeManifest(m *conversation.Manifest) []byte {
	return encode(c, kindManifest, m, manifestFields)
}

// DecodeManifest reads what EncodeManifest made.
func (c *Codec) DecodeManifest(value []byte) (conversation.Manifest, error) {
	return decode(c, kindManifest, value, manifestFields)
}

// EncodeHead makes the stored value of a head.
func (c *Codec) EncodeHead(h *store.Head) []byte { return encode(c, kindHead, h, headFields) }

// AppendHead appends to a buffer what EncodeHead makes.
func (c *Codec) AppendHead(out []byte, h *store.Head) []byte {
	return encodeTo(c, out, kindHead, h, headFields)
}

// DecodeHead reads what EncodeHead made.
func (c *Codec) DecodeHead(value []byte) (store.Head, error) {
	return decode(c, kindHead, value, headFields)
}

// EncodeInfo makes the stored value of a conversation's attributes.
func (c *Codec) EncodeInfo(i *store.Info) []byte { return encode(c, kindInfo, i, infoFields) }

// DecodeInfo reads what EncodeInfo made.
func (c *Codec) DecodeInfo(value []byte) (store.Info, error) {
	return decode(c, kindInfo, value, infoFields)
}

// EncodeOutcome makes the stored value of a request id.
func (c *Codec) EncodeOutcome(o *store.Outcome) []byte {
	return encode(c, kindOutcome, o, outcomeFields)
}

// DecodeOutcome reads what EncodeOutcome made.
func (c *Codec) DecodeOutcome(value []byte) (store.Outcome, error) {
	return decode(c, kindOutcome, value, outcomeFields)
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
func (c *Codec) EncodeLink(id conversation.ID) []byte { return encode(c, kindLink, &id, linkFields) }

// DecodeLink reads what EncodeLink made.
func (c *Codec) DecodeLink(value []byte) (conversation.ID, error) {
	return decode(c, kindLink, value, linkFields)
}

// EncodeTask makes the stored value of work that is due, or of an upload that no commit refers to yet.
func (c *Codec) EncodeTask(t *store.Task) []byte { return encode(c, kindTask, t, taskFields) }

// DecodeTask reads what EncodeTask made.
func (c *Codec) DecodeTask(value []byte) (store.Task, error) {
	return decode(c, kindTask, value, taskFields)
}
