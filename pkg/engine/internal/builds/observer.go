package builds

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
)

// Observer is told what builds do. Its functions must not wait. The zero value is told nothing.
type Observer struct {
	// Built, if set, is told of each build that was committed: what it answered, which is read only, and how long it waited for models.
	Built func(namespace string, r *report.Result, waited time.Duration)
	// Passes, if set, is told what each pass of a build's plan did. It makes builds measure them.
	Passes func(namespace string, passes []report.Pass)
	// Step, if set, is told when a step of a build begins, and calls what it returns when the step ends.
	Step func(ctx context.Context, s Step) (inner context.Context, end func())
}

// Step names a part of a build. The set is closed.
type Step string

// The steps.
const (
	StepLoad   Step = "load"
	StepPlan   Step = "plan"
	StepWait   Step = "wait_for_model"
	StepCommit Step = "commit"
)

func (o *Observer) step(ctx context.Context, s Step) (inner context.Context, end func()) {
	if o.Step == nil {
		return ctx, func() {}
	}
	return o.Step(ctx, s)
}

func (o *Observer) built(r *plan.Request, result *report.Result, waited time.Duration) {
	if o.Built != nil && !r.DryRun && !result.Duplicate {
		o.Built(r.Key.Namespace, result, waited)
	}
}
