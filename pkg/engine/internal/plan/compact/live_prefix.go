package compact

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
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
func (d *compacting) summaryJob(p *drafts.Plan, room int64) (*drafts.Job, error) {
	w, err := d.planner().Job(p, room)
	if err != nil {
		return nil, err
	}
	if w.Live, w.NotLive, err = d.liveRequest(w); d.Given.Loaded.IgnoreMissing(err) != nil {
		return nil, err
	}
	return w, d.Given.Loaded.Incomplete()
}

// liveRequest asks the agent's own model for a job's summary, behind the bytes that its provider has cached (behaviour §8, "At cache
// price"): those of the last build, which all lead the view as it is now, and of messages since only those that are to be summarized. It
// returns nil and the reason where that cannot be; nil and no reason where nobody wants it.
func (d *compacting) liveRequest(w *drafts.Job) (live *summarize.Live, why string, err error) {
	if !conversation.ValueOr(d.Given.Settings.Policy.Compaction.LivePrefix, false) {
		return nil, "", nil
	}
	model, why := d.liveModel(w)
	if why != "" {
		return nil, why, nil
	}
	request, why := d.Given.Completion.AgentsOwn()
	if why != "" {
		return nil, why, nil
	}
	held, why := d.heldBlocks()
	if why != "" {
		return nil, why, nil
	}
	shown := d.Composed.WholeUnits(held, w.Cut)
	task, err := d.liveTask(w, shown)
	if err != nil {
		return nil, "", err
	}
	text, err := task.Text()
	if err != nil {
		return nil, liveNoText, nil //nolint:nilerr // it is the prompt's fault, and the reason is told
	}
	marks := slices.DeleteFunc(d.Composed.Breakpoints(0), func(at int32) bool { return at >= int32(held)-1 })
	blocks := append(slices.Clip(d.Composed.Blocks[:shown]), provider.UserText(d.Given.Format.Traits(), text))
	return &summarize.Live{
		Format: d.Given.Format.Format(), Model: model, Body: request.Request(blocks, append(marks, int32(held)-1)),
	}, "", nil
}

// liveModel is the agent's own model, as the server reaches it, or why it is not asked.
func (d *compacting) liveModel(w *drafts.Job) (model, why string) {
	profile, _ := d.Given.Settings.Catalogue.Profile(d.Given.Model)
	if !conversation.ValueOr(profile.LivePrefix, false) {
		return "", liveNotAllowed
	}
	model, reached := d.Given.Summaries.CanAskLive(d.Given.Format.Format(), d.Given.Model)
	switch {
	case !reached:
		return "", liveNoClient
	case len(w.Steps) > 1:
		return "", liveManySteps
	default:
		return model, ""
	}
}

// heldBlocks is how many leading blocks the provider has cached: those of the last build, if they all lead the view as it is now. What was
// erased, taken back or corrected since is then none of them.
func (d *compacting) heldBlocks() (n int, why string) {
	if d.Given.CacheIsCold() {
		return 0, liveCold
	}
	before := d.Given.Previous.Blocks
	if n = view.RecordEnd(before); n == 0 || provider.CommonPrefix(before[:n], d.Composed.Blocks) < n {
		return 0, liveChanged
	}
	return n, ""
}

// liveTask says what the model is to summarize of so many blocks, and what beside them.
func (d *compacting) liveTask(w *drafts.Job, shown int) (*summarize.LiveTask, error) {
	chars, _ := w.Density()
	t := &summarize.LiveTask{Prompt: w.Prompt, Chars: int(chars), Target: w.Target(), UnseenChars: w.Input}
	seen := map[int32]bool{}
	for it := range conversation.Items(d.Composed.Units) {
		seen[it.Message.Index] = true
	}
	for _, u := range w.Units[0] {
		if !seen[u.First()] {
			t.Unseen = append(t.Unseen, u)
		}
	}
	within := d.Composed.Within(shown)
	for i := range within {
		u := &within[i]
		if u.Summary != nil || u.First() < w.Cut || u.Items[0].Message.Role == conversation.RoleSystem {
			continue
		}
		stays := *u
		stays.Items = slices.Clone(u.Items[:1])
		parts, err := d.Given.Loaded.Inline(stays.Items[0].Parts)
		stays.Items[0].Parts, t.Stays = parts, &stays
		return t, err
	}
	return t, nil
}
