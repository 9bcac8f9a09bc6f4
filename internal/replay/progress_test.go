package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func TestProgress_Line_SaysWhatIsLeft(t *testing.T) {
	p := &progress{Sheet: &sheet.Sheet{ASCII: true}, total: 100, drawn: time.Now()}
	if got := p.line(time.Second); !strings.Contains(got, "0 of 100 builds, ? left") {
		t.Error(got)
	}
	for range 25 {
		p.step()
	}
	if got := p.line(10 * time.Second); !strings.Contains(got, "#######....") || !strings.Contains(got, "25 of 100 builds, 30s left") {
		t.Error(got)
	}
}

func TestProgress_NoTerminal_WritesLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, 0, true)
	p.draw(time.Now())
	p.stop()
	if got := b.String(); !strings.HasSuffix(got, "left\n") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
