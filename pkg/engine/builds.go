package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Build answers what the model should see now. It begins the next turn unless the request says otherwise. A refused build
// begins no turn and commits nothing.
func (e *Engine) Build(ctx context.Context, r BuildRequest) (*BuildResult, error) {
	return e.builds.Build(ctx, r)
}

// Step puts messages on record and builds in the same commit. If either is refused, nothing is recorded.
func (e *Engine) Step(ctx context.Context, r StepRequest) (*StepResult, error) {
	return e.builds.Step(ctx, r)
}

// Compact makes a conversation's view smaller now, within the conversation's own budget. It begins no turn. It waits for the
// model for as long as a summarizer may take; other calls may use the conversation meanwhile.
func (e *Engine) Compact(ctx context.Context, r CompactRequest) (*CompactResult, error) {
	return e.builds.Compact(ctx, r)
}

// ReportUsage records what the provider counted for a build. An empty model means the model of the build. It returns the
// calibration factor now in force, and whether this report was counted: only the first report of a build is.
func (e *Engine) ReportUsage(ctx context.Context, key Key, manifest int64, model string, u Usage) (factor float64, counted bool, err error) {
	return e.builds.ReportUsage(ctx, key, manifest, model, u)
}

// Manifest rebuilds an earlier build, in its own format or in another.
func (e *Engine) Manifest(ctx context.Context, key Key, seq int64, f conversation.Format) (*ManifestResult, error) {
	return e.builds.Manifest(ctx, key, seq, f)
}

// Manifests lists the manifests whose seq is below before (0: all), newest first.
func (e *Engine) Manifests(ctx context.Context, key Key, before int64, limit int) (list []conversation.Manifest, more bool, err error) {
	return e.builds.Manifests(ctx, key, before, limit)
}

// Close ends the engine's background work and waits for it. Later calls start no background work.
func (e *Engine) Close() {
	e.builds.Close()
	e.memories.Close()
}
