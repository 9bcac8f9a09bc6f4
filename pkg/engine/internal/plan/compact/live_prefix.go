package compact

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Why a summary is not asked for behind a live prefix, where the policy wants it.
const (
	liveNotAllowed = "the profile of the model does not allow live_prefix"
	liveNoClient   = "the server reaches no provider of the agent's own model in this format"
	liveManySteps  = "more than one summary is to be made at once"
	liveCold       = "the provider's cache does not hold the context: no build came shortly before it for the model, behind the same fixed_input"
	liveChanged    = "the context changed since the last build"
	liveNoText     = "the prompt of the summary cannot be filled in"
)

// summaryJob is the work for a plan's summaries, by the agent's own model where the policy wants it and that can be.
func summaryJob(g *pass.Given, out *view.Composition, planner *spans.Planner, p *drafts.Plan, room int64) (*drafts.Job, error) {
	w, err := planner.Job(p, room)
	if err != nil {
		return nil, err
	}
	ask := liveAsk{g: g, composed: out, job: w}
	if w.Live, w.NotLive, err = ask.request(); view.IgnoreMissing(err) != nil {
		return nil, err
	}
	return w, g.Loaded.Extras.Incomplete()
}

// liveAsk is the question whether the agent's own model can be asked for the summary of a job.
type liveAsk struct {
	g        *pass.Given
	composed *view.Composition
	job      *drafts.Job
}

// request asks the agent's own model for a job's summary, behind the bytes that its provider has cached (behaviour §8, "At cache
// price"): those of the last build, which all lead the view as it is now, and of messages since only those that are to be summarized. It
// returns nil and the reason where that cannot be; nil and no reason where nobody wants it.
func (d *liveAsk) request() (live *summarize.Live, why string, err error) {
	if !conversation.ValueOr(d.g.Settings.Policy.Compaction.LivePrefix, false) {
		return nil, "", nil
	}
	model, why := d.model()
	if why != "" {
		return nil, why, nil
	}
	request, why := d.g.Completion.AgentsOwn()
	if why != "" {
		return nil, why, nil
	}
	held, why := d.heldBlocks()
	if why != "" {
		return nil, why, nil
	}
	shown := d.composed.WholeUnits(held, d.job.Cut)
	task, err := d.task(shown)
	if err != nil {
		return nil, "", err
	}
	text, err := task.Text()
	if err != nil {
		return nil, liveNoText, nil //nolint:nilerr // it is the prompt's fault, and the reason is told
	}
	marks := slices.DeleteFunc(d.composed.Breakpoints(0), func(at int32) bool { return at >= int32(held)-1 })
	blocks := append(slices.Clip(d.composed.Blocks[:shown]), provider.UserText(d.g.Format.Traits(), text))
	return &summarize.Live{
		Format: d.g.Format.Format(), Model: model, Body: request.Request(blocks, append(marks, int32(held)-1)),
	}, "", nil
}

// model is the agent's own model, as the server reaches it, or why it is not asked.
func (d *liveAsk) model() (model, why string) {
	profile, _ := d.g.Settings.Catalogue.Profile(d.g.Model)
	if !conversation.ValueOr(profile.LivePrefix, false) {
		return "", liveNotAllowed
	}
	model, reached := d.g.Summaries.CanAskLive(d.g.Format.Format(), d.g.Model)
	switch {
	case !reached:
		return "", liveNoClient
	case len(d.job.Steps) > 1:
		return "", liveManySteps
	default:
		return model, ""
	}
}

// heldBlocks is how many leading blocks the provider has cached: those of the last build, if they all lead the view as it is now. What was
// erased, taken back or corrected since is then none of them.
func (d *liveAsk) heldBlocks() (n int, why string) {
	if d.g.CacheIsCold() {
		return 0, liveCold
	}
	before := d.g.Previous.Blocks
	if n = view.RecordEnd(before); n == 0 || provider.CommonPrefix(before[:n], d.composed.Blocks) < n {
		return 0, liveChanged
	}
	return n, ""
}

// task says what the model is to summarize of so many blocks, and what beside them.
func (d *liveAsk) task(shown int) (*summarize.LiveTask, error) {
	chars, _ := d.job.Density()
	t := &summarize.LiveTask{Prompt: d.job.Prompt, Chars: int(chars), Target: d.job.Target(), UnseenChars: d.job.Input}
	seen := map[int32]bool{}
	for it := range conversation.Items(d.composed.Units) {
		seen[it.Message.Index] = true
	}
	for _, u := range d.job.Units[0] {
		if !seen[u.First()] {
			t.Unseen = append(t.Unseen, u)
		}
	}
	within := d.composed.Within(shown)
	for i := range within {
		u := &within[i]
		if u.Summary != nil || u.First() < d.job.Cut || u.Items[0].Message.Role == conversation.RoleSystem {
			continue
		}
		stays := *u
		stays.Items = slices.Clone(u.Items[:1])
		parts, err := d.g.Loaded.Extras.Inline(stays.Items[0].Parts)
		stays.Items[0].Parts, t.Stays = parts, &stays
		return t, err
	}
	return t, nil
}
