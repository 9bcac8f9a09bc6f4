package conversation

import (
	"hash/fnv"
	"strconv"
	"time"
)

// Policy says how a conversation's view is kept. A nil field is not set: it comes from the next policy in line (request,
// conversation, server default).
type Policy struct {
	Fit FitPolicy
	TTL *time.Duration // 0 switches it off
}

// FitPolicy keeps a view inside its budget.
type FitPolicy struct {
	MaxContextTokens     *int32
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	TargetPercent        *int32 // of the budget: where a cut of the window aims
	MaxResultPercent     *int32 // of the budget: the most one tool result may take when it first enters a view
}

// The defaults of behaviour §14.
const (
	DefaultContextWindow    = 128_000
	DefaultReservedOutput   = 16_384
	DefaultTargetPercent    = 50
	DefaultMaxResultPercent = 25
)

// Or returns the policy with what is not set taken from next, field by field.
func (p Policy) Or(next Policy) Policy {
	return Policy{
		Fit: FitPolicy{
			MaxContextTokens:     either(p.Fit.MaxContextTokens, next.Fit.MaxContextTokens),
			ContextWindowTokens:  either(p.Fit.ContextWindowTokens, next.Fit.ContextWindowTokens),
			ReservedOutputTokens: either(p.Fit.ReservedOutputTokens, next.Fit.ReservedOutputTokens),
			TargetPercent:        either(p.Fit.TargetPercent, next.Fit.TargetPercent),
			MaxResultPercent:     either(p.Fit.MaxResultPercent, next.Fit.MaxResultPercent),
		},
		TTL: either(p.TTL, next.TTL),
	}
}

// Hash is 16 hexadecimal digits that differ where the policy differs.
func (p Policy) Hash() string {
	h := fnv.New64a()
	for _, v := range []*int32{p.Fit.MaxContextTokens, p.Fit.ContextWindowTokens, p.Fit.ReservedOutputTokens,
		p.Fit.TargetPercent, p.Fit.MaxResultPercent} {
		writeSetting(h.Write, v)
	}
	writeSetting(h.Write, p.TTL)
	s := strconv.FormatUint(h.Sum64(), 16)
	return "0000000000000000"[len(s):] + s
}

func writeSetting[T ~int32 | ~int64](write func([]byte) (int, error), v *T) {
	if v == nil {
		_, _ = write([]byte{'-', ';'})
		return
	}
	_, _ = write(append(strconv.AppendInt(nil, int64(*v), 10), ';'))
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// Budget is the room of one build.
type Budget struct {
	ContextWindow  int64
	ReservedOutput int64
	MaxContext     int64 // 0: no limit of its own
}

// Tokens is B: min(max context, window - reserved output).
func (b Budget) Tokens() int64 {
	room := b.ContextWindow - b.ReservedOutput
	if b.MaxContext > 0 && b.MaxContext < room {
		return b.MaxContext
	}
	return room
}

// ModelProfile is what is known of a model. Nil means not set.
type ModelProfile struct {
	Model                string
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	Counter              string
	Factor               *float64
	MediaTokens          *int32
	InputPrice           *float64 // per million tokens, as the others
	CacheReadPrice       *float64
	CacheWritePrice      *float64
	OutputPrice          *float64
}
