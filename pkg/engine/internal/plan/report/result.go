// Package report says what a build answers: the context, why messages are not shown as they were appended, what was saved by what, and how the
// context stands to the one before it.
package report

import (
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is what the model should see now. System and MessagesJSON are shared with the engine's cache: read only.
type Result struct {
	Turn         int32
	Manifest     conversation.Manifest // Seq 0 for a dry run
	Revision     int64
	Messages     []provider.Message // for the neutral format alone
	System       []byte             // for the others
	MessagesJSON []byte
	RequestJSON  []byte // the whole request, if it was asked for
	ByPlace      bool   // Shown was asked for, in place of MessagesJSON and RequestJSON
	Shown        []view.Shown
	SHA256       [32]byte
	Blocks       int32
	Breakpoints  []int32
	Tokens       Tokens
	Prefix       Prefix
	Decisions    []conversation.Decision
	Events       []conversation.Event
	Degradations []conversation.Degradation
	Compaction   CompactionStatus
	Duplicate    bool
	// CacheReadPrice is what a million tokens cost that are read from the provider's cache; nil if the model's profile has no prices.
	CacheReadPrice *float64
	Passes         []Pass // if they were asked for
}

// Pass is what one pass of a build's plan did.
type Pass struct {
	Name   string
	Took   time.Duration
	Edits  int   // that it made
	Notes  int   // degradations, deferred edits and events that it added
	Start  int32 // of the window, behind it
	Tokens int64 // of the context behind it, by the sidecar's count
}

// CompactionState says how far the next summary is. The numbers are those of the API.
type CompactionState int8

// The states.
const (
	CompactionIdle CompactionState = iota
	CompactionPreparing
	CompactionReady
)

// CompactionStatus says how a view stands to its budget.
type CompactionStatus struct {
	Used     int64 // tokens, times the factor
	Reported bool  // Used rests on a usage report
	State    CompactionState
	Summary  int64 // the newest in the context; 0 for none
	OwnCalls ModelUsage
}

// ModelUsage is what the sidecar's own model calls for a conversation took since the process started.
type ModelUsage struct {
	Calls  int64
	Tokens conversation.CallTokens
	Cost   float64
}

// Tokens says what a context weighs.
type Tokens struct {
	Fixed, Messages, Total, Budget int64
	Summaries                      int64 // among Messages
	Memories                       int64 // among Messages: what was recalled of other conversations
	SavedByClipping, SavedByFit    int64
	SavedByExpiry                  int64
	SavedByRetention               int64
	SavedByPruning                 int64
	SavedByCiting                  int64
	SavedByDeduplication           int64
	SavedByCompaction              int64
	Counter                        string
	Factor                         float64
	Estimated                      bool
}

// SetContext puts the context into the answer, in the shape of its format.
func (r *Result) SetContext(f conversation.Format, out *view.Composition, a *provider.Assembly) {
	earlier := int32(0)
	if f == r.Manifest.Format {
		earlier = r.Manifest.EarlierEnd
	}
	r.SHA256, r.Blocks, r.Breakpoints = a.Sum(), int32(len(a.Blocks())), out.Breakpoints(earlier)
	if f == conversation.FormatNeutral {
		r.Messages = out.Messages
		return
	}
	r.setMessages(a)
}

func (r *Result) setMessages(a *provider.Assembly) {
	if r.System = a.System(); !r.ByPlace {
		r.MessagesJSON = a.Messages()
	}
}

// AddSystemPrompt puts the system prompt before everything else in the answer, if there is one, and returns the context
// with it. Nothing else of the build knows of it: it is weighed as fixed input, and the manifest, which cannot bring it back, is of what the
// record gives.
func (r *Result) AddSystemPrompt(f provider.Format, prompt provider.UnitBlocks, out *view.Composition, a *provider.Assembly) *provider.Assembly {
	if len(prompt.Blocks) == 0 {
		return a
	}
	assembly := provider.NewAssembly(f.Traits()).With(slices.Concat(prompt.Blocks, out.Blocks))
	r.SHA256, r.Blocks = assembly.Sum(), int32(len(assembly.Blocks()))
	if r.Prefix.PreviousBlocks > 0 { // whether it is the same is what FixedInputChanged says
		r.Prefix.StableBlocks++
		r.Prefix.PreviousBlocks++
	}
	for i := range r.Breakpoints {
		r.Breakpoints[i]++
	}
	if out.Lead == 0 { // else a breakpoint stands behind the system messages, and the prompt is the first of them
		r.Breakpoints = slices.Insert(r.Breakpoints, 0, 0)
	}
	if f.Format() == conversation.FormatNeutral {
		for i := range prompt.Messages {
			prompt.Messages[i].Synthetic, prompt.Messages[i].Tokens = systemPromptOrigin, 0
		}
		r.Messages = slices.Concat(prompt.Messages, r.Messages)
		return assembly
	}
	r.setMessages(assembly)
	return assembly
}
