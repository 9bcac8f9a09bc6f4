package expire

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// want notes a request that the build can wait for.
func (d *expiring) want(r *summarize.Request, erases bool) {
	a, w := &d.Given.Allowance, d.wants
	same := func(o *summarize.Request) bool { return o.Hash == r.Hash && o.Target == r.Target }
	switch {
	case a.Left <= 0, slices.ContainsFunc(a.Requested, same), slices.ContainsFunc(w.BeforeErasure, same):
	case erases:
		w.BeforeErasure = append(w.BeforeErasure, r)
	case a.Calls > 0 && !slices.ContainsFunc(w.Texts, same):
		w.Texts = append(w.Texts, r)
	}
}

// noteUpcoming notes whose summaries to prepare: of what waits for one, and of what falls due in the next turn.
func (d *expiring) noteUpcoming(due []dueEdit, coming []expiry.Due) {
	for i := range due {
		d.noteUpcomingOne(&due[i].Due)
	}
	for i := range coming {
		if coming[i].Since == d.Given.Turn+1 {
			d.noteUpcomingOne(&coming[i])
		}
	}
}

func (d *expiring) noteUpcomingOne(x *expiry.Due) {
	if x.Kind != expiry.Compact || x.Expiration.CompactMode != conversation.CompactSummary {
		return
	}
	if x.Message().Role == conversation.RoleSystem || x.LongestText() <= int64(x.Expiration.Length()) {
		return
	}
	if prompt, _ := d.Given.Settings.Catalogue.Prompt(x.Expiration.CompactPromptID); !d.Given.Summaries.CanAsk(&prompt) {
		return
	}
	if _, reason := d.View.Part(x.Index, x.Positions()[0]); reason.Expired() {
		return // it was made in this build
	}
	d.out.Upcoming = append(d.out.Upcoming, *x)
}

// Requests asks for the summaries that later builds will want.
func (e *Expired) Requests(g *pass.Given) []*summarize.Request {
	var out []*summarize.Request
	for i := range e.Upcoming {
		x := &e.Upcoming[i]
		if o, err := original(g, x); err == nil && o.Chars > x.Expiration.Length() {
			out = append(out, summaryRequest(g, x, o))
		}
	}
	return out
}

// maxSummaryDeferral is for how many turns something is shown in full because its summary is not there (behaviour §5).
const maxSummaryDeferral = 3

// waitedLongEnough says whether what is due has waited for its summary long enough.
func waitedLongEnough(turn int32, r drafts.Requested, x *expiry.Due) bool {
	return turn-max(x.Since, r.Entry(x, turn).Turn) >= maxSummaryDeferral
}

// Write adds to the build's change what is left to later builds: summaries that are wanted, and erasures.
func (e *Expired) Write(g *pass.Given, c *store.Change) {
	if e.Ran {
		list := make([]record.AskedSummary, min(len(e.Upcoming), drafts.MaxRequested))
		for i := range list {
			list[i] = e.Requested.Entry(&e.Upcoming[i], g.Turn)
		}
		view.WriteList(c, g.Loaded.Slots, drafts.RequestedSlot, list, record.EncodeAskedSummaries)
	}
	if g.NewTurn {
		view.WriteList(c, g.Loaded.Slots, erasures.DueSlot, e.Erasures, record.EncodeErasures)
	}
}
