package content

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Reading is a content prepared for reading: the content itself, or the text of an HTML page. It knows its sections and the origin of each
// character. It is immutable and safe for concurrent use.
type Reading struct {
	Kind    Kind
	Content string // as it was stored
	Text    string // what is read: Content itself for all kinds but HTML

	starts    []int32
	headings  []heading
	json      *jsonSections
	page      *htmlSource   // of HTML
	positions positionIndex // of Content
}

// heading is the title of a section, in bytes of Text.
type heading struct{ from, to int32 }

// Read prepares any content for reading. If it does not match its kind, as broken JSON does, it is read as the text that it looks like.
// Contents over 2 GiB have no sections.
func Read(kind Kind, content string) *Reading {
	r := &Reading{Kind: kind, Content: content, Text: content, positions: newPositionIndex(content)}
	switch {
	case len(content) > math.MaxInt32:
		r.Kind = KindText // positions are too large to be kept
		return r
	case kind == KindJSON:
		r.json, r.starts = sectionJSON(content)
	case kind == KindHTML:
		r.readPage()
	}
	if kind == KindJSON && r.json == nil || kind == KindHTML && r.page == nil {
		r.Kind = statsOf(Head(content, sniffBytes)).kind()
	}
	if r.json == nil {
		r.readLines()
	}
	return r
}

// readPage extracts the text of an HTML page.
func (r *Reading) readPage() {
	h := readHTML(r.Content)
	if h == nil {
		return
	}
	found := h.page // copied, like the text, because the reader holds more memory
	r.Text, r.starts, r.headings, r.page = strings.Clone(h.out.String()), h.starts, h.headings, &found
	for i := range r.headings {
		r.headings[i] = r.headings[i].trim(r.Text)
	}
	r.page.title = r.page.title.trim(r.Text)
	if r.page.body = int32(SkipSpace(r.Text, int(r.page.body))); int(r.page.body) == len(r.Text) {
		r.page.body = 0 // it has no text
	}
}

// trim removes the white space around a heading.
func (h heading) trim(text string) heading {
	title := text[h.from:h.to]
	from := h.to - int32(len(strings.TrimLeft(title, JSONSpace)))
	return heading{from, max(from, h.from+int32(len(strings.TrimRight(title, JSONSpace))))}
}

// MainPart returns the main part of an HTML page, and the page's title, which is empty if the main part contains it. It is false for all
// other contents.
func (r *Reading) MainPart() (title, body string, ok bool) {
	if r.page == nil {
		return "", "", false
	}
	if t := r.page.title; t.to <= r.page.body {
		title = r.Text[t.from:t.to]
	}
	return title, r.Text[r.page.body:], true
}

// Size returns the memory that the reading takes besides its content, in bytes.
func (r *Reading) Size() int64 {
	n := int64(cap(r.starts))*4 + int64(cap(r.headings))*8 + int64(cap(r.positions.marks))*24
	if r.json != nil {
		n += int64(cap(r.json.nodes))*16 + int64(cap(r.json.marks))*12
	}
	if r.page != nil {
		n += int64(len(r.Text)) + r.page.size()
	}
	return n
}

// Starts returns where sections begin in Text, in order: parts under a heading in Markdown and HTML, members and items of JSON, lines of
// logs, paragraphs, top-level declarations of code. Passages consist of them: they cover all of Text, and are small enough to be told
// apart. The caller must not modify it.
func (r *Reading) Starts() []int32 { return r.starts }

// Place returns the location of [from, to) of Text for a model: `lines 45-67`, `section: Introduction`, or a JSON pointer such as
// `/items/47`, or `/items/47 to /items/49` for several values. Lines are those of Content, 1-based and inclusive. A range outside of Text
// is clamped.
func (r *Reading) Place(from, to int) string {
	from = min(max(from, 0), len(r.Text))
	to = min(max(to, from), len(r.Text))
	if r.json != nil {
		return r.json.location(from, to)
	}
	for from < to && isJSONSpace(r.Text[from]) {
		from++
	}
	section := r.section(from)
	if r.Kind == KindHTML && section != "" {
		return section
	}
	to = from + len(strings.TrimRight(r.Text[from:to], JSONSpace))
	bytes, _ := r.Source(from, to)
	first, last := r.positions.lineAt(int(bytes[0])), r.positions.lineAt(max(int(bytes[0]), int(bytes[1])-1))
	lines := fmt.Sprintf("lines %d-%d", first, last)
	if section != "" {
		return section + ", " + lines
	}
	return lines
}

// maxTitleChars limits a section's title in a location, in characters.
const maxTitleChars = 100

// section returns the section that contains a position, or "".
func (r *Reading) section(at int) string {
	i := sort.Search(len(r.headings), func(i int) bool { return int(r.headings[i].from) > at }) - 1
	if i < 0 {
		return ""
	}
	h := r.headings[i]
	title := r.Text[h.from:h.to]
	if r.Kind == KindMarkdown {
		title = strings.Trim(title, "# \t")
	}
	return "section: " + CutChars(strings.Join(strings.Fields(Head(title, 8*maxTitleChars)), " "), maxTitleChars)
}

// Source returns the bytes of Content from which [from, to) of Text came, and its characters (Unicode code points).
func (r *Reading) Source(from, to int) (bytes, chars [2]int64) {
	if r.page != nil {
		from, to = r.page.source(from, to)
	}
	bytes = [2]int64{int64(from), int64(to)}
	return bytes, [2]int64{r.positions.charAt(from), r.positions.charAt(to)}
}
