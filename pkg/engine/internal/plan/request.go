package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Request asks what the model should see now.
type Request struct {
	Key            store.Key
	Request        txn.Request
	Turn           *int32
	SameTurn       bool
	Format         conversation.Format
	Model          string
	Budget         BudgetOverride
	Fixed          view.FixedInput
	Complete       Completion
	LastUsage      *provider.Usage
	PolicyOverride conversation.Policy
	// Override replaces settings of tool results and of messages that carry results, for what falls due in this build.
	Override *conversation.ExpirationOverride
	DryRun   bool
	// CloseOpenCalls shows calls that wait for their results with a fixed one, where the build would be refused.
	CloseOpenCalls bool
	// Check sees the answer before it is committed and may refuse it: a reply limit is its use.
	Check func(*Result) error
	// Waiting, if set, stands around each wait for a model: it calls wait, and may give back meanwhile what it holds. If it fails, so does
	// the build.
	Waiting func(wait func()) error
}

// BudgetOverride is a request's budget; nil fields are not set.
type BudgetOverride struct {
	ContextWindow, ReservedOutput, MaxContext *int32
}

// Result is what the model should see now. System and MessagesJSON are shared with the engine's cache: read only.
type Result struct {
	Turn         int32
	Manifest     conversation.Manifest // Seq 0 for a dry run
	Revision     int64
	Messages     []provider.Message // for the neutral format alone
	System       []byte             // for the others
	MessagesJSON []byte
	RequestJSON  []byte // the whole request, if it was asked for
	SHA256       [32]byte
	Blocks       int32
	Breakpoints  []int32
	Tokens       TokenReport
	Prefix       PrefixReport
	Decisions    []conversation.Decision
	Events       []conversation.Event
	Degradations []Degradation
	Compaction   CompactionStatus
	Duplicate    bool
	// CacheReadPrice is what a million tokens cost that are read from the provider's cache; nil if the model's profile has no prices.
	CacheReadPrice *float64
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

// Degradation is something that was asked for and not done. Its texts are safe: they hold nothing of the conversation.
type Degradation struct {
	Code                string // a name for programs; empty for most
	Asked, Reason, Done string
}

// TokenReport says what a context weighs.
type TokenReport struct {
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

// CompactRequest asks for a smaller view. Nil and unspecified options come from the conversation's policy.
type CompactRequest struct {
	Key          store.Key
	Request      txn.Request
	Strategy     conversation.Strategy
	KeepRecent   *int32
	TargetTokens *int32
}
