package replay

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
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
	total   int64
	done    atomic.Int64
	started time.Time
	quit    chan struct{}
	ended   sync.WaitGroup
}

func newProgress(w io.Writer, jobs []job, ascii bool) *progress {
	p := &progress{Sheet: sheet.New(w, false, ascii), started: time.Now(), quit: make(chan struct{})}
	for i := range jobs {
		for k := range jobs[i].recorded.Messages {
			if jobs[i].recorded.Asks(k) {
				p.total++
			}
		}
	}
	p.ended.Go(p.run)
	return p
}

func (p *progress) step() { p.done.Add(1) }

func (p *progress) stop() {
	close(p.quit)
	p.ended.Wait()
}

func (p *progress) run() {
	every := reportEvery
	if p.Terminal {
		every = drawEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			if p.Terminal {
				fmt.Fprint(p.Out, "\r"+clearToRight)
			}
			return
		case <-ticker.C:
			p.draw(time.Since(p.started))
		}
	}
}

func (p *progress) draw(took time.Duration) {
	if line := p.line(took); p.Terminal {
		fmt.Fprint(p.Out, "\r"+line+clearToRight)
	} else {
		fmt.Fprintln(p.Out, line)
	}
}

// line says how many builds are done and how long the rest will take.
func (p *progress) line(took time.Duration) string {
	done := p.done.Load()
	left := "?"
	if done > 0 {
		left = (took * time.Duration(p.total-done) / time.Duration(done)).Round(time.Second).String()
	}
	return p.Clean(fmt.Sprintf("replay %s %d of %d builds, %s left", p.Bar(done, p.total, barWidth, "░"), done, p.total, left))
}
