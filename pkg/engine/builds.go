package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Build begins the next turn, unless the request says otherwise, and answers what the model should see now. A refused build
// begins nothing and commits nothing.
func (e *Engine) Build(ctx context.Context, r BuildRequest) (*BuildResult, error) {
	return e.builds.Build(ctx, r)
}

// Step puts messages on record and builds, in one commit: if either is refused, nothing is on record.
func (e *Engine) Step(ctx context.Context, r StepRequest) (*StepResult, error) {
	return e.builds.Step(ctx, r)
}

// Compact makes a conversation's view smaller now, at its own budget. It begins no turn. It waits for a model as long as
// summarizers may take, while nobody is kept from the conversation.
func (e *Engine) Compact(ctx context.Context, r CompactRequest) (*CompactResult, error) {
	return e.builds.Compact(ctx, r)
}

// ReportUsage tells what the provider counted for a build. An empty model is the build's. It returns the factor in force, and
// whether the report counts: at most one does for a build.
func (e *Engine) ReportUsage(ctx context.Context, key Key, manifest int64, model string, u Usage) (factor float64, counted bool, err error) {
	return e.builds.ReportUsage(ctx, key, manifest, model, u)
}

// Manifest rebuilds an earlier build, in its own format or in another.
func (e *Engine) Manifest(ctx context.Context, key Key, seq int64, f conversation.Format) (*ManifestResult, error) {
	return e.builds.Manifest(ctx, key, seq, f)
}

// Manifests lists the manifests with a seq below before (0: all), newest first.
func (e *Engine) Manifests(ctx context.Context, key Key, before int64, limit int) (list []conversation.Manifest, more bool, err error) {
	return e.builds.Manifests(ctx, key, before, limit)
}

// Close ends the background work of the engine and waits for it. Calls that still come begin none.
func (e *Engine) Close() {
	e.builds.Close()
	e.memories.Close()
}
