package citations

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// composer assembles a citation.
type composer struct {
	source Source
	head   string
	whole  bool
	count  func(string) int
	limit  int // tokens

	title   string       // of a page
	text    string       // the text of which the excerpt is the start
	chars   int          // length of the excerpt
	members []*jsonValue // small members of an object
	lists   []string     // lines about lists and other large members
	units   string       // units in which ranges can be retrieved
}

// minExcerpt is how many tokens everything else leaves for the excerpt.
const minExcerpt = 30

// draft is a citation being written.
type draft struct {
	b    strings.Builder
	room int // tokens
	c    *composer
}

// readPage reads the title and the main part of an HTML page.
func (c *composer) readPage() {
	title, body, ok := content.Read(content.KindHTML, c.head).MainPart()
	if !ok {
		return
	}
	c.text = body
	c.title = content.CutChars(strings.Join(strings.Fields(title), " "), smallChars)
}

// compose writes the citation. Parts may weigh slightly more together than alone; then it tries again with less room.
func (c *composer) compose() Citation {
	limit := c.limit
	for {
		out := c.fill()
		over := c.count(out.Text) - limit
		if over <= 0 || c.limit <= 0 {
			return out
		}
		c.limit -= over
	}
}

// fill writes the citation. Small members that the excerpt shows anyway are not repeated, unless the excerpt has to be shorter.
func (c *composer) fill() Citation {
	all := content.CharOffset(c.text, c.chars)
	out, shown := c.write(all)
	if shown < all && len(c.members) > 0 {
		out, _ = c.write(0)
	}
	return out
}

// write writes the citation, the most important parts first as far as they fit, and the excerpt in the remaining room. Members that end
// before told are left to the excerpt. It also returns how much of the text the excerpt took.
func (c *composer) write(told int) (out Citation, shown int) {
	last := c.retrieveLine()
	header := c.source.header()
	d := &draft{c: c, room: c.limit - minExcerpt - c.count(header+"]\nBeginning:\n...\n"+last)}
	d.b.WriteString(header)
	if c.source.URL != "" {
		d.add(", " + shortURL(c.source.URL))
	}
	d.b.WriteString("]\n")
	d.members(told)
	for _, line := range c.lists {
		d.line(line)
	}
	if c.title != "" {
		d.line("Title: " + c.title)
	}
	d.b.WriteString("Beginning:\n")
	out.ExcerptFrom = d.b.Len()
	excerpt, shown := c.excerpt(d.room + minExcerpt)
	d.b.WriteString(excerpt)
	out.ExcerptEnd = d.b.Len()
	if shown < len(c.text) || !c.whole {
		d.b.WriteString("...")
	}
	out.Text = d.b.String() + "\n" + last
	out.Location, out.HowToRetrieve = "beginning", last
	return out, shown
}

// retrieveLine returns the line that says how to retrieve more.
func (c *composer) retrieveLine() string {
	line := c.source.retrievePrefix() + c.units
	if c.source.Expand != "" {
		line += ". Full text: " + bracketSafe(c.source.Expand)
	}
	return line + "]"
}

// add writes a text if all of it fits.
func (d *draft) add(text string) bool {
	n := d.c.count(text)
	if text == "" || n > d.room {
		return false
	}
	d.room -= n
	d.b.WriteString(text)
	return true
}

// minLineChars is the shortest length to which a line is cut, in characters.
const minLineChars = 40

// line writes a line, cut if needed.
func (d *draft) line(text string) {
	if d.add(text + "\n") {
		return
	}
	if text = d.c.fit(text, d.room-4); text != "" && len(text) > minLineChars {
		d.add(text + "...\n")
	}
}

// members writes the small members that do not end before told, as one object.
func (d *draft) members(told int) {
	var fields []string
	left := 0
	room := d.room - d.c.count("{}, and 1000 more small members\n")
	for _, m := range d.c.members {
		if m.end <= told {
			continue
		}
		text, _ := m.small(smallChars)
		field := m.keyText() + ":" + text
		if n := d.c.count(field + ","); n <= room {
			room -= n
			fields = append(fields, field)
		} else {
			left++
		}
	}
	switch line := "{" + strings.Join(fields, ",") + "}"; {
	case left > 0:
		d.add(fmt.Sprintf("%s, and %d more small members\n", line, left))
	case len(fields) > 0:
		d.add(line + "\n")
	}
}

// fit returns as much of the start of a text as fits.
func (c *composer) fit(text string, room int) string {
	for room > 0 && text != "" {
		n := c.count(text)
		if n <= room {
			return text
		}
		size := utf8.RuneCountInString(text)
		text = content.CutClusters(text, min(size*room/n, size-1))
	}
	return ""
}

// excerpt returns as much of the start of the text as fits, and its length in bytes of the text.
func (c *composer) excerpt(room int) (string, int) {
	window := replaceControls(c.text[:content.CharOffset(c.text, 2*c.chars)])
	if utf8.RuneCountInString(window) > c.chars {
		window = content.CutClusters(window, c.chars)
	}
	excerpt := c.fit(window, room)
	return excerpt, content.CharOffset(c.text, utf8.RuneCountInString(excerpt))
}
