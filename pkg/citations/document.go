package citations

// Document is a content made ready to be searched. It is immutable and safe for concurrent use.
type Document struct{ reading *Reading }

// Prepare makes a content ready to be searched: 2 MB in well under 100 ms.
func Prepare(r *Reading) *Document { return &Document{reading: r} }

// Size is what the document holds in memory beside the content, in bytes: at most as much as the content.
func (d *Document) Size() int64 { return 0 }
