package citations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// meter watches what a process takes of memory that is its own; the pages of the store's file belong to the system.
type meter struct {
	pid      int
	stop     chan struct{}
	watching sync.WaitGroup
	mu       sync.Mutex
	highest  int64
}

func newMeter(t testing.TB, pid int) *meter {
	m := &meter{pid: pid, stop: make(chan struct{})}
	if m.read() == 0 {
		t.Skip("no RssAnon in /proc: nothing can be measured here")
	}
	m.watching.Go(func() {
		for {
			select {
			case <-m.stop:
				return
			case <-time.After(2 * time.Millisecond):
				m.note(m.read())
			}
		}
	})
	t.Cleanup(func() {
		close(m.stop)
		m.watching.Wait()
	})
	return m
}

func (m *meter) note(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.highest = max(m.highest, n)
}

// peak is the most that was taken since the last peak, in MiB.
func (m *meter) peak() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.highest
	m.highest = 0
	return n >> 20
}

func (m *meter) read() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64) // 0 ends the test
			return n << 10
		}
	}
	return 0
}

// prose is a content of any length that is nowhere twice the same: numbered lines of words.
type prose struct {
	random *rand.Rand
	left   int64
	line   int64
	rest   string
	plant  map[int64]string // by line
}

func newProse(seed uint64, length int64) *prose {
	return &prose{random: rand.New(rand.NewPCG(seed, 1)), left: length}
}

// Read implements io.Reader.
func (p *prose) Read(to []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	to = to[:min(int64(len(to)), p.left)]
	n := 0
	for n < len(to) {
		if p.rest == "" {
			p.rest = p.next()
		}
		k := copy(to[n:], p.rest)
		n, p.rest = n+k, p.rest[k:]
	}
	p.left -= int64(n)
	return n, nil
}

func (p *prose) next() string {
	p.line++
	if planted, ok := p.plant[p.line]; ok {
		return planted + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "line %d:", p.line)
	for range 6 {
		b.WriteByte(' ')
		b.WriteString(word(p.random))
	}
	b.WriteByte('\n')
	return b.String()
}

// word is one of some 100,000 words, few of them frequent.
func word(r *rand.Rand) string {
	syllables := []string{"ba", "re", "to", "min", "sol", "ka", "ved", "lu", "ran", "pi", "os", "tem", "gra", "fen", "du", "ly"}
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteString(syllables[int(r.ExpFloat64()*3)%len(syllables)])
	}
	return b.String()
}

const (
	// huge is the largest content that must pass in little memory, in bytes.
	huge = 256 << 20
	// hugeBound is what the process may take meanwhile, in MiB.
	hugeBound = 128
)

// TestContent_256MiB_StreamsAndIsSearchedInLittleMemory.
func TestContent_256MiB_StreamsAndIsSearchedInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves a quarter of a gigabyte")
	}
	c, sidecar := started(t)
	memory := newMeter(t, sidecar.PID())
	const planted = "the violet heron keeps its ledger under stone 7741"
	lines := map[int64]string{100: "the first ledger is of oak and ash 1001", 4_000_000: planted}

	content, sum := newProse(1, huge), sha256.New()
	content.plant = lines
	begun := time.Now()
	reply := must[*pb.StoreContentResponse](t)(c.store(t.Context(), &pb.StoreContentHeader{ConversationId: "huge"}, io.TeeReader(content, sum)))
	handle, in := reply.GetCitation().GetContentId(), time.Since(begun)
	held(t, "streaming in", memory)

	begun = time.Now()
	back := sha256.New()
	if err := c.fetch(t.Context(), "huge", handle, 0, back); err != nil {
		t.Fatal(err)
	}
	out := time.Since(begun)
	if hex.EncodeToString(back.Sum(nil)) != hex.EncodeToString(sum.Sum(nil)) {
		t.Error("what came back is not what went in")
	}
	held(t, "streaming out", memory)

	begun = time.Now()
	found := must[[]*pb.Excerpt](t)(c.excerpts(t.Context(), "huge", handle, "violet heron ledger stone"))
	searched := time.Since(begun)
	if len(found) == 0 || !strings.Contains(found[0].GetText(), planted) {
		t.Errorf("of a line that only one content has, %d excerpts are found, and not the line", len(found))
	}
	held(t, "searching", memory)
	t.Logf("256 MiB: in %v, out %v, searched %v", in, out, searched)
}

// held demands that the process has stayed in its bound.
func held(t *testing.T, doing string, memory *meter) {
	t.Helper()
	peak := memory.peak()
	t.Logf("%s: %d MiB at most", doing, peak)
	if peak > hugeBound {
		t.Errorf("%s takes %d MiB, more than %d", doing, peak, hugeBound)
	}
}
