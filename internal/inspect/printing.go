package inspect

import (
	"io"
	"strings"
)

// printing prints an original, piece by piece.
type printing struct {
	*session
	open bool // what was printed last ends within a line
}

// text prints a piece: as it is into a file or pipe, without what must not reach a terminal on one.
func (p *printing) text(text string) error {
	if p.out.terminal {
		text = plainLines(text, p.out.ascii)
	}
	if text != "" {
		p.open = !strings.HasSuffix(text, "\n")
	}
	_, err := io.WriteString(p.out.out, text)
	return err
}

// end leaves a terminal at the start of a line. A file gets no byte that is not the original's.
func (p *printing) end() error {
	if !p.open || !p.out.terminal {
		return nil
	}
	return p.out.line("")
}
