package plan

import (
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// maxWaits is how many calls of models a build waits for (behaviour §5). Erasures come on top: they cannot be deferred, and would be
// left with extracts for good.
const maxWaits = 2

// WaitBudget is what one build may wait for models, over all of its attempts. What makes a build wait: a short form that is due and has
// no result (short_forms.go), a compaction without a draft (compact.go), and recall (recall.go), which has a deadline of its own. For how long:
// max_wait of the policy, 3 s (settings).
type WaitBudget struct {
	Around func(wait func()) error // stands around each wait; nil for nothing

	Waited        time.Duration // so far
	Left          time.Duration
	Started       bool                 // left is set
	Calls         int                  // of models that may still be waited for
	Requested     []*summarize.Request // started already
	Wanted        []*summarize.Request // of the attempt at hand: some are waited for
	BeforeErasure []*summarize.Request // of the attempt at hand: all are waited for

	Job          *drafts.Job   // summaries of spans that the attempt at hand wants
	AskModel     bool          // a model is to write them, in time that is left
	StoredDraft  []byte        // what the draft's slot held
	ModelTried   bool          // a model was waited for
	rounds       int           // how often summaries of spans were wanted
	Draft        *drafts.Draft // without a model
	Degradations []conversation.Degradation
	notLive      []conversation.Degradation // of the summary that a model was waited for

	Recall Recall // memories of other conversations
}

// Await gives the build what it may wait for models; the first attempt knows how long that is.
func (d *Attempt) Await(w *WaitBudget) {
	if !w.Started {
		w.Started, w.Left, w.Calls = true, d.Settings.MaxWait, maxWaits
	}
	d.Waits = w
}

// Reset forgets what an earlier run of the plan has wanted.
func (w *WaitBudget) Reset() {
	if w != nil {
		w.Wanted, w.BeforeErasure, w.Job, w.Recall.Wanted = nil, nil, nil, nil
	}
}

// ErrWait ends an attempt that would wait for summaries: nobody waits while he holds the conversation.
var ErrWait = errors.New("engine: wait for summaries")

// add notes a request that the build can wait for.
func (w *WaitBudget) add(r *summarize.Request, erases bool) {
	same := func(o *summarize.Request) bool { return o.Hash == r.Hash && o.Target == r.Target }
	switch {
	case w.Left <= 0, slices.ContainsFunc(w.Requested, same), slices.ContainsFunc(w.BeforeErasure, same):
	case erases:
		w.BeforeErasure = append(w.BeforeErasure, r)
	case w.Calls > 0 && !slices.ContainsFunc(w.Wanted, same):
		w.Wanted = append(w.Wanted, r)
	}
}

// noteUpcoming notes whose summaries to prepare: of what waits for one, and of what falls due in the next turn.
func (d *Attempt) noteUpcoming(due []dueEdit, coming []expiry.Due) {
	for i := range due {
		d.noteUpcomingOne(&due[i].Due)
	}
	for i := range coming {
		if coming[i].Since == d.Turn+1 {
			d.noteUpcomingOne(&coming[i])
		}
	}
}

func (d *Attempt) noteUpcomingOne(x *expiry.Due) {
	if x.Kind != expiry.Compact || x.Expiration.CompactMode != conversation.CompactSummary {
		return
	}
	if x.Message().Role == conversation.RoleSystem || x.LongestText() <= int64(x.Expiration.Length()) {
		return
	}
	if prompt, _ := d.Settings.Catalogue.Prompt(x.Expiration.CompactPromptID); !d.Summaries.CanAsk(&prompt) {
		return
	}
	if _, reason := d.View.Part(x.Index, x.Positions()[0]); reason.Expired() {
		return // it was made in this build
	}
	d.upcoming = append(d.upcoming, *x)
}

// UpcomingRequests asks for the summaries that later builds will want.
func (d *Attempt) UpcomingRequests() []*summarize.Request {
	var out []*summarize.Request
	for i := range d.upcoming {
		x := &d.upcoming[i]
		if o, err := d.expirations().original(x); err == nil && o.Chars > x.Expiration.Length() {
			out = append(out, d.expirations().summaryRequest(x, o))
		}
	}
	return out
}

// maxSummaryDeferral is for how many turns something is shown in full because its summary is not there (behaviour §5).
const maxSummaryDeferral = 3

// waitedLongEnough says whether what is due has waited for its summary long enough.
func (d *Attempt) waitedLongEnough(x *expiry.Due) bool {
	return d.Turn-max(x.Since, d.requested.Entry(x, d.Turn).Turn) >= maxSummaryDeferral
}

// writeRequested adds to the build's change whose summaries it leaves to later builds.
func (d *Attempt) writeRequested(c *store.Change) {
	if !d.expiryRan {
		return
	}
	var list []record.AskedSummary
	for i := range d.upcoming[:min(len(d.upcoming), drafts.MaxRequested)] {
		list = append(list, d.requested.Entry(&d.upcoming[i], d.Turn))
	}
	view.WriteList(c, d.Loaded, drafts.RequestedSlot, list, record.EncodeAskedSummaries)
}
