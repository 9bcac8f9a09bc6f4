package content

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlReader extracts the text of a page.
type htmlReader struct {
	content  string
	out      strings.Builder
	page     htmlSource
	starts   []int32
	headings []heading

	gap           gap
	gapStart      int       // where the gap begins in the content
	hiddenElement atom.Atom // the open element whose content is hidden
	hiddenDepth   int       // its nesting depth
	pre           int       // number of open elements that preserve white space
	heading       int32     // where in the text the open heading began; -1 without one
	title         bool      // in the title of the page
	mainCertainty int       // certainty about the start of the main part
}

// The marks of a page's main part, in order of certainty. Above its first heading there is often more of the menus.
const (
	headingPart = iota + 1
	mainPart
	articlePart
	headedPart
)

// smallPage is the page size, in bytes, up to which the source map may exceed the page.
const smallPage = 16 << 10

// gap is the separator due between what was written and what comes next.
type gap uint8

const (
	noGap gap = iota
	spaceGap
	cellGap
	lineGap
	sectionGap
)

func (g gap) String() string { return [...]string{"", " ", " | ", "\n", "\n\n"}[g] }

// readHTML extracts the text of a page. It is nil if the page has no text, or hardly anything but tags.
func readHTML(content string) *htmlReader {
	h := &htmlReader{content: content, heading: -1, page: htmlSource{content: content}}
	z := html.NewTokenizer(strings.NewReader(content))
	for at := 0; ; {
		kind := z.Next()
		end := at + len(z.Raw())
		switch kind {
		case html.ErrorToken:
			if h.out.Len() == 0 || h.page.size() > int64(len(content))+smallPage {
				return nil
			}
			return h
		case html.TextToken:
			for from := at; h.hiddenDepth == 0 && from < end; {
				from = h.readRun(from, end)
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			h.begin(atom.Lookup(name), at)
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			h.selfClosing(atom.Lookup(name), at)
		case html.EndTagToken:
			name, _ := z.TagName()
			h.end(atom.Lookup(name), at)
		}
		at = end
	}
}

// begin handles a start tag.
func (h *htmlReader) begin(name atom.Atom, at int) {
	if h.hiddenDepth > 0 {
		if name == h.hiddenElement {
			h.hiddenDepth++
		}
		return
	}
	h.widenGap(gapAround(name), at)
	switch name {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Noembed, atom.Noframes:
		h.hiddenElement, h.hiddenDepth = name, 1
	case atom.Pre, atom.Textarea:
		h.pre++
	case atom.Title:
		if h.page.title.to == 0 {
			h.title, h.heading = true, int32(h.out.Len())
		}
	case atom.Main:
		h.noteMainPart(mainPart)
	case atom.Article:
		h.noteMainPart(articlePart)
	case atom.H1:
		if h.mainCertainty < mainPart {
			h.noteMainPart(headingPart)
		} else {
			h.noteMainPart(headedPart)
		}
	}
	if isHeading(name) {
		h.heading = int32(h.out.Len())
	}
}

// selfClosing handles a self-closing tag. Scripts and similar elements have content all the same.
func (h *htmlReader) selfClosing(name atom.Atom, at int) {
	switch name {
	case atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes:
		h.begin(name, at)
	default:
		h.widenGap(gapAround(name), at)
	}
}

// end handles an end tag.
func (h *htmlReader) end(name atom.Atom, at int) {
	if h.hiddenDepth > 0 {
		if name == h.hiddenElement {
			h.hiddenDepth--
		}
		return
	}
	if name == atom.Title && h.title {
		h.page.title = heading{h.heading, int32(h.out.Len())}
		h.title, h.heading = false, -1
	}
	if (name == atom.Pre || name == atom.Textarea) && h.pre > 0 {
		h.pre--
	}
	if isHeading(name) {
		h.endHeading()
	}
	h.widenGap(gapAround(name), at)
}

func (h *htmlReader) endHeading() {
	if h.heading >= 0 && int(h.heading) < h.out.Len() {
		h.headings = append(h.headings, heading{h.heading, int32(h.out.Len())})
	}
	h.heading = -1
}

// noteMainPart records that the main part of the page may begin here.
func (h *htmlReader) noteMainPart(sure int) {
	if sure > h.mainCertainty {
		h.mainCertainty, h.page.body = sure, int32(h.out.Len())
	}
}

func isHeading(name atom.Atom) bool {
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	default:
		return false
	}
}

// gapAround returns the gap before and after an element.
func gapAround(name atom.Atom) gap {
	switch name {
	case atom.Td, atom.Th:
		return cellGap
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Title, atom.Table, atom.Article, atom.Section, atom.Main:
		return sectionGap
	case atom.Address, atom.Aside, atom.Blockquote, atom.Body, atom.Br, atom.Button, atom.Caption, atom.Center, atom.Dd, atom.Details,
		atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.Head, atom.Header, atom.Hr, atom.Html, atom.Label, atom.Legend, atom.Li, atom.Menu, atom.Nav, atom.Ol, atom.Option,
		atom.P, atom.Pre, atom.Select, atom.Summary, atom.Tbody, atom.Textarea, atom.Tfoot, atom.Thead, atom.Tr, atom.Ul:
		return lineGap
	default:
		return noGap
	}
}

func (h *htmlReader) widenGap(g gap, at int) {
	if h.out.Len() > 0 && g > h.gap && h.hiddenDepth == 0 {
		h.gap, h.gapStart = g, at
	}
}

// readRun reads the next run of one kind (a character reference, white space, or plain characters), and returns where it ends.
func (h *htmlReader) readRun(from, to int) int {
	if h.content[from] == '&' {
		if text, size := characterReference(h.content[from:to]); size > 1 {
			h.write(text, ^from, from)
			return from + size
		}
	}
	space, at := h.isCollapsible(from), from+1
	for at < to && h.content[at] != '&' && h.isCollapsible(at) == space {
		at++
	}
	if space {
		h.widenGap(spaceGap, from)
	} else {
		h.write(h.content[from:at], from, from)
	}
	return at
}

// isCollapsible reports whether a character is white space that collapses.
func (h *htmlReader) isCollapsible(at int) bool {
	c := h.content[at]
	return h.pre == 0 && (isJSONSpace(c) || c == '\f')
}

// write writes a text that came from a run, after the gap that is due.
func (h *htmlReader) write(text string, run, from int) {
	if h.gap > noGap {
		h.writeGap(from)
	}
	h.page.add(h.out.Len(), run)
	h.out.WriteString(text)
}

// writeGap writes the gap that is due before what comes from a position.
func (h *htmlReader) writeGap(from int) {
	g := h.gap
	h.gap = noGap
	if g == spaceGap && h.gapStart == from-1 { // one for one
		h.page.add(h.out.Len(), h.gapStart)
	} else {
		h.page.add(h.out.Len(), ^h.gapStart)
	}
	h.out.WriteString(g.String())
	if g < lineGap {
		return
	}
	if n := len(h.headings); n == 0 || int(h.headings[n-1].to) != h.out.Len()-len(g.String()) { // a heading belongs to what follows
		h.starts = append(h.starts, int32(h.out.Len()))
	}
}
