package memories

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// leastWords is how many words a query must have to be searched for.
	leastWords = 2
	// lateFor is how long a search may go on after its caller stopped waiting: what it loads helps the next search.
	lateFor = 10 * time.Second
	// breakerFailures is the number of failures in a row after which builds stop asking the memory for breakerPause.
	breakerFailures = 5
	breakerPause    = 30 * time.Second
)

// newBreaker returns the circuit breaker that stops builds from asking a failing memory.
func newBreaker() *gobreaker.CircuitBreaker[[]memory.Memory] {
	return gobreaker.NewCircuitBreaker[[]memory.Memory](gobreaker.Settings{
		Timeout:     breakerPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
	})
}

// answer is the outcome of the search of one scope.
type answer struct {
	found []memory.Memory
	err   error
}

// Recall searches all scopes at once for what other conversations said about a user's message, within the query's time. If it returns
// nothing, the reason says why.
func (s *Service) Recall(ctx context.Context, key store.Key, q *pass.RecallQuery) ([]conversation.RecalledMemory, conversation.Reason) {
	now := s.Txn.Now()
	scopes := recallScopes(key, q)
	switch {
	case len(scopes) == 0:
		return nil, conversation.ReasonMemoryNoActor
	case search.NewQuery(q.Text).ContentWords() < leastWords:
		return nil, conversation.ReasonMemoryQueryEmpty
	case s.searches.breaker.State() == gobreaker.StateOpen:
		return nil, conversation.ReasonMemoryUnavailable
	}
	late := conversation.ReasonMemoryDeadline
	if indexed, ok := s.Target.(memory.Indexed); ok && slices.ContainsFunc(scopes, indexed.Cold) {
		late = conversation.ReasonMemoryIndexCold
	}
	answers := make(chan answer, len(scopes))
	for _, scope := range scopes {
		s.worker.runBeside(func(closing context.Context) { answers <- s.searches.scope(ctx, closing, scope, key, q, now) })
	}
	timer := time.NewTimer(q.MaxWait)
	defer timer.Stop()
	var found []memory.Memory
	reason := conversation.ReasonMemoryBelowFloor
	for range scopes {
		select {
		case a := <-answers:
			found = append(found, a.found...)
			reason = max(reason, reasonOf(a.err))
		case <-timer.C:
			return answerOf(found, late)
		case <-ctx.Done():
			return nil, conversation.ReasonMemoryDeadline
		}
	}
	return answerOf(found, reason)
}

// searches are what builds ask of the target, as long as it answers.
type searches struct {
	target  memory.Target
	breaker *gobreaker.CircuitBreaker[[]memory.Memory]
}

// scope searches one scope. After its caller stopped waiting, it goes on for a while, but not after closing is done.
func (s *searches) scope(ctx, closing context.Context, scope memory.Scope, key store.Key, q *pass.RecallQuery, now time.Time) (a answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateFor)
	defer cancel()
	defer context.AfterFunc(closing, cancel)()
	a.found, a.err = s.breaker.Execute(func() (found []memory.Memory, err error) {
		query := memory.Query{Text: q.Text, Limit: q.Limit, Floor: q.Floor, Now: now}
		if scope.Kind != memory.ScopeSession { // in the conversation's own scope, what is already in view is left out later
			query.Except = key.Conversation
		}
		err = txn.Guard(func() (err error) {
			found, err = s.target.Search(ctx, scope, &query)
			return err
		})
		return found, err
	})
	return a
}

func recallScopes(key store.Key, q *pass.RecallQuery) (out []memory.Scope) {
	info := &store.Info{ActorID: q.Actor, AgentID: q.Agent}
	for _, kind := range q.Scopes {
		if scope, err := scopeIn(key, q.Incarnation, info, memory.ScopeKind(kind)); err == nil {
			out = append(out, scope)
		}
	}
	return out
}

func reasonOf(err error) conversation.Reason {
	switch {
	case err == nil:
		return conversation.ReasonMemoryBelowFloor
	case errors.Is(err, context.DeadlineExceeded):
		return conversation.ReasonMemoryDeadline
	default:
		return conversation.ReasonMemoryUnavailable
	}
}

// answerOf returns the memories found, best first, or the reason why there are none.
func answerOf(found []memory.Memory, reason conversation.Reason) ([]conversation.RecalledMemory, conversation.Reason) {
	if len(found) == 0 {
		return nil, reason
	}
	byScore(found)
	out := make([]conversation.RecalledMemory, len(found))
	for i := range found {
		out[i] = found[i].Recalled()
	}
	return out, 0
}

// byScore orders memories of several scopes, best first.
func byScore(found []memory.Memory) {
	slices.SortStableFunc(found, func(a, b memory.Memory) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		default:
			return 0
		}
	})
}
