package inspect

import (
	"io"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// printing prints an original, piece by piece.
type printing struct {
	*session
	open bool // what was printed last ends within a line
}

// text prints a piece: as it is into a file or pipe, without what must not reach a terminal on one.
func (p *printing) text(text string) error {
	if p.out.Terminal {
		text = sheet.PlainLines(text, p.out.ASCII)
	}
	if text != "" {
		p.open = !strings.HasSuffix(text, "\n")
	}
	_, err := io.WriteString(p.out.Out, text)
	return err
}

// end leaves a terminal at the start of a line. A file gets no byte that is not the original's.
func (p *printing) end() error {
	if !p.open || !p.out.Terminal {
		return nil
	}
	return p.out.Line("")
}
