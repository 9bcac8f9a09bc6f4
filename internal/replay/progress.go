package replay

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
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
	w        io.Writer
	terminal bool
	ascii    bool
	total    int64
	done     atomic.Int64
	started  time.Time
	quit     chan struct{}
	ended    sync.WaitGroup
}

func newProgress(w io.Writer, jobs []job, ascii bool) *progress {
	p := &progress{w: w, terminal: terminal.Is(w), ascii: ascii, started: time.Now(), quit: make(chan struct{})}
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
	if p.terminal {
		every = drawEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			if p.terminal {
				fmt.Fprint(p.w, "\r"+clearToRight)
			}
			return
		case <-ticker.C:
			p.draw(time.Since(p.started))
		}
	}
}

func (p *progress) draw(took time.Duration) {
	line := p.line(took)
	if p.terminal {
		fmt.Fprint(p.w, "\r"+line+clearToRight)
		return
	}
	fmt.Fprintln(p.w, line)
}

// line says how many builds are done and how long the rest will take.
func (p *progress) line(took time.Duration) string {
	done := p.done.Load()
	left := "?"
	if done > 0 {
		left = (took * time.Duration(p.total-done) / time.Duration(done)).Round(time.Second).String()
	}
	full, empty := "█", "░"
	if p.ascii {
		full, empty = "#", "."
	}
	filled := int(done * barWidth / max(1, p.total))
	return fmt.Sprintf("replay %s%s %d of %d builds, %s left",
		strings.Repeat(full, filled), strings.Repeat(empty, barWidth-filled), done, p.total, left)
}
