package citations

import (
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// excerpt returns as much of the start of the text as fits, and its length in bytes of the text.
func (c *composer) excerpt(room int) (string, int) {
	window := replaceControls(c.text[:content.CharOffset(c.text, 2*c.chars)])
	if utf8.RuneCountInString(window) > c.chars {
		window = content.CutClusters(window, c.chars)
	}
	excerpt := c.fit(window, room)
	return excerpt, content.CharOffset(c.text, utf8.RuneCountInString(excerpt))
}
