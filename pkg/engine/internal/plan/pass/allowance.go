package pass

import (
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Allowance is what a build may still ask models and the memory for, and what it has learned from them, over all runs of its plan. What makes
// a build wait: a short form that is due and has no result (pass expire), a compaction without a draft (compact), and recall, which has a
// deadline of its own. For how long: max_wait of the policy, 3 s.
type Allowance struct {
	Left         time.Duration        // how long models may still be waited for
	Calls        int                  // of models that may still be waited for; erasures come on top
	Requested    []*summarize.Request // started already
	Rounds       int                  // how often summaries of spans were wanted
	ModelTried   bool                 // a model was waited for
	Draft        *drafts.Draft        // made without a model; nil for none
	Degradations []conversation.Degradation
	NotLive      []conversation.Degradation // of the summary that a model was waited for
	Recalled     *Recalled                  // nil if the memory was not asked
}

// Recalled is what the memory has answered, or why it has not.
type Recalled struct {
	Query    *RecallQuery
	Left     time.Duration // of the time that the memory may take
	Memories []conversation.RecalledMemory
	Skipped  conversation.Reason // why there are none; 0 where there are some
}

// RecallQuery is what a build asks the memory for.
type RecallQuery struct {
	Index   int32  // the message that memories are asked for
	Version uint64 // of the conversation: what is forgotten meanwhile moves it
	Text    string // of the message
	Actor   string
	Agent   string
	// Incarnation is which conversation of its id asks.
	Incarnation conversation.ID
	Scopes      []conversation.MemoryScope
	Limit       int
	Floor       float64
	MaxWait     time.Duration
}

// Wants is what a plan stops for: nobody waits while holding the conversation.
type Wants struct {
	Texts         []*summarize.Request // some are waited for, the others only begun
	BeforeErasure []*summarize.Request // all are waited for: erasures cannot be deferred, and would be left with extracts for good
	Spans         *Spans
	Recall        *RecallQuery
}

// Spans are summaries of spans that a plan wants written.
type Spans struct {
	Job          *drafts.Job
	AskModel     bool                       // a model is to write them, in the time that is left
	StoredDraft  []byte                     // what the draft's slot held
	Degradations []conversation.Degradation // that the build will tell with an extract
	NotLive      []conversation.Degradation // and with any summary of theirs
}

// WaitError ends a run of a plan that waits.
type WaitError struct{ Wants *Wants }

// Error says that nothing is wrong yet.
func (e *WaitError) Error() string { return "engine: a plan waits for models or for the memory" }

// Wanted is what a run of a plan that ended with an error waits for; nil if it does not wait.
func Wanted(err error) *Wants {
	var wait *WaitError
	if errors.As(err, &wait) {
		return wait.Wants
	}
	return nil
}

// ErrNotReady says that a model was asked and has not answered.
var ErrNotReady = errors.New("the summary was not ready in time")
