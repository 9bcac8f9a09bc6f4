package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func contentFields(f *fields, c *conversation.Content) {
	f.text(1, &c.Inline)
	optional(f, 2, &c.Ref, refFields)
	optional(f, 3, &c.Erased, erasedFields)
}

func refFields(f *fields, ref *conversation.ContentRef) {
	f.id(1, &ref.ID)
	integer(f, 2, &ref.Bytes)
	integer(f, 3, &ref.Chars)
	f.hash(4, &ref.SHA256)
}

func erasedFields(f *fields, e *conversation.ErasedContent) {
	integer(f, 1, &e.Bytes)
	integer(f, 2, &e.Chars)
	f.hash(3, &e.Hash)
}
