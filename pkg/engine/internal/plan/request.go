package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
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
	Budget         settings.BudgetOverride
	Fixed          view.FixedInput
	Complete       completion.Options
	LastUsage      *provider.Usage
	PolicyOverride conversation.Policy
	// Override replaces settings of tool results and of messages that carry results, for what falls due in this build.
	Override *conversation.ExpirationOverride
	DryRun   bool
	// Passes asks for what each pass did.
	Passes bool
	// ByPlace asks for what is shown of which message, in place of the context's JSON.
	ByPlace bool
	// CloseOpenCalls shows calls that wait for their results with a fixed one, where the build would be refused.
	CloseOpenCalls bool
	// Check sees the answer before it is committed and may refuse it: a reply limit is its use.
	Check func(*report.Result) error
	// Waiting, if set, stands around each wait for a model: it calls wait, and may give back meanwhile what it holds. If it fails, so does
	// the build.
	Waiting func(wait func()) error
}

// CompactRequest asks for a smaller view. Nil and unspecified options come from the conversation's policy.
type CompactRequest struct {
	Key          store.Key
	Request      txn.Request
	Strategy     conversation.Strategy
	KeepRecent   *int32
	TargetTokens *int32
}
