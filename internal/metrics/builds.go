package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// mechanism is what keeps text out of a context.
type mechanism string

// The mechanisms, as the API's report of tokens has them.
const (
	clipping   mechanism = "clipping"
	fit        mechanism = "fit"
	expiry     mechanism = "expiry"
	retention  mechanism = "retention"
	pruning    mechanism = "pruning"
	compaction mechanism = "compaction"
	citing     mechanism = "citing"

	deduplication mechanism = "deduplication"
)

func mechanisms() []mechanism {
	return []mechanism{clipping, fit, expiry, retention, pruning, compaction, citing, deduplication}
}

// tokensPerPrice is how many tokens a price is of.
const tokensPerPrice = 1e6

// builds counts what contexts were built and what they left out.
type builds struct {
	namespaces *namespaces
	total      *prometheus.CounterVec
	by         *prometheus.CounterVec
	keptOut    *prometheus.CounterVec
	saved      *prometheus.CounterVec
	tokens     *prometheus.CounterVec
	stable     *prometheus.CounterVec
	reread     *prometheus.CounterVec
	waits      *prometheus.HistogramVec
}

func newBuilds(f family, n *namespaces) *builds {
	b := &builds{
		namespaces: n,
		total:      f.counter("builds_total", "Contexts built and committed.", labelNamespace),
		by:         f.counter("builds_by_mechanism_total", "Contexts from which a mechanism kept something out.", labelNamespace, labelMechanism),
		keptOut:    f.counter("kept_out_tokens_total", "Tokens that a mechanism kept out of contexts, counted in each build.", labelNamespace, labelMechanism),
		saved: f.counter("saved_cost_total",
			"The least that tokens kept out would have cost, for models whose profile has prices.", labelNamespace),
		tokens: f.counter("context_tokens_total", "Tokens of the messages in contexts.", labelNamespace),
		stable: f.counter("context_stable_tokens_total", "Tokens of the leading messages that are the same bytes as in the build before.", labelNamespace),
		reread: f.counter("context_reread_tokens_total", "Tokens that providers had in their caches and read anew, because text before them changed.", labelNamespace),
		waits: f.histogram("build_wait_seconds", "Time that builds waited for models' summaries, if they did.",
			[]float64{.05, .1, .25, .5, 1, 2, 3, 5, 10, 30, 60}),
	}
	b.waits.WithLabelValues()
	return b
}

// Built counts a build that was committed, and how long it waited for models.
func (m *Metrics) Built(namespace string, r *engine.BuildResult, waited time.Duration) {
	b := m.builds
	label := b.namespaces.label(namespace)
	b.total.WithLabelValues(label).Inc()
	b.tokens.WithLabelValues(label).Add(float64(r.Tokens.Messages))
	b.stable.WithLabelValues(label).Add(float64(r.Prefix.StableTokens))
	reread := b.reread.WithLabelValues(label)
	if r.Prefix.Rewrite.Cost > 0 { // else nothing of it was cached
		reread.Add(float64(r.Prefix.Rewrite.Reread))
	}
	if waited > 0 {
		b.waits.WithLabelValues().Observe(waited.Seconds())
	}
	used := mechanismsIn(r.Decisions)
	keptOut := int64(0)
	for _, how := range mechanisms() {
		tokens := max(keptOutBy(how, &r.Tokens), 0)
		keptOut += tokens
		b.keptOut.WithLabelValues(label, string(how)).Add(float64(tokens))
		by := b.by.WithLabelValues(label, string(how))
		if used[how] || tokens > 0 {
			by.Inc()
		}
	}
	saved := b.saved.WithLabelValues(label)
	if r.CacheReadPrice != nil {
		saved.Add(float64(keptOut) * r.Tokens.Factor * *r.CacheReadPrice / tokensPerPrice)
	}
}

func keptOutBy(how mechanism, t *engine.TokenReport) int64 {
	switch how {
	case clipping:
		return t.SavedByClipping
	case fit:
		return t.SavedByFit
	case expiry:
		return t.SavedByExpiry
	case retention:
		return t.SavedByRetention
	case pruning:
		return t.SavedByPruning
	case compaction:
		return t.SavedByCompaction
	case citing:
		return t.SavedByCiting
	case deduplication:
		return t.SavedByDeduplication
	default:
		return 0
	}
}

// mechanismsIn are the mechanisms behind a build's decisions.
func mechanismsIn(decisions []conversation.Decision) map[mechanism]bool {
	used := make(map[mechanism]bool, len(mechanisms()))
	for i := range decisions {
		if how := mechanismOf(&decisions[i]); how != "" {
			used[how] = true
		}
	}
	return used
}

// mechanismOf is the mechanism behind a decision; empty for a decision of another kind.
func mechanismOf(d *conversation.Decision) mechanism {
	switch d.Kind {
	case conversation.DecisionClipped:
		return clipping
	case conversation.DecisionLeftOut:
		return fit
	case conversation.DecisionCompacted, conversation.DecisionCleared:
		return expiry
	case conversation.DecisionMasked:
		return retention
	case conversation.DecisionPruned:
		return pruning
	case conversation.DecisionSummarized:
		return compaction
	case conversation.DecisionCited:
		return citing
	case conversation.DecisionDeduplicated:
		return deduplication
	case conversation.DecisionRemoved:
		if d.Reason.Expired() {
			return expiry
		}
		return retention
	default:
		return ""
	}
}
