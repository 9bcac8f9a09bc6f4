package report

import (
	"fmt"
	"path/filepath"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// FileReport is what the recordings of one file came to, or of all.
type FileReport struct {
	File                 string  `json:"file,omitempty"`
	Conversations        int     `json:"conversations"`
	Builds               int     `json:"builds"`
	TokensWith           int64   `json:"tokens_with"`
	TokensWithout        int64   `json:"tokens_without"`
	CostWith             float64 `json:"cost_with"`
	CostWithout          float64 `json:"cost_without"`
	Rewrites             int     `json:"rewrites"`
	ReferenceRecall      float64 `json:"reference_recall"`
	ContentRecall        float64 `json:"content_recall"`
	ForeignContentRecall float64 `json:"foreign_content_recall"`
	NewestKept           int     `json:"newest_kept" merge:"least"`

	Recall Recall `json:"-"`
}

// Folder is the last one of the file's path, which tells sets of recordings apart.
func (f *FileReport) Folder() string { return filepath.Base(filepath.Dir(f.File)) }

// Bound is what somebody comes to who knows the future, and edits nothing but
// leaves messages out. Names say what changing old text costs: what it does, at
// all references kept, or nothing, at most of references and content kept.
type Bound struct {
	Name string `json:"name"`
	FileReport
	Files []FileReport `json:"files"`
}

// Millis are percentiles in milliseconds.
type Millis struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

func (m Millis) String() string {
	return fmt.Sprintf("%.2f ms (p50), %.2f ms (p95), %.2f ms (p99)", m.P50, m.P95, m.P99)
}

// AtEnd is what was asked for beside the contexts that a message follows. None
// of it is in another figure but in those that must be 0.
type AtEnd struct {
	// Builds counts the contexts, Refused those that were refused, by reason:
	// where calls wait at the end of a recording, that is as it must be.
	Builds  int            `json:"builds"`
	Refused map[string]int `json:"refused"`
	// Restores counts messages that were brought back, RestoresRefused those
	// that were not, by reason.
	Restores        int            `json:"restores"`
	RestoresRefused map[string]int `json:"restores_refused"`
}

// LetGo is what the sidecar says it let go, and why not yet. Nothing of it is
// judged by itself: the bytes are.
type LetGo struct {
	SavedByExpiry     int64 `json:"saved_by_expiry"`
	SavedByRetention  int64 `json:"saved_by_retention"`
	SavedByPruning    int64 `json:"saved_by_pruning"`
	SavedByCompaction int64 `json:"saved_by_compaction"`
	SavedByCiting     int64 `json:"saved_by_citing"`

	SavedByDeduplication int64 `json:"saved_by_deduplication"`

	Events   map[string]int `json:"events"`
	Deferred map[string]int `json:"deferred"`
	Degraded int            `json:"degraded"`
}

// Happened counts events. That messages were appended is known.
func (l *LetGo) Happened(events []*pb.LifecycleEvent) {
	for _, e := range events {
		if e.GetType() != pb.EventType_EVENT_TYPE_ADDED {
			l.Events[strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_")]++
		}
	}
}

// Built counts what a build says of itself.
func (l *LetGo) Built(r *pb.BuildContextResponse) {
	l.Happened(r.GetEvents())
	l.SavedByExpiry += r.GetTokens().GetSavedByExpiry()
	l.SavedByRetention += r.GetTokens().GetSavedByRetention()
	l.SavedByPruning += r.GetTokens().GetSavedByPruning()
	l.SavedByCompaction += r.GetTokens().GetSavedByCompaction()
	l.SavedByCiting += r.GetTokens().GetSavedByCiting()
	l.SavedByDeduplication += r.GetTokens().GetSavedByDeduplication()
	l.Degraded += len(r.GetDegradations())
	for _, d := range r.GetDecisions() {
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_DEFERRED {
			l.Deferred[strings.TrimPrefix(d.GetReason().String(), "DECISION_REASON_")]++
		}
	}
}

// Compacted is what a view weighs at most after a compaction, as a share of
// B: the target of 50 %, and what comes on top of it.
const Compacted = 0.55

// Compactions says how often views were made smaller because they had outgrown
// their budget, and what that came to. Measured on the contexts' bytes.
type Compactions struct {
	// Count is how many builds made a summary or moved the window's start.
	Count     int `json:"count"`
	Summaries int `json:"summaries"`
	// Over counts contexts after one that weigh more than 55 % of B, and Largest
	// is the largest share of B that one took.
	Over    int     `json:"over_55_percent"`
	Largest float64 `json:"largest_share" merge:"max"`
	// Early counts those that came before the view had grown by 25 % of B since
	// the one before.
	Early int `json:"early"`
}

// Reached is what expanding the summaries in force came to.
type Reached struct {
	Summaries int `json:"summaries"` // in force and below
	Messages  int `json:"messages"`  // that came back as they were appended
}

// OwnCalls is what the sidecar's own model calls took, as its last builds say.
type OwnCalls struct {
	Calls        int64 `json:"calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CacheReadTokens is the part of InputTokens that came from the prompt cache.
	CacheReadTokens int64 `json:"cache_read_tokens"`
	// Cost is in millionths, as that of contexts is, and part of cost_with.
	Cost float64 `json:"cost"`
}

// Citations is what entered contexts as a citation, and what asking for it came
// to.
type Citations struct {
	Count int `json:"count"`
	// Before is what the results weigh in full, After what stands for them.
	Before  int64   `json:"tokens_before"`
	After   int64   `json:"tokens_after"`
	Mean    float64 `json:"mean_tokens"`
	Largest int     `json:"max_tokens" merge:"max"`
	// Asked counts results of which passages were asked for, with words that the
	// next message uses; Words are those of them that the result holds, and Found
	// those that the passages hold.
	Asked         int   `json:"asked"`
	Words         int   `json:"words"`
	Found         int   `json:"words_found"`
	ExcerptTokens int64 `json:"excerpt_tokens"`
	// AskingCost is what it would have cost to ask so: for each result a model
	// call of its own, and its passages in every later context. It is not part of
	// cost_with.
	AskingCost float64 `json:"asking_cost"`
	RetrieveMS Millis  `json:"retrieve_ms"`
}

// Recalled is how much of what is wanted a context still holds.
type Recalled struct{ Wanted, Held int }

// Count counts one that is wanted.
func (r *Recalled) Count(held bool) {
	r.Wanted++
	if held {
		r.Held++
	}
}

// Recall is what contexts held of what the messages behind them take up; ForeignContent is the part of Content that
// others than the agent said.
type Recall struct{ References, Content, ForeignContent Recalled }

func (r *Recall) shares() (references, content, foreign float64) {
	share := func(of Recalled) float64 { return Share(of.Held, of.Wanted) }
	return share(r.References), share(r.Content), share(r.ForeignContent)
}

// Prices are those of a million tokens.
type Prices struct{ Read, Write float64 }

// DefaultPrices are those of behaviour §8's simulations, where uncached input
// costs 1.
var DefaultPrices = Prices{Read: 0.1, Write: 1.25}

// Of is what a context costs of which so many tokens are read from the cache
// and so many written to it, in millionths.
func (p Prices) Of(read, written int) float64 {
	return p.Read*float64(read) + p.Write*float64(written)
}
