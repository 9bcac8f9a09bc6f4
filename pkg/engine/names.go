package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/usage"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The types of other packages that the engine's callers use. Callers then need not import those packages.
type (
	// Key names a conversation.
	Key = store.Key
	// Info holds the attributes of a conversation.
	Info = store.Info
	// Head is the part of a conversation that changes with every commit.
	Head = store.Head
	// Durability says which failures an acknowledged write survives.
	Durability = store.Durability
	// Conversation is a conversation without its messages.
	Conversation = txn.Conversation
	// Request makes a call safe to retry.
	Request = txn.Request
	// BuildRequest asks what the model should see now.
	BuildRequest = plan.Request
	// Completion says what a build's answer holds in addition to the context.
	Completion = completion.Options
	// RecallTools are the sidecar's own tools, as a format's requests hold them.
	RecallTools = completion.RecallTools
	// Tool is the definition of a tool.
	Tool = provider.Tool
	// StepRequest asks, in one commit, to put messages on record and then to build what the model should see.
	StepRequest = builds.StepRequest
	// StepResult is what the model should see, and the messages recorded for it.
	StepResult = builds.StepResult
	// BudgetOverride is a request's budget; nil fields are not set.
	BudgetOverride = settings.BudgetOverride
	// BuildResult is what the model should see now.
	BuildResult = report.Result
	// TokenReport says what a context weighs, in tokens.
	TokenReport = report.Tokens
	// PrefixReport compares a context with the previous build's in the same format.
	PrefixReport = report.Prefix
	// RewriteReport says what it costs that the provider must read text anew, and what is saved by it.
	RewriteReport = report.Rewrite
	// Break says what changed in the leading blocks.
	Break = report.Break
	// Degradation is something that was asked for and could not be done.
	Degradation = conversation.Degradation
	// CompactionStatus says how a view relates to its budget.
	CompactionStatus = report.CompactionStatus
	// CompactionState says how far the next summary has got.
	CompactionState = report.CompactionState
	// ModelUsage is what the sidecar's own model calls for a conversation used since the process started.
	ModelUsage = report.ModelUsage
	// BuildPass is what one pass of a build's plan did.
	BuildPass = report.Pass
	// CompactRequest asks for a smaller view.
	CompactRequest = plan.CompactRequest
	// CompactResult says what a compaction did.
	CompactResult = builds.CompactResult
	// ManifestResult is an earlier build.
	ManifestResult = builds.ManifestResult
	// SummaryInView is a summary with its text.
	SummaryInView = builds.SummaryInView
	// Usage is what a provider reported for one call.
	Usage = provider.Usage
	// FixedInput is what the caller sends in addition to the context.
	FixedInput = view.FixedInput
	// Message is a message of a neutral context.
	Message = provider.Message
)

// CheckTemplate returns what is wrong with a prompt's template; empty if nothing is.
func CheckTemplate(template string) string { return catalogue.CheckTemplate(template) }

// Names of what builds report.
const (
	CompactionIdle        = report.CompactionIdle
	CompactionPreparing   = report.CompactionPreparing
	CompactionReady       = report.CompactionReady
	BreakNone             = report.BreakNone
	BreakFirstBuild       = report.BreakFirstBuild
	BreakWindowMoved      = report.BreakWindowMoved
	BreakEdited           = report.BreakEdited
	BreakOtherCoordinates = report.BreakOtherCoordinates
	BreakTailReplaced     = report.BreakTailReplaced
	BreakPinned           = report.BreakPinned
	BreakExpired          = report.BreakExpired
	BreakRetention        = report.BreakRetention
	BreakExpanded         = report.BreakExpanded
	BreakPruned           = report.BreakPruned
	BreakSummarized       = report.BreakSummarized
	BreakRewound          = report.BreakRewound
	BreakCorrected        = report.BreakCorrected
	BreakMemory           = report.BreakMemory
	ModelUnknown          = usage.ModelUnknown
	BudgetAssumed         = usage.BudgetAssumed
	UsageJump             = usage.UsageJump
)
