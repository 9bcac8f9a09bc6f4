package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
)

// prune clears old tool results (behaviour §7), one edit a message.
func (d *deciding) prune() error {
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
	out, err := d.Compose(d.view, d.out.Window)
	d.out = out
	return err
}

// prunable are the results that are to be cleared in this build.
func (d *deciding) prunable() []prune.Target {
	p := &d.settings.policy.Pruning
	if !d.aging || p.Off != nil && *p.Off {
		return nil
	}
	newest := d.out.Units[d.out.Newest()].First()
	return prune.Plan(prune.Input{
		Units: d.out.Units, View: d.view,
		Protect: first(conversation.DefaultProtectTokens, p.ProtectTokens),
		Minimum: first(conversation.DefaultMinimumTokens, p.MinimumTokens),
		MaxPart: first(conversation.DefaultMaxPartTokens, p.MaxPartTokens),
		Tools:   conversation.ValueOr(p.ProtectedTools, prune.DefaultTools()), Prefixes: conversation.ValueOr(p.ProtectedPrefixes, prune.DefaultPrefixes()),
		Recall: d.recallTools(),
		Keep: func(index int32) bool {
			return index >= newest || index < d.Kept.LeadingSystem || d.pinned(index) || d.expandedLately(index)
		},
		Placeholder: d.placeholder(),
	})
}

// recallTools are the tools that recall, if the policy leaves it to the defaults what is protected.
func (d *deciding) recallTools() *conversation.RecallTools {
	if d.settings.policy.Pruning.ProtectedTools != nil {
		return nil
	}
	tools := conversation.RecallTools(conversation.ValueOr(d.settings.policy.Citations.RecallTools, nil))
	return &tools
}

// placeholder weighs placeholders. They differ in a few letters alone, and are counted once for each length.
func (d *deciding) placeholder() func(recall string) int64 {
	weights := map[int]int64{}
	return func(recall string) int64 {
		if _, ok := weights[len(recall)]; !ok {
			n, _ := d.settings.counter.Count(prune.Cleared(recall, false))
			weights[len(recall)] = int64(n)
		}
		return weights[len(recall)]
	}
}

// clearResults puts placeholders in the place of a message's results.
func (d *deciding) clearResults(targets []prune.Target) {
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
		shown := compaction.Replaced(m.Parts[t.Part].Result, text)
		d.weigh(&shown, text)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.Part, Level: conversation.Cleared, Shown: shown})
		e.Before, e.After = e.Before+t.Weight, e.After+int64(shown.Tokens)
	}
	d.add(e)
	d.schedule(targets)
}
