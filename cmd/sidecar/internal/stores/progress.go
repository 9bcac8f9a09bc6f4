package stores

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
)

// progressLine says how far a long command has come, at most once a second.
type progressLine struct {
	out   io.Writer
	last  time.Time
	begun bool
}

func newProgressLine(out *command.Output) *progressLine {
	return &progressLine{out: out.Stderr, last: time.Now()}
}

func (p *progressLine) show(format string, args ...any) {
	if time.Since(p.last) < time.Second {
		return
	}
	p.last, p.begun = time.Now(), true
	_, _ = fmt.Fprintf(p.out, "\r"+format, args...)
}

// pages tells of pages of a file that a verb was done to.
func (p *progressLine) pages(verb string) func(done, of uint64) {
	return func(done, of uint64) { p.show("%s %d MiB of at most %d", verb, inMiB(done), inMiB(of)) }
}

func (p *progressLine) end() {
	if p.begun {
		_, _ = fmt.Fprintln(p.out)
	}
}

func inMiB(pages uint64) uint64 { return pages * uint64(os.Getpagesize()) >> 20 }
