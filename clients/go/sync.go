package palimpsest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// prefix is the part of a list that the sidecar has seen.
type prefix struct {
	count int
	hash  string
}

// Sync brings the record up to a whole list of messages, an array in a
// provider's form, and returns the body of the model's call: what the model
// should see of it. Where the list differs from the record it fails with
// HISTORY_DIVERGED; with rewind, the record is taken back to there. Tools that
// recall are not added: whoever keeps the list offers them (Tools), and answers
// them by Recall.
func (c *Conversation) Sync(ctx context.Context, format Format, messages json.RawMessage, rewind bool, r Request) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(messages, &elements); err != nil {
		return nil, fmt.Errorf("palimpsest: the messages are no JSON array: %w", err)
	}
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	seen := c.known[format]
	if seen.count > len(elements) || seen.count > 0 && chain(elements[:seen.count]) != seen.hash {
		seen = prefix{}
	}
	if r.System == "" && leadsWithSystem(elements) { // the prompt is on no record, and has to be sent each time
		seen = prefix{}
	}
	body, err := c.syncFrom(ctx, format, elements, seen, rewind, r)
	if ReasonOf(err) == pb.ErrorReason_ERROR_REASON_HISTORY_PREFIX_UNKNOWN {
		body, err = c.syncFrom(ctx, format, elements, prefix{}, rewind, r)
	}
	if err != nil {
		return nil, err
	}
	history := c.built.GetHistory()
	c.id = cmp.Or(history.GetConversationId(), c.id)
	clear(c.recalled) // it came with the list
	c.known[format] = prefix{int(history.GetKnownCount()), history.GetKnownSha256()}
	return body, nil
}

func leadsWithSystem(elements []json.RawMessage) bool {
	var first struct {
		Role string `json:"role"`
	}
	return len(elements) > 0 && json.Unmarshal(elements[0], &first) == nil && (first.Role == "system" || first.Role == "developer")
}

func (c *Conversation) syncFrom(
	ctx context.Context, format Format, elements []json.RawMessage, seen prefix, rewind bool, r Request,
) (json.RawMessage, error) {
	// The bytes are those that the sidecar's hash is over.
	rest := slices.Concat([]byte("["), bytes.Join(asBytes(elements[seen.count:]), []byte(",")), []byte("]"))
	input, err := inputOf(format, rest, pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_HISTORY)
	if err != nil {
		return nil, err
	}
	input.Model = r.Model
	input.History = &pb.HistoryOptions{KnownCount: int32(seen.count), KnownSha256: seen.hash}
	if rewind {
		input.History.OnDivergence = pb.OnDivergence_ON_DIVERGENCE_REWIND
	}
	if r.Anew {
		input.History.OnDivergence = pb.OnDivergence_ON_DIVERGENCE_NEW
	}
	compose := func() *pb.BuildContextRequest {
		built := r.build(c.opened, format)
		built.Append = &pb.BuildAppend{ProviderInput: input}
		return built
	}
	return c.bodyOf(ctx, format, r, compose, func() int { return 0 })
}

func asBytes(elements []json.RawMessage) [][]byte {
	out := make([][]byte, len(elements))
	for i, element := range elements {
		out[i] = element
	}
	return out
}

// chain is the hash over the elements of a list, as the sidecar knows it by.
func chain(elements []json.RawMessage) string {
	var state [sha256.Size]byte
	for _, element := range elements {
		state = sha256.Sum256(append(state[:], element...))
	}
	return hex.EncodeToString(state[:])
}
