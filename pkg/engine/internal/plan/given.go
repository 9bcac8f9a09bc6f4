package plan

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Input is what a build is decided on, as it comes.
type Input struct {
	Request   *Request
	View      *view.Loaded
	Format    provider.Format
	Counter   tokens.Counter
	Known     *catalogue.Entries
	Defaults  conversation.Policy // the server's
	Summaries pass.ReadySummaries
	Now       time.Time
	Clock     func() time.Time // times the passes, if what each does is wanted; nil otherwise
	Recalls   bool             // there is a memory across conversations
	// RecallTools are the sidecar's own tools; nil for none.
	RecallTools completion.RecallTools
}

// New gets everything together that a build is decided on, but for the build before it and for what it may wait for.
func New(in *Input) (*pass.Given, error) {
	w, r := in.View, in.Request
	turn, err := NextTurn(w.Head.Turn, r)
	if err != nil {
		return nil, err
	}
	s, err := settings.Resolve(&settings.Input{
		Loaded: w, Model: r.Model, Budget: r.Budget, Policy: r.PolicyOverride, Override: r.Override,
		Defaults: in.Defaults, Counter: in.Counter, Known: in.Known,
	})
	if err != nil {
		return nil, err
	}
	complete, err := in.completion(s.Policy)
	if err != nil {
		return nil, err
	}
	kept := conversation.Kept{LeadingSystem: w.Head.LeadingSystem, Pins: w.Head.Pins}
	return &pass.Given{
		Composer: view.NewComposer(w, kept, in.Format, r.Model, in.Counter), Settings: s, Summaries: in.Summaries,
		Turn: turn, NewTurn: turn > w.Head.Turn, DryRun: r.DryRun, CloseOpenCalls: r.CloseOpenCalls, Now: in.Now, Clock: in.Clock,
		Fixed: w.Fixed.Weigh(complete.Fixed, in.Counter), Completion: complete, Recalls: in.Recalls,
	}, nil
}

// completion is what completes a request of these settings.
func (in *Input) completion(policy conversation.Policy) (*completion.Completion, error) {
	return completion.New(&completion.Input{
		Options: in.Request.Complete, Fixed: in.Request.Fixed, Format: in.Format, Model: in.Request.Model, Counter: in.Counter, RecallTools: in.RecallTools,
		Memory: in.Recalls && conversation.ValueOr(policy.Memory.On, false), Incarnation: in.View.Head.Incarnation,
	})
}
