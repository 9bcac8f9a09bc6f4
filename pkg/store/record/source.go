package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Run is a run that contents belong to.
type Run struct {
	ID      string     `json:"id"`
	Used    int64      `json:"u"` // Unix milliseconds
	End     int64      `json:"e"` // when its contents go; 0 until it is ended
	Gone    bool       `json:"g"`
	Sources [][2]int64 `json:"s"` // numbers of its contents, from and to, inclusive
	Unknown string     `json:"-"`
}

// EncodeRun makes the value of a slot, and DecodeRun reads it.
var EncodeRun, DecodeRun = slotOf(runFields)

func runFields(f *fields, run *Run) {
	f.text(1, &run.ID)
	integer(f, 2, &run.Used)
	integer(f, 3, &run.End)
	f.bool(4, &run.Gone)
	list(f, 5, &run.Sources, spanFields)
	f.unknown(&run.Unknown)
}

func spanFields(f *fields, v *[2]int64) {
	integer(f, 1, &v[0])
	integer(f, 2, &v[1])
}

// Source is what is known of a content. Where the content is a message's own, Message and Part say which; else Content does.
type Source struct {
	Handle      string                  `json:"h"`
	Type        conversation.SourceType `json:"t"`
	URL         string                  `json:"u"`
	ContentType string                  `json:"f"`
	Kind        int8                    `json:"k"` // a citations.Kind
	Bytes       int64                   `json:"b"`
	Chars       int64                   `json:"c"` // 0 if it is not text
	SHA256      []byte                  `json:"s"`
	Accessed    int64                   `json:"a"` // Unix milliseconds
	CitedBy     []int32                 `json:"by"`
	Expired     bool                    `json:"x"`
	Run         string                  `json:"r"`
	OfRun       bool                    `json:"o"` // it goes with its run
	Metadata    string                  `json:"m"`
	AtAppend    bool                    `json:"at"`
	Message     int32                   `json:"i"`
	Part        int32                   `json:"p"`
	Content     []byte                  `json:"id"` // the id of its chunks; none for an empty content
	Title       string                  `json:"n"`
	Unknown     string                  `json:"-"`
}

// EncodeSource makes the value of a slot, and DecodeSource reads it.
var EncodeSource, DecodeSource = slotOf(sourceFields)

func sourceFields(f *fields, s *Source) {
	f.text(1, &s.Handle)
	integer(f, 2, &s.Type)
	f.text(3, &s.URL)
	f.text(4, &s.ContentType)
	integer(f, 5, &s.Kind)
	integer(f, 6, &s.Bytes)
	integer(f, 7, &s.Chars)
	f.blob(8, &s.SHA256)
	integer(f, 9, &s.Accessed)
	numbers(f, 10, &s.CitedBy)
	f.bool(11, &s.Expired)
	f.text(12, &s.Run)
	f.bool(13, &s.OfRun)
	f.text(14, &s.Metadata)
	f.bool(15, &s.AtAppend)
	integer(f, 16, &s.Message)
	integer(f, 17, &s.Part)
	f.blob(18, &s.Content)
	f.text(19, &s.Title)
	f.unknown(&s.Unknown)
}

// SharedBytes are chunks that several contents share.
type SharedBytes struct {
	ID      []byte `json:"id"`
	Count   int64  `json:"n"` // contents that have them
	Unknown string `json:"-"`
}

// EncodeSharedBytes makes the value of a slot, and DecodeSharedBytes reads it.
var EncodeSharedBytes, DecodeSharedBytes = slotOf(sharedBytesFields)

func sharedBytesFields(f *fields, s *SharedBytes) {
	f.blob(1, &s.ID)
	integer(f, 2, &s.Count)
	f.unknown(&s.Unknown)
}
