package admission

import (
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/exportformat"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

const (
	// What an import takes that is not counted by the line: its buffer, its state, and what it gathers until it is written.
	bytesOfImport = 16 << 20

	// What a line takes until its record is staged: as it is, its texts, and what is written of them.
	copiesOfLine = 3
	// And each of its elements, as it is read, as it is kept and as it is checked.
	bytesOfLineElement = 512

	// Lines up to this cost wait for no others.
	smallLineCost = 64 << 10
)

// imports bounds what imports take. A line's size is not known before it ends, so that those who gather a long one take turns: each
// has room for the longest, and for the requests that bring it.
type imports struct {
	atOnce  *semaphore.Weighted
	gather  *semaphore.Weighted
	lines   *lane
	longest int // bytes of a line
}

func newImports(memoryLimit int64) imports {
	longest := min(max(memoryLimit/8, 4<<20), exportformat.MaxLineBytes)
	return imports{
		atOnce:  semaphore.NewWeighted(max(memoryLimit/bytesOfImport, 2)),
		gather:  semaphore.NewWeighted(max(memoryLimit/(16*longest), 1)),
		lines:   newLargeLane(max(memoryLimit/8, smallLineCost)),
		longest: int(longest),
	}
}

// LineMemory is the memory that the lines of one import may take.
type LineMemory struct {
	exchange  *Exchange
	gathering bool
	decoded   *grant
}

// Longest implements exportformat.Memory.
func (m *LineMemory) Longest() int { return m.exchange.admission.imports.longest }

// Gather implements exportformat.Memory.
func (m *LineMemory) Gather() error {
	if err := m.exchange.admission.wait(m.exchange.ctx, m.exchange.admission.imports.gather, 1); err != nil {
		return err
	}
	m.gathering, m.exchange.due = true, time.Now().Add(maxReceiveTime)
	return nil
}

// Decode implements exportformat.Memory.
func (m *LineMemory) Decode(size, elements int) (err error) {
	if elements > maxElements {
		return rules.Violation("chunk", "has a line of more than %s elements", rules.Grouped(maxElements))
	}
	cost := copiesOfLine*int64(size) + bytesOfLineElement*int64(elements)
	if cost > smallLineCost {
		m.decoded, err = m.exchange.admission.take(m.exchange.ctx, m.exchange.admission.imports.lines, cost)
	}
	return err
}

// Release implements exportformat.Memory.
func (m *LineMemory) Release() {
	if m.gathering {
		m.gathering, m.exchange.due = false, time.Time{}
		m.exchange.admission.imports.gather.Release(1)
	}
	if m.decoded != nil {
		m.decoded.release()
		m.decoded = nil
	}
}

// AdmitImport admits an import as a whole, and what its lines take.
func (e *Exchange) AdmitImport() (lines *LineMemory, done func(), err error) {
	atOnce := e.admission.imports.atOnce
	if err := e.admission.wait(e.ctx, atOnce, 1); err != nil {
		return nil, nil, err
	}
	lines = &LineMemory{exchange: e}
	return lines, func() { lines.Release(); atOnce.Release(1) }, nil
}
