package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
)

// prune clears old tool results (behaviour §7), one edit a message.
func (d *Attempt) prune() error {
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
	out, err := d.Compose(d.View, d.Composed.Window)
	d.Composed = out
	return err
}

// prunable are the results that are to be cleared in this build.
func (d *Attempt) prunable() []prune.Target {
	p := &d.Settings.policy.Pruning
	if !d.NewTurn || p.Off != nil && *p.Off {
		return nil
	}
	newest := d.Composed.Units[d.Composed.Newest()].First()
	return prune.Plan(prune.Input{
		Units: d.Composed.Units, View: d.View,
		Protect: FirstSet(conversation.DefaultProtectTokens, p.ProtectTokens),
		Minimum: FirstSet(conversation.DefaultMinimumTokens, p.MinimumTokens),
		MaxPart: FirstSet(conversation.DefaultMaxPartTokens, p.MaxPartTokens),
		Tools:   conversation.ValueOr(p.ProtectedTools, prune.DefaultTools()), Prefixes: conversation.ValueOr(p.ProtectedPrefixes, prune.DefaultPrefixes()),
		Recall: d.recallTools(),
		Keep: func(index int32) bool {
			return index >= newest || index < d.Kept.LeadingSystem || d.pinned(index) || d.expandedRecently(index)
		},
		Placeholder: d.placeholder(),
	})
}

// recallTools are the tools that recall, if the policy leaves it to the defaults what is protected.
func (d *Attempt) recallTools() *conversation.RecallTools {
	if d.Settings.policy.Pruning.ProtectedTools != nil {
		return nil
	}
	tools := conversation.RecallTools(conversation.ValueOr(d.Settings.policy.Citations.RecallTools, nil))
	return &tools
}

// placeholder weighs placeholders. They differ in a few letters alone, and are counted once for each length.
func (d *Attempt) placeholder() func(recall string) int64 {
	weights := map[int]int64{}
	return func(recall string) int64 {
		if _, ok := weights[len(recall)]; !ok {
			n, _ := d.Settings.Counter.Count(prune.Cleared(recall, false))
			weights[len(recall)] = int64(n)
		}
		return weights[len(recall)]
	}
}

// clearResults puts placeholders in the place of a message's results.
func (d *Attempt) clearResults(targets []prune.Target) {
	index := targets[0].Index
	m, ok := d.Loaded.Message(index)
	if !ok {
		return
	}
	e := conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: conversation.ReasonPruned,
	}
	for _, t := range targets {
		text := prune.Cleared(m.Parts[t.Part].Result.Recall(index), d.isErased(m, t.Part))
		shown := compaction.WithText(m.Parts[t.Part].Result, text)
		d.setWeight(&shown, text)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.Part, Level: conversation.Cleared, Shown: shown})
		e.Before, e.After = e.Before+t.Weight, e.After+int64(shown.Tokens)
	}
	d.addEdit(e)
	d.scheduleErasure(targets)
}
