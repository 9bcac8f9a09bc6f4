package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func appendContent(b []byte, field int, c *conversation.Content) []byte {
	if *c == (conversation.Content{}) {
		return b
	}
	return appendNested(b, field, c, writeContent)
}

func writeContent(b []byte, c *conversation.Content) []byte {
	b = appendText(b, 1, c.Inline)
	b = appendOptional(b, 2, c.Ref, writeRef)
	return appendOptional(b, 3, c.Erased, writeErased)
}

func readContent(r *reader, c *conversation.Content) {
	for r.next() {
		switch r.field {
		case 1:
			c.Inline = r.text()
		case 2:
			c.Ref = optional(r, readRef)
		case 3:
			c.Erased = optional(r, readErased)
		}
	}
}

func writeRef(b []byte, ref *conversation.ContentRef) []byte {
	b = appendID(b, 1, ref.ID)
	b = appendInt(b, 2, ref.Bytes)
	b = appendInt(b, 3, ref.Chars)
	return appendHash(b, 4, ref.SHA256)
}

func readRef(r *reader, ref *conversation.ContentRef) {
	for r.next() {
		switch r.field {
		case 1:
			ref.ID = r.id()
		case 2:
			ref.Bytes = r.int64()
		case 3:
			ref.Chars = r.int64()
		case 4:
			ref.SHA256 = r.hash()
		}
	}
}

func writeErased(b []byte, e *conversation.ErasedContent) []byte {
	b = appendInt(b, 1, e.Bytes)
	b = appendInt(b, 2, e.Chars)
	return appendHash(b, 3, e.Hash)
}

func readErased(r *reader, e *conversation.ErasedContent) {
	for r.next() {
		switch r.field {
		case 1:
			e.Bytes = r.int64()
		case 2:
			e.Chars = r.int64()
		case 3:
			e.Hash = r.hash()
		}
	}
}
