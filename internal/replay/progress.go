package replay

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

const (
	barWidth     = 30
	drawEvery    = 200 * time.Millisecond
	reportEvery  = 10 * time.Second
	clearToRight = "\x1b[K"
)

// progress tells how far a replay is: as a bar on a terminal, as a line now and
// then elsewhere.
type progress struct {
	*sheet.Sheet
	total, done    int64
	started, drawn time.Time
	lock           sync.Mutex
}

func newProgress(w io.Writer, builds int64, ascii bool) *progress {
	return &progress{Sheet: sheet.New(w, false, ascii), total: builds, started: time.Now(), drawn: time.Now()}
}

// step is called after each build.
func (p *progress) step() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.done++
	every := reportEvery
	if p.Terminal {
		every = drawEvery
	}
	if now := time.Now(); now.Sub(p.drawn) >= every {
		p.draw(now)
	}
}

func (p *progress) draw(now time.Time) {
	p.drawn = now
	if line := p.line(now.Sub(p.started)); p.Terminal {
		fmt.Fprint(p.Out, "\r"+line+clearToRight)
	} else {
		fmt.Fprintln(p.Out, line)
	}
}

func (p *progress) stop() {
	if p.Terminal {
		fmt.Fprint(p.Out, "\r"+clearToRight)
	}
}

// line says how many builds are done and how long the rest will take.
func (p *progress) line(took time.Duration) string {
	left := "?"
	if p.done > 0 {
		left = (took * time.Duration(p.total-p.done) / time.Duration(p.done)).Round(time.Second).String()
	}
	return p.Clean(fmt.Sprintf("replay %s %d of %d builds, %s left", p.Bar(p.done, p.total, barWidth, "░"), p.done, p.total, left))
}
