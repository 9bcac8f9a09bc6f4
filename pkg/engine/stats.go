package engine

import (
	"context"
	"sync/atomic"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
)

// The types that show an operator the state of an engine.
type (
	// Observer is told about builds.
	Observer = builds.Observer
	// BuildStep names a part of a builds.
	BuildStep = builds.Step
	// CacheStats says how many bytes a cache holds, and how often it was asked since it was made.
	CacheStats = bytecache.Stats
)

// The steps of a build.
const (
	StepLoad   = builds.StepLoad
	StepPlan   = builds.StepPlan
	StepWait   = builds.StepWait
	StepCommit = builds.StepCommit
)

// Stats is the state of an engine at one time.
type Stats struct {
	Windows, Contents CacheStats
	Sweeps            SweepStats
}

// SweepStats counts since the engine was made: runs of the sweeper, tasks that were due, and tasks that failed.
type SweepStats struct{ Runs, Tasks, Failures int64 }

type sweepCounts struct{ runs, tasks, failures atomic.Int64 }

// Stats returns the state of the engine. It does not block.
func (e *Engine) Stats() Stats {
	return Stats{
		Windows: e.views.Cache.Stats(), Contents: e.contents.Cache.Stats(),
		Sweeps: SweepStats{Runs: e.sweeps.runs.Load(), Tasks: e.sweeps.tasks.Load(), Failures: e.sweeps.failures.Load()},
	}
}

// ModelCost is the cost of a model call, in the currency of the model's profile in a namespace. priced is false if the profile has
// no prices.
func (e *Engine) ModelCost(ctx context.Context, namespace, model string, took conversation.CallTokens) (cost float64, priced bool, err error) {
	return e.builds.ModelCost(ctx, namespace, model, took)
}
