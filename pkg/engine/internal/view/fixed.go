package view

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// FixedInput is what the caller sends in addition to the context.
type FixedInput struct {
	SystemPrompt string
	ToolsJSON    string
	Tokens       *int32
	RenderSystem bool // the system prompt is part of the answer, in first place
}

// fixedWeight remembers the weight of the last fixed input: agents send the same input with every build.
type fixedWeight struct {
	Hash   [32]byte
	Tokens int64
}

// Weigh counts what the caller sends in addition to the context (behaviour §12). A system prompt weighs as much as a
// message.
func (f *fixedWeight) Weigh(in FixedInput, counter tokens.Counter) int64 {
	hash := fixedHash(in)
	if hash == f.Hash {
		return f.Tokens
	}
	n := 0
	switch {
	case in.Tokens != nil:
		n = int(*in.Tokens)
	default:
		if in.SystemPrompt != "" {
			n, _ = counter.Count(in.SystemPrompt)
			n += tokens.PerMessage
		}
		tools, _ := counter.Count(in.ToolsJSON)
		n += tools
	}
	f.Hash, f.Tokens = hash, int64(n)
	return f.Tokens
}

func fixedHash(in FixedInput) [32]byte {
	h := sha256.New()
	for _, s := range []string{in.SystemPrompt, in.ToolsJSON} {
		_ = json.NewEncoder(h).Encode(len(s)) // the lengths separate adjacent texts
		h.Write([]byte(s))
	}
	if in.Tokens != nil {
		_ = json.NewEncoder(h).Encode(*in.Tokens)
	}
	return [32]byte(h.Sum(nil))
}
