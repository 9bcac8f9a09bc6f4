package builds

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// StepRequest asks for messages to be put on record and for what the model should see then, in one commit.
type StepRequest struct {
	Build plan.Request
	// Append has the key and the request id of the build, whatever it says itself.
	Append appends.AppendRequest
	// Check sees the answer before it is committed, and may refuse it. It takes the place of the build's.
	Check func(*StepResult) error
}

// StepResult is what the model should see, and what was put on record for it.
type StepResult struct {
	*report.Result
	Appended *appends.AppendResult // nil for a dry run
}

// step is one call over its attempts.
type step struct {
	service  *Service
	pending  *appends.Pending
	appended *appends.AppendResult
	repeated bool // the request was answered before
}

// Step puts messages on record and builds, in one commit: if either is refused, nothing is on record. It waits for no model: an answer that
// comes late would come with what the agent has waited for.
func (b *Service) Step(ctx context.Context, r StepRequest) (*StepResult, error) {
	r.Append.Key, r.Append.Request = r.Build.Key, r.Build.Request
	if r.Build.LastUsage == nil {
		r.Build.LastUsage = r.Append.Usage
	}
	r.Append.Usage = nil
	r.Build.ByPlace = r.Append.History != nil && r.Append.History.ByPlace && !r.Build.DryRun
	var out *StepResult
	err := b.Appends.WithSuccessors(ctx, r.Append, r.Build.DryRun, func(a appends.AppendRequest) (err error) {
		own := r
		own.Append, own.Build.Key = a, a.Key
		out, err = b.stepOn(ctx, own)
		return err
	})
	return out, err
}

// stepOn is a step on the conversation that the request names.
func (b *Service) stepOn(ctx context.Context, r StepRequest) (*StepResult, error) {
	s := &step{service: b, pending: b.Appends.Begin(r.Append, r.Build.DryRun)}
	defer s.pending.Close(ctx)
	r.Build.Check = nil
	if r.Check != nil {
		r.Build.Check = func(result *report.Result) error { return r.Check(s.answer(result)) }
	}
	result, err := b.run(ctx, &r.Build, &waits{around: r.Build.Waiting, begun: true}, s.attempt)
	if err != nil {
		return nil, s.refused(err)
	}
	return s.answer(result), nil
}

// answer joins both halves.
func (s *step) answer(result *report.Result) *StepResult {
	if a := s.appended; result.ByPlace && a != nil && a.History != nil && a.History.View == nil {
		a.History.View = piecesOf(s.service.Views.Formats[result.Manifest.Format].Traits(), result, a.History)
	}
	return &StepResult{Result: result, Appended: s.appended}
}

// refused says of a failure that nothing was appended, unless something may have been.
func (s *step) refused(err error) error {
	var domain *conversation.Error
	if s.repeated || s.pending.MayStand() || !errors.As(err, &domain) {
		return err
	}
	told := *domain
	told.NothingAppended = true
	return &told
}

// attempt is one try.
func (s *step) attempt(ctx context.Context, r *plan.Request, wait *waits) (*report.Result, error) {
	w, snap, err := s.service.load(ctx, r)
	if isAbsent(err) {
		return s.attemptFirst(ctx, r, wait, err)
	}
	if err != nil {
		return nil, err
	}
	result, committed, err := s.stepIn(ctx, w, snap, r, wait)
	if !committed && !errors.Is(err, store.ErrConflict) {
		s.service.Views.Release(w)
	}
	return result, err
}

// isAbsent says that there is no conversation now.
func isAbsent(err error) bool {
	kind := conversation.Internal
	if err != nil {
		kind = conversation.KindOf(err)
	}
	return kind == conversation.ConversationNotFound || kind == conversation.ConversationDeleted
}

// attemptFirst is a try at a conversation that the messages create. Without messages, absent says why there is nothing to build.
func (s *step) attemptFirst(ctx context.Context, r *plan.Request, wait *waits, absent error) (*report.Result, error) {
	snap, err := s.pending.Open(ctx)
	if err != nil {
		return nil, err
	}
	first, err := s.pending.Plan(ctx, snap)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, absent
	}
	if r, err = s.withSystem(ctx, snap, r); err != nil {
		return nil, err
	}
	result, _, err := s.buildAfter(ctx, view.New(r.Key, snap), first, r, wait)
	return result, err
}

func (s *step) stepIn(ctx context.Context, w *view.Loaded, snap *store.Snapshot, r *plan.Request, wait *waits) (result *report.Result, committed bool, err error) {
	before, err := s.service.Txn.Recall(snap, r.Request)
	if err != nil {
		return nil, false, err
	}
	given := r.Fixed.SystemPrompt
	if r, err = s.withSystem(ctx, snap, r); err != nil {
		return nil, false, err
	}
	if before != nil {
		result, err = s.repeat(ctx, w, before, r)
		return result, false, err
	}
	if err := s.pending.CheckFormer(ctx, &snap.Head); err != nil {
		return nil, false, err
	}
	first, err := s.pending.Plan(ctx, snap)
	if err != nil {
		return nil, false, err
	}
	if given == "" && s.pending.LacksSystem() { // nobody remembers it
		return nil, false, conversation.Errorf(conversation.HistoryPrefixUnknown, "the list's system prompt was left out with its first elements: send the whole list")
	}
	return s.buildAfter(ctx, w, first, r, wait)
}

// withSystem is the request with the system prompt that comes with a whole list, if it has none of its own.
func (s *step) withSystem(ctx context.Context, snap *store.Snapshot, r *plan.Request) (*plan.Request, error) {
	if r.Fixed.SystemPrompt != "" {
		return r, nil
	}
	system, err := s.pending.System(ctx, snap)
	if err != nil {
		return nil, err
	}
	out := *r
	out.Fixed.SystemPrompt = system
	return &out, nil
}

// repeat answers a retry with the first outcome.
func (s *step) repeat(ctx context.Context, w *view.Loaded, o *store.Outcome, r *plan.Request) (result *report.Result, err error) {
	s.repeated = true
	if s.appended, err = s.pending.Repeat(ctx, o); err != nil {
		return nil, err
	}
	return s.service.repeatBuild(ctx, w, o, r)
}

// buildAfter builds on what is to be appended, in a window that stays as it is.
func (s *step) buildAfter(ctx context.Context, w *view.Loaded, first *store.Change, r *plan.Request, wait *waits) (result *report.Result, committed bool, err error) {
	g := &ground{stored: &w.Head, window: w, first: first}
	if first != nil {
		g.window = w.WithPending(first, s.pending.Texts())
	}
	g.appended = func(result *report.Result) {
		out := s.pending.Result(result.Revision)
		result.Events = slices.Concat(out.Events, result.Events)
		if s.appended = out; r.DryRun {
			s.appended = nil
		}
	}
	result, committed, err = s.service.buildOn(ctx, g, r, wait)
	if committed || errors.Is(err, store.ErrOutcomeUnknown) {
		s.pending.Committed(err)
	}
	return result, committed, err
}

// joined is one change of both, which a retry finds.
func joined(first, second *store.Change) *store.Change {
	c := txn.Join(first, second)
	if o := second.Outcome; o != nil {
		whole := *o
		whole.FirstIndex, whole.Count = first.Head.Messages-int32(len(first.Messages)), int32(len(first.Messages))
		if appended := first.Outcome; appended != nil {
			whole.Matched, whole.Rewound, whole.Removed = appended.Matched, appended.Rewound, appended.Removed
		}
		c.Outcome = &whole
	}
	return c
}
