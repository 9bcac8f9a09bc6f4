package extractive

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// pageReader splits an HTML page into blocks.
type pageReader struct {
	outline document
	// text is what was read of the open block, block its kind and level.
	text  strings.Builder
	block block
	// aside hidden and pre count the open elements that contain navigation, that are invisible, and that keep line breaks.
	aside, hidden, pre int
	table              tableReader
	inTitle            bool
}

// readPage recognizes an HTML page.
func readPage(s source) (draft, bool) {
	if !looksLikePage(s.text) {
		return draft{}, false
	}
	p := &pageReader{}
	z := html.NewTokenizer(strings.NewReader(s.text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		p.token(z, kind)
	}
	p.flush()
	if len(p.outline.blocks) < 2 {
		return draft{}, false
	}
	name := "HTML"
	if p.outline.title != "" {
		name = "HTML page " + content.Clip("“"+p.outline.title+"”", max(20, s.target/5))
	}
	return p.outline.draft(name, s.target), true
}

// looksLikePage reports whether a text is HTML: by how it begins, or by many closing tags near its start.
func looksLikePage(text string) bool {
	begins := strings.TrimSpace(text[:min(len(text), 4000)])
	begins = strings.ToLower(begins[:min(len(begins), 200)])
	if strings.HasPrefix(begins, "<!doctype html") || strings.HasPrefix(begins, "<html") {
		return true
	}
	sample := strings.ToLower(text[:min(len(text), 20_000)])
	tags := 0
	for _, tag := range []string{"</p>", "</div>", "</a>", "</li>", "</td>", "</h1>", "</h2>", "</h3>", "</span>", "</table>"} {
		tags += strings.Count(sample, tag)
	}
	return tags*150 > len(sample) && strings.HasPrefix(begins, "<")
}

func (p *pageReader) token(z *html.Tokenizer, kind html.TokenType) {
	switch kind {
	case html.TextToken:
		if p.hidden == 0 {
			p.addText(string(z.Text()))
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		name, hasAttributes := z.TagName()
		tag := atom.Lookup(name)
		p.open(tag, kind == html.SelfClosingTagToken)
		if tag == atom.A && hasAttributes {
			p.link(z)
		}
	case html.EndTagToken:
		name, _ := z.TagName()
		p.close(atom.Lookup(name))
	}
}

func (p *pageReader) addText(text string) {
	if p.inTitle {
		p.outline.title = strings.Join(strings.Fields(p.outline.title+" "+text), " ")
		return
	}
	if p.text.Len() < maxBlockBytes {
		p.text.WriteString(text)
	}
}

// link collects the target of an anchor. Links within the page and in navigation say little.
func (p *pageReader) link(z *html.Tokenizer) {
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "href" {
			p.outline.addLink(string(value), p.aside > 0)
		}
	}
}

func (p *pageReader) open(tag atom.Atom, selfClosing bool) {
	switch tag {
	case atom.Script, atom.Style, atom.Svg, atom.Template, atom.Noscript:
		if !selfClosing {
			p.hidden++
		}
	case atom.Nav, atom.Footer, atom.Aside:
		p.flush()
		p.aside++
	case atom.Title:
		p.inTitle = p.hidden == 0
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.flush()
		p.block = block{kind: heading, level: int(tag.String()[1] - '0')}
	case atom.Pre:
		p.flush()
		p.pre++
		p.table.code = p.table.code || p.table.depth > 0
		p.block = block{kind: code}
	case atom.Table, atom.Tr, atom.Td, atom.Th:
		p.openTable(tag)
	case atom.Li, atom.Dt, atom.Dd, atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Blockquote, atom.Main, atom.Header, atom.Dl:
		p.flushParagraph()
	case atom.Br:
		p.text.WriteByte('\n')
	}
}

func (p *pageReader) close(tag atom.Atom) {
	switch tag {
	case atom.Script, atom.Style, atom.Svg, atom.Template, atom.Noscript:
		p.hidden = max(0, p.hidden-1)
	case atom.Nav, atom.Footer, atom.Aside:
		p.flush()
		p.aside = max(0, p.aside-1)
	case atom.Title:
		p.inTitle = false
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.flush()
	case atom.Pre:
		p.pre = max(0, p.pre-1)
		p.flush()
	case atom.Table, atom.Tr, atom.Td, atom.Th:
		p.closeTable(tag)
	case atom.Li, atom.Dt, atom.Dd, atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Blockquote, atom.Main, atom.Header, atom.Dl:
		p.flushParagraph()
	}
}

// flushParagraph ends a block unless it is a heading or code, which may contain blocks.
func (p *pageReader) flushParagraph() {
	if p.pre == 0 && p.block.kind != heading {
		p.flush()
	}
}

// flush ends the open block.
func (p *pageReader) flush() {
	b := p.block
	b.text, b.aside = p.text.String(), p.aside > 0
	p.text.Reset()
	p.block = block{}
	if b.kind == code {
		b.text = strings.Trim(b.text, "\n")
	} else {
		b.text = strings.TrimRight(strings.Join(strings.Fields(b.text), " "), "¶ ")
	}
	if p.table.depth > 0 && b.kind == paragraph && !p.table.code {
		if b.text != "" {
			p.table.row = append(p.table.row, b.text)
		}
		return
	}
	p.outline.add(b)
}

func (p *pageReader) openTable(tag atom.Atom) {
	p.flush()
	switch tag {
	case atom.Table:
		if p.table.depth++; p.table.depth == 1 {
			p.table = tableReader{depth: 1}
		}
	case atom.Tr:
		p.table.endRow()
	}
}

func (p *pageReader) closeTable(tag atom.Atom) {
	p.flush()
	switch tag {
	case atom.Tr:
		p.table.endRow()
	case atom.Table:
		if rows := p.table.end(); rows != nil {
			p.outline.addTable(rows, p.aside > 0)
		}
	}
}

// tableReader collects the rows of a table. Nested tables belong to the outermost.
type tableReader struct {
	depth int
	// code is true if the table only lays out lines of code.
	code bool
	rows []string
	row  []string
}

func (t *tableReader) endRow() {
	if t.depth == 1 && len(t.row) > 0 {
		t.rows = append(t.rows, strings.Join(t.row, " | "))
		t.row = nil
	}
}

// end closes a table and returns its rows, if it was one.
func (t *tableReader) end() []string {
	t.endRow()
	if t.depth = max(0, t.depth-1); t.depth > 0 || t.code {
		return nil
	}
	return t.rows
}
