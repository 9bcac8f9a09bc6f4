package engine

import (
	"context"
	"sync/atomic"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
)

// What an operator sees of an engine.
type (
	// Observer is told what builds do.
	Observer = builds.Observer
	// BuildStep names a part of a build.
	BuildStep = builds.Step
	// CacheStats says what a cache holds, in bytes, and what it was asked since it was made.
	CacheStats = bytecache.Stats
)

// The steps of a build.
const (
	StepLoad   = builds.StepLoad
	StepPlan   = builds.StepPlan
	StepWait   = builds.StepWait
	StepCommit = builds.StepCommit
)

// Stats is how an engine is at a moment.
type Stats struct {
	Windows, Contents CacheStats
	Sweeps            SweepStats
}

// SweepStats counts, since the engine was made, runs of the sweeper, tasks that were due, and tasks that failed.
type SweepStats struct{ Runs, Tasks, Failures int64 }

type sweepCounts struct{ runs, tasks, failures atomic.Int64 }

// Stats says how the engine is. It waits for nothing.
func (e *Engine) Stats() Stats {
	return Stats{
		Windows: e.views.Cache.Stats(), Contents: e.contents.Cache.Stats(),
		Sweeps: SweepStats{Runs: e.sweeps.runs.Load(), Tasks: e.sweeps.tasks.Load(), Failures: e.sweeps.failures.Load()},
	}
}

// ModelCost is what a call of a model costs, in the currency of its profile in a namespace; priced is false if that has no prices.
func (e *Engine) ModelCost(ctx context.Context, namespace, model string, took conversation.CallTokens) (cost float64, priced bool, err error) {
	return e.builds.ModelCost(ctx, namespace, model, took)
}
