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

// EncodeRun makes the value of a slot.
func EncodeRun(run *Run) []byte { return encodeSlot(run, writeRun) }

// DecodeRun reads what EncodeRun made.
func DecodeRun(value []byte) (Run, error) { return decodeSlot(value, readRun) }

func writeRun(b []byte, run *Run) []byte {
	b = appendText(b, 1, run.ID)
	b = appendInt(b, 2, run.Used)
	b = appendInt(b, 3, run.End)
	b = appendBool(b, 4, run.Gone)
	b = appendAll(b, 5, run.Sources, writeNumbers)
	return append(b, run.Unknown...)
}

func readRun(r *reader, run *Run) {
	for r.next() {
		switch r.field {
		case 1:
			run.ID = r.text()
		case 2:
			run.Used = r.int64()
		case 3:
			run.End = r.int64()
		case 4:
			run.Gone = r.bool()
		case 5:
			run.Sources = element(r, run.Sources, readNumbers)
		default:
			run.Unknown += r.raw
		}
	}
}

func writeNumbers(b []byte, v *[2]int64) []byte {
	b = appendInt(b, 1, v[0])
	return appendInt(b, 2, v[1])
}

func readNumbers(r *reader, v *[2]int64) {
	for r.next() {
		switch r.field {
		case 1:
			v[0] = r.int64()
		case 2:
			v[1] = r.int64()
		}
	}
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

// EncodeSource makes the value of a slot.
func EncodeSource(s *Source) []byte { return encodeSlot(s, writeSource) }

// DecodeSource reads what EncodeSource made.
func DecodeSource(value []byte) (Source, error) { return decodeSlot(value, readSource) }

func writeSource(b []byte, s *Source) []byte {
	b = appendText(b, 1, s.Handle)
	b = appendInt(b, 2, s.Type)
	b = appendText(b, 3, s.URL)
	b = appendText(b, 4, s.ContentType)
	b = appendInt(b, 5, s.Kind)
	b = appendInt(b, 6, s.Bytes)
	b = appendInt(b, 7, s.Chars)
	b = appendText(b, 8, s.SHA256)
	b = appendInt(b, 9, s.Accessed)
	b = appendPacked(b, 10, s.CitedBy, false)
	b = appendBool(b, 11, s.Expired)
	b = appendText(b, 12, s.Run)
	b = appendBool(b, 13, s.OfRun)
	b = appendText(b, 14, s.Metadata)
	b = appendBool(b, 15, s.AtAppend)
	b = appendInt(b, 16, s.Message)
	b = appendInt(b, 17, s.Part)
	b = appendText(b, 18, s.Content)
	b = appendText(b, 19, s.Title)
	return append(b, s.Unknown...)
}

func readSource(r *reader, s *Source) {
	for r.next() {
		switch r.field {
		case 1:
			s.Handle = r.text()
		case 2:
			s.Type = conversation.SourceType(r.int32())
		case 3:
			s.URL = r.text()
		case 4:
			s.ContentType = r.text()
		case 5:
			s.Kind = int8(r.int32())
		case 6:
			s.Bytes = r.int64()
		case 7:
			s.Chars = r.int64()
		case 8:
			s.SHA256 = []byte(r.text())
		case 9:
			s.Accessed = r.int64()
		case 10:
			packed(r, func(v int32) { s.CitedBy = append(s.CitedBy, v) })
		case 11:
			s.Expired = r.bool()
		case 12:
			s.Run = r.text()
		case 13:
			s.OfRun = r.bool()
		case 14:
			s.Metadata = r.text()
		case 15:
			s.AtAppend = r.bool()
		case 16:
			s.Message = r.int32()
		case 17:
			s.Part = r.int32()
		case 18:
			s.Content = []byte(r.text())
		case 19:
			s.Title = r.text()
		default:
			s.Unknown += r.raw
		}
	}
}

// SharedBytes are chunks that several contents share.
type SharedBytes struct {
	ID      []byte `json:"id"`
	Count   int64  `json:"n"` // contents that have them
	Unknown string `json:"-"`
}

// EncodeSharedBytes makes the value of a slot.
func EncodeSharedBytes(s *SharedBytes) []byte { return encodeSlot(s, writeSharedBytes) }

// DecodeSharedBytes reads what EncodeSharedBytes made.
func DecodeSharedBytes(value []byte) (SharedBytes, error) { return decodeSlot(value, readSharedBytes) }

func writeSharedBytes(b []byte, s *SharedBytes) []byte {
	b = appendText(b, 1, s.ID)
	b = appendInt(b, 2, s.Count)
	return append(b, s.Unknown...)
}

func readSharedBytes(r *reader, s *SharedBytes) {
	for r.next() {
		switch r.field {
		case 1:
			s.ID = []byte(r.text())
		case 2:
			s.Count = r.int64()
		default:
			s.Unknown += r.raw
		}
	}
}
