package conversation

import (
	"cmp"
	"fmt"
	"strings"
)

// maxURI is how many bytes of an address a line of text shows.
const maxURI = 500

// Line returns the line of text that stands for media where a model is not shown the media (behaviour §4).
func (m *Media) Line() string {
	mime := cmp.Or(oneLine(m.MIMEType, 100), "unknown type")
	if m.URI != "" && len(m.URI) <= maxURI && !strings.HasPrefix(m.URI, "data:") {
		return fmt.Sprintf("[Media: %s, %s]", mime, oneLine(m.URI, maxURI))
	}
	return fmt.Sprintf("[Media: %s, %d bytes]", mime, max(m.Data.Bytes(), int64(len(m.URI))))
}

func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}
