package provider

import (
	"bytes"
	"encoding/json"
	"slices"
)

// RequestShape says how a provider's request holds a context. A key is empty if the provider does not have it.
type RequestShape struct {
	System       string // key of system_json
	Instructions string // key of a system prompt that is not part of a block
	Messages     string // key of messages_json
	// Rest holds the members of every request, beginning with a comma.
	Rest string
	// CacheKey is the key of the name under which the provider finds its cache. CacheMark is the member that marks a block for the cache.
	CacheKey, CacheMark string
	// CacheLookback is how many blocks before a mark, including the marked one, the provider searches for an earlier request's mark; 0 if
	// it needs no marks.
	CacheLookback int
}

// maxCacheMarks is how many marked blocks Anthropic accepts in a request.
const maxCacheMarks = 4

// Completion holds what a request has in addition to the context.
type Completion struct {
	Instructions string
	Tools        []json.RawMessage
	CacheKey     string  // empty for none
	Marks        []int32 // blocks to mark for the cache, ascending
}

// Request writes a complete request. Apart from cache marks, the bytes of the context are unchanged.
func (a *Assembly) Request(c *Completion) []byte {
	shape := &a.traits.Request
	tools, blocks := c.Tools, a.blocks
	if shape.CacheMark != "" && len(c.Marks) > 0 {
		marked := a.markForCache(c)
		tools, blocks = marked.tools, marked.blocks
	}
	system, messages := assembleSystem(a.traits, blocks), assembleMessages(a.traits, blocks)
	out := make([]byte, 0, len(system)+len(messages)+sizeOf(tools)+len(c.Instructions)+256)
	member := func(key string) {
		if key == "" {
			return
		}
		out = append(out, ',')
		out = AppendString(out, key)
		out = append(out, ':')
	}
	if len(system) > 0 {
		member(shape.System)
		out = append(out, system...)
	}
	if c.Instructions != "" && shape.Instructions != "" {
		member(shape.Instructions)
		out = AppendString(out, c.Instructions)
	}
	member(shape.Messages)
	out = append(out, messages...)
	if len(tools) > 0 {
		member("tools")
		out = AppendArray(out, tools)
	}
	out = append(out, shape.Rest...)
	if c.CacheKey != "" && shape.CacheKey != "" {
		member(shape.CacheKey)
		out = AppendString(out, c.CacheKey)
	}
	out[0] = '{'
	return append(out, '}')
}

func sizeOf(elements []json.RawMessage) int {
	n := 2
	for _, e := range elements {
		n += len(e) + 1
	}
	return n
}

// AppendArray appends elements as one JSON array.
func AppendArray(dst []byte, elements []json.RawMessage) []byte {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e...)
	}
	return append(dst, ']')
}

// markedRequest is a request while cache marks are set.
type markedRequest struct {
	tools  []json.RawMessage
	blocks []Block
	mark   string
	left   int
}

// markForCache sets marks in the blocks from the end backward, then on the last system block, and then on the last tool: a mark that comes later
// in a request covers everything before it. The caller's own marks stay, and count.
func (a *Assembly) markForCache(c *Completion) *markedRequest {
	m := &markedRequest{tools: slices.Clone(c.Tools), blocks: slices.Clone(a.blocks), mark: a.traits.Request.CacheMark, left: maxCacheMarks}
	for _, t := range m.tools {
		if hasMember(t, "cache_control") {
			m.left--
		}
	}
	for i := range m.blocks {
		if hasMember(m.blocks[i].JSON, "cache_control") {
			m.left--
		}
	}
	for _, at := range slices.Backward(c.Marks) {
		m.markBlock(at)
	}
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if m.blocks[i].System {
			m.markBlock(int32(i))
			break
		}
	}
	if n := len(m.tools); n > 0 && m.left > 0 {
		m.tools[n-1] = m.withMark(m.tools[n-1])
	}
	return m
}

// markBlock marks a block. If the block takes no mark, as thinking, it marks the last one before it in the same part of the request that
// does.
func (m *markedRequest) markBlock(at int32) {
	for i := int(at); i >= 0 && i < len(m.blocks) && m.left > 0 && m.blocks[i].System == m.blocks[at].System; i-- {
		b := &m.blocks[i]
		if bytes.HasPrefix(b.JSON, []byte(`{"type":"thinking"`)) || bytes.HasPrefix(b.JSON, []byte(`{"type":"redacted_thinking"`)) {
			continue
		}
		b.JSON = m.withMark(b.JSON)
		return
	}
}

// withMark returns an object with the mark as its last member, or unchanged if it has one.
func (m *markedRequest) withMark(object []byte) []byte {
	object = bytes.TrimSpace(object)
	if len(object) < 2 || object[len(object)-1] != '}' || hasMember(object, "cache_control") {
		return object
	}
	m.left--
	out := append(make([]byte, 0, len(object)+len(m.mark)+1), object[:len(object)-1]...)
	if len(bytes.TrimSpace(out)) > 1 {
		out = append(out, ',')
	}
	return append(append(out, m.mark...), '}')
}

// hasMember reports whether an object has a member with a name. It only parses objects whose bytes contain the name.
func hasMember(object []byte, name string) bool {
	if !bytes.Contains(object, []byte(`"`+name+`"`)) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return false
	}
	_, ok := members[name]
	return ok
}
