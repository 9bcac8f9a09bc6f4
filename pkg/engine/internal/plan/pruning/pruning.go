// Package pruning clears old tool results (behaviour §7), and erases those that were cleared long enough ago.
package pruning

import (
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Pruned is a view with results cleared, or erased.
type Pruned struct {
	pass.Result
	Reclaims []record.Reclaim // pruned results that are to be erased
}

type pruning struct {
	*pass.Sketch
	reclaims []record.Reclaim
}

// Prune clears old tool results, one edit a message. reclaims are the results that were pruned before and are to be erased.
func Prune(g *pass.Given, d pass.Draft, reclaims []record.Reclaim) (Pruned, error) {
	p := pruning{Sketch: g.Sketch(d), reclaims: slices.Clip(reclaims)}
	err := p.prune()
	return Pruned{Result: p.Result(), Reclaims: p.reclaims}, err
}

// Reclaim erases the results whose time has come. One that was expanded since is not pruned any more, and stays.
func Reclaim(g *pass.Given, d pass.Draft) (Pruned, error) {
	p := pruning{Sketch: g.Sketch(d)}
	err := p.reclaim()
	return Pruned{Result: p.Result(), Reclaims: p.reclaims}, err
}

// Write adds to the build's change which pruned results are to be erased.
func (p *Pruned) Write(g *pass.Given, c *store.Change) {
	view.WriteList(c, g.Loaded.Slots, erasures.PrunedSlot, p.Reclaims, record.EncodeReclaims)
}

func (d *pruning) prune() error {
	targets := d.prunable()
	if len(targets) == 0 {
		return nil
	}
	for at := 0; at < len(targets); {
		end := at + 1
		for end < len(targets) && targets[end].Index == targets[at].Index {
			end++
		}
		d.clearResults(targets[at:end])
		at = end
	}
	return d.Recompose()
}

// prunable are the results that are to be cleared in this build.
func (d *pruning) prunable() []prune.Target {
	p := &d.Given.Settings.Policy.Pruning
	if !d.Given.NewTurn || conversation.ValueOr(p.Off, false) {
		return nil
	}
	isNew := map[int32]bool{}
	for i := range d.Composed.Units {
		isNew[d.Composed.Units[i].First()] = d.Composed.Units[i].Summary == nil && d.Composed.IsNew(i)
	}
	return prune.Plan(prune.Input{
		Units: d.Composed.Units, View: d.View,
		Protect: settings.FirstSet(conversation.DefaultProtectTokens, p.ProtectTokens),
		Minimum: settings.FirstSet(conversation.DefaultMinimumTokens, p.MinimumTokens),
		MaxPart: settings.FirstSet(conversation.DefaultMaxPartTokens, p.MaxPartTokens),
		Tools:   conversation.ValueOr(p.ProtectedTools, prune.DefaultTools()), Prefixes: conversation.ValueOr(p.ProtectedPrefixes, prune.DefaultPrefixes()),
		Recall: d.recallTools(),
		Keep: func(index int32) bool {
			return isNew[index] || d.Given.Kept.Has(index) || d.Given.ExpandedRecently(d.View, index)
		},
		Placeholder: d.placeholder(),
	})
}

// recallTools are the tools that recall, if the policy leaves it to the defaults what is protected.
func (d *pruning) recallTools() *conversation.RecallTools {
	if d.Given.Settings.Policy.Pruning.ProtectedTools != nil {
		return nil
	}
	tools := conversation.RecallTools(conversation.ValueOr(d.Given.Settings.Policy.Citations.RecallTools, nil))
	return &tools
}

// placeholder weighs placeholders. They differ in a few letters alone, and are counted once for each length.
func (d *pruning) placeholder() func(recall string) int64 {
	weights := map[int]int64{}
	return func(recall string) int64 {
		if _, ok := weights[len(recall)]; !ok {
			n, _ := d.Given.Settings.Counter.Count(prune.Cleared(recall, false))
			weights[len(recall)] = int64(n)
		}
		return weights[len(recall)]
	}
}

// clearResults puts placeholders in the place of a message's results.
func (d *pruning) clearResults(targets []prune.Target) {
	index := targets[0].Index
	m, ok := d.Given.Loaded.Message(index)
	if !ok {
		return
	}
	e := conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: conversation.ReasonPruned,
	}
	for _, t := range targets {
		text := prune.Cleared(m.Parts[t.Part].Result.Recall(index), d.Erased.IsErased(m, t.Part))
		shown := compaction.WithText(m.Parts[t.Part].Result, text)
		d.Given.SetWeight(&shown, text)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.Part, Level: conversation.Cleared, Shown: shown})
		e.Before, e.After = e.Before+t.Weight, e.After+int64(shown.Tokens)
	}
	d.Add(e)
	d.scheduleErasure(targets)
}

// scheduleErasure notes that results which were pruned are to be erased. Beyond what the list holds, they stay on record.
func (d *pruning) scheduleErasure(targets []prune.Target) {
	after := conversation.ValueOr(d.Given.Settings.Policy.Pruning.EraseAfter, 0)
	if after <= 0 {
		return
	}
	at := d.Given.Now.Add(after).Unix()
	for _, t := range targets {
		if len(d.reclaims) < erasures.MaxListed {
			d.reclaims = append(d.reclaims, record.Reclaim{Index: t.Index, Part: t.Part, At: at})
		}
	}
}

func (d *pruning) reclaim() error {
	var err error
	if d.reclaims, err = erasures.ParsePruned(d.Given.Loaded.Slots[erasures.PrunedSlot]); err != nil || !d.Given.NewTurn {
		return err
	}
	due := func(r record.Reclaim) bool { return !d.Given.Now.Before(time.Unix(r.At, 0)) }
	var ranges []conversation.Range
	for _, r := range d.reclaims {
		if due(r) {
			ranges = append(ranges, conversation.Range{First: r.Index, End: r.Index + 1})
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	if err := d.Given.Loaded.Require(ranges...); err != nil {
		return err
	}
	d.Erased = d.Erased.Clone()
	for _, r := range d.reclaims {
		if due(r) {
			d.reclaimOne(r)
		}
	}
	d.reclaims = slices.DeleteFunc(d.reclaims, due)
	return d.Recompose()
}

func (d *pruning) reclaimOne(r record.Reclaim) {
	m, ok := d.Given.Loaded.Message(r.Index)
	level, reason := d.View.Part(r.Index, r.Part)
	if !ok || level != conversation.Cleared || reason != conversation.ReasonPruned || d.Erased.IsErased(m, r.Part) {
		return
	}
	text := prune.Cleared("", true)
	shown := compaction.WithText(m.Parts[r.Part].Result, text)
	d.Given.SetWeight(&shown, text)
	d.Add(conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: r.Index, End: r.Index + 1}, Reason: conversation.ReasonPruned,
		Parts:  []conversation.PartEdit{{Part: r.Part, Level: conversation.Cleared, Shown: shown}},
		Before: int64(shown.Tokens), After: int64(shown.Tokens), Erases: true,
	})
	d.Erased.Erase(r.Index, []int32{r.Part})
}
