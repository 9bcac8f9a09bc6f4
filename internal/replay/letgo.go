package replay

import (
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// LetGo is what the sidecar says it let go, and why not yet. Nothing of it is
// judged by itself: the bytes are.
type LetGo struct {
	SavedByExpiry     int64          `json:"saved_by_expiry"`
	SavedByRetention  int64          `json:"saved_by_retention"`
	SavedByPruning    int64          `json:"saved_by_pruning"`
	SavedByCompaction int64          `json:"saved_by_compaction"`
	SavedByCiting     int64          `json:"saved_by_citing"`
	Events            map[string]int `json:"events"`
	Deferred          map[string]int `json:"deferred"`
	Degraded          int            `json:"degraded"`
}

func newLetGo() LetGo {
	return LetGo{Events: map[string]int{}, Deferred: map[string]int{}}
}

func (l *LetGo) add(o *LetGo) {
	l.SavedByExpiry += o.SavedByExpiry
	l.SavedByRetention += o.SavedByRetention
	l.SavedByPruning += o.SavedByPruning
	l.SavedByCompaction += o.SavedByCompaction
	l.SavedByCiting += o.SavedByCiting
	l.Degraded += o.Degraded
	for kind, n := range o.Events {
		l.Events[kind] += n
	}
	for reason, n := range o.Deferred {
		l.Deferred[reason] += n
	}
}

// happened counts events. That messages were appended is known.
func (l *LetGo) happened(events []*pb.LifecycleEvent) {
	for _, e := range events {
		if e.GetType() != pb.EventType_EVENT_TYPE_ADDED {
			l.Events[strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_")]++
		}
	}
}

// built counts what a build says of itself.
func (l *LetGo) built(r *pb.BuildContextResponse) {
	l.happened(r.GetEvents())
	l.SavedByExpiry += r.GetTokens().GetSavedByExpiry()
	l.SavedByRetention += r.GetTokens().GetSavedByRetention()
	l.SavedByPruning += r.GetTokens().GetSavedByPruning()
	l.SavedByCompaction += r.GetTokens().GetSavedByCompaction()
	l.SavedByCiting += r.GetTokens().GetSavedByCiting()
	l.Degraded += len(r.GetDegradations())
	for _, d := range r.GetDecisions() {
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_DEFERRED {
			l.Deferred[strings.TrimPrefix(d.GetReason().String(), "DECISION_REASON_")]++
		}
	}
}
