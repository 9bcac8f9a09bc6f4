package store

import (
	"bytes"
	"cmp"
	"strings"
)

// Compare orders keys by namespace and conversation, in byte order.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Namespace, o.Namespace), strings.Compare(k.Conversation, o.Conversation))
}

// Compare orders request ids by RPC and id, in byte order.
func (k RequestKey) Compare(o RequestKey) int {
	return cmp.Or(strings.Compare(k.RPC, o.RPC), strings.Compare(k.ID, o.ID))
}

// Compare orders tasks by time, oldest first. Tasks with the same time are ordered by incarnation and upload.
func (t Task) Compare(o Task) int {
	return cmp.Or(t.Time.Compare(o.Time), bytes.Compare(t.Incarnation[:], o.Incarnation[:]), bytes.Compare(t.Upload[:], o.Upload[:]))
}
