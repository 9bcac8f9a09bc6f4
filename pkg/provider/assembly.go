package provider

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
)

// assembleSystem joins the system blocks; nil if there are none.
func assembleSystem(t Traits, blocks []Block) []byte {
	var out []byte
	for i := range blocks {
		if !blocks[i].System {
			continue
		}
		if out == nil {
			out = append(out, t.SystemPrefix...)
		} else {
			out = append(out, ',')
		}
		out = append(out, blocks[i].JSON...)
	}
	if out == nil {
		return nil
	}
	return append(out, t.SystemSuffix...)
}

// Messages returns blocks as a JSON array of messages, independent of other blocks.
func (t Traits) Messages(blocks []Block) []byte { return assembleMessages(t, blocks) }

func assembleMessages(t Traits, blocks []Block) []byte {
	size := 2
	for i := range blocks {
		size += len(blocks[i].JSON) + len(blocks[i].Head) + len(t.ContentKey) + len(blocks[i].Role) + len(`]},{"role":"","":[`)
	}
	out := make([]byte, 0, size)
	out = append(out, '[')
	var before sender
	for i := range blocks {
		if b := &blocks[i]; !b.System {
			out = appendJoint(out, t, before, b.sender())
			out = append(out, b.JSON...)
			before = b.sender()
		}
	}
	return append(out, closing(t, before)...)
}

// sender identifies the message that a block belongs to.
type sender struct{ role, head string }

func (b *Block) sender() sender { return sender{b.Role, b.Head} }

// sameMessage reports whether a block belongs to the same message as the block before it.
func (s sender) sameMessage(before sender) bool {
	return s.role == before.role && (s.role != "system" || s.head == before.head)
}

// appendJoint appends what separates two blocks, given their senders. before is zero for the first block.
func appendJoint(dst []byte, t Traits, before, next sender) []byte {
	if !t.Merge {
		if before.role != "" {
			dst = append(dst, ',')
		}
		return dst
	}
	switch {
	case next.sameMessage(before):
		return append(dst, ',')
	case before.role != "":
		dst = append(dst, "]},"...)
	}
	dst = AppendField(dst, `{"role":`, next.role)
	dst = append(dst, ',')
	if next.head != "" {
		dst = append(append(dst, next.head...), ',')
	}
	dst = AppendString(dst, t.ContentKey)
	return append(dst, ":["...)
}

func closing(t Traits, last sender) string {
	if t.Merge && last.role != "" {
		return "]}]"
	}
	return "]"
}

// Assembly is a context joined from blocks, with the hash that identifies it: SHA-256 over system_json, one zero byte and messages_json. It
// keeps the hash state, so that appending blocks costs only what is new. It is immutable and safe for concurrent use.
type Assembly struct {
	traits Traits
	blocks []Block
	system []byte
	open   hash.Hash // over everything but the closing brackets; it is only ever cloned
	last   sender    // sender of the last block
	sum    [sha256.Size]byte
	// base is the assembly before the last block, because a fixed last block comes and goes while what precedes it stays.
	base *Assembly
}

// NewAssembly returns the assembly without blocks.
func NewAssembly(t Traits) *Assembly {
	return startAssembly(t, nil)
}

func startAssembly(t Traits, blocks []Block) *Assembly {
	a := &Assembly{traits: t, system: assembleSystem(t, blocks), open: sha256.New()}
	a.open.Write(a.system)
	a.open.Write([]byte{0, '['})
	a.sum = a.close()
	return a
}

// With returns the assembly of the blocks, which are all blocks of the context. It reuses what it has for leading blocks that are equal.
// The assembly owns the blocks from then on: nobody may modify them.
func (a *Assembly) With(blocks []Block) *Assembly {
	from := a.start(blocks)
	if len(from.blocks) == len(blocks) {
		if slices.EqualFunc(from.blocks, blocks, func(x, y Block) bool { return x.Index == y.Index && x.Tokens == y.Tokens }) {
			return from
		}
		same := *from
		same.blocks = blocks // the bytes are equal, but the blocks belong to other messages
		return &same
	}
	last := len(blocks) - 1
	if blocks[last].System {
		return from.extend(blocks) // no base, because system_json already holds the block
	}
	base := from.extend(blocks[:last:last])
	next := base.extend(blocks[:len(blocks):len(blocks)])
	base.base = nil // a chain would keep every assembly alive
	next.base = base
	return next
}

// start finds an assembly that the blocks extend.
func (a *Assembly) start(blocks []Block) *Assembly {
	for _, from := range []*Assembly{a, a.base} {
		if from == nil || CommonPrefix(from.blocks, blocks) < len(from.blocks) {
			continue
		}
		if !slices.ContainsFunc(blocks[len(from.blocks):], func(b Block) bool { return b.System }) {
			return from
		}
	}
	return startAssembly(a.traits, blocks)
}

// extend always returns a new assembly, because With modifies the base of its result.
func (a *Assembly) extend(blocks []Block) *Assembly {
	next := &Assembly{traits: a.traits, blocks: blocks, system: a.system, open: clone(a.open), last: a.last}
	var joint []byte
	for i := len(a.blocks); i < len(blocks); i++ {
		b := &blocks[i]
		if b.System {
			continue
		}
		joint = appendJoint(joint[:0], a.traits, next.last, b.sender())
		next.open.Write(joint)
		next.open.Write(b.JSON)
		next.last = b.sender()
	}
	next.sum = next.close()
	return next
}

func (a *Assembly) close() (sum [sha256.Size]byte) {
	h := clone(a.open)
	h.Write([]byte(closing(a.traits, a.last)))
	h.Sum(sum[:0])
	return sum
}

func clone(h hash.Hash) hash.Hash {
	c, err := h.(hash.Cloner).Clone() //nolint:errcheck // every hash of the standard library is a Cloner
	if err != nil {
		panic(err) // documented for hashes that wrap others; SHA-256 wraps none
	}
	return c
}

// Blocks returns the blocks of the assembly; the caller must not modify them.
func (a *Assembly) Blocks() []Block { return a.blocks }

// System returns the system_json, nil if there is none; the caller must not modify it.
func (a *Assembly) System() []byte { return a.system }

// Messages builds the messages_json; the caller owns the bytes.
func (a *Assembly) Messages() []byte { return assembleMessages(a.traits, a.blocks) }

// Sum is SHA-256 over system_json, one zero byte and messages_json.
func (a *Assembly) Sum() [sha256.Size]byte { return a.sum }

// CommonPrefix returns the number of leading blocks that two lists have in common, by role and bytes: how far a provider's prompt cache reaches.
func CommonPrefix(a, b []Block) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i].System != b[i].System || a[i].sender() != b[i].sender() || !bytes.Equal(a[i].JSON, b[i].JSON) {
			return i
		}
	}
	return n
}
