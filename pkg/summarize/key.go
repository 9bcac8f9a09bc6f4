package summarize

import (
	"crypto/sha256"
	"encoding/binary"
)

// key identifies a request by everything that its result depends on.
type key struct {
	content contentID
	span    bool
	digest  [sha256.Size]byte
}

// contentID identifies one content in one conversation: the unit of forgetting.
type contentID struct {
	scope Scope
	hash  [32]byte
}

func (d *Service) keyOf(r *Request) key {
	h := sha256.New()
	var b []byte
	number := func(n int) { b = binary.AppendVarint(b[:0], int64(n)); _, _ = h.Write(b) }
	text := func(s string) { number(len(s)); _, _ = h.Write([]byte(s)) }
	text(r.Prompt.ID)
	number(int(r.Prompt.Version))
	text(r.Prompt.Template)
	if r.Facts {
		text("facts")
	}
	number(int(r.Prompt.MaxOutput))
	number(r.Target)
	for _, model := range d.modelsFor(r) {
		text(model)
	}
	if r.Live != nil {
		text("live")
		number(int(r.Live.Format))
	}
	k := key{content: contentID{r.Scope, r.Hash}, span: r.Span}
	h.Sum(k.digest[:0])
	return k
}
