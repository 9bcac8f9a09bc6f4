package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// earlierBuild is the previous build in the same format.
type earlierBuild struct {
	manifest *conversation.Manifest // nil if there is none
	blocks   []provider.Block
}

// previous finds the previous build in the format and its blocks: those of the warm window, or the manifest rebuilt.
func (e *Engine) previous(ctx context.Context, d *deciding) (earlierBuild, error) {
	w := d.window
	seq := w.head.LastManifest[d.format.Format()]
	if seq == 0 {
		return earlierBuild{}, nil
	}
	m, err := e.manifest(ctx, w, seq)
	if err != nil {
		return earlierBuild{}, lost(err, conversation.ManifestNotFound)
	}
	if cache := d.cache(); cache.manifest == seq {
		return earlierBuild{manifest: m, blocks: cache.assembly.Blocks()}, nil
	}
	r, err := e.recompose(ctx, w, m, m.Format)
	if err != nil {
		return earlierBuild{}, lost(err, conversation.ManifestNotRebuildable)
	}
	return earlierBuild{manifest: m, blocks: r.blocks}, nil
}

// lost forgives that an earlier build is gone: there is nothing to compare with then.
func lost(err error, kind conversation.Kind) error {
	var domain *conversation.Error
	if errors.As(err, &domain) && domain.Kind == kind {
		return nil
	}
	return err
}

// prefix compares the build with the previous one.
func (d *deciding) prefix(before earlierBuild, now *provider.Assembly, m *conversation.Manifest) PrefixReport {
	if before.manifest == nil {
		return PrefixReport{BrokenBy: BreakFirstBuild}
	}
	blocks := now.Blocks()
	stable := provider.Shared(before.blocks, blocks)
	r := PrefixReport{
		StableBlocks: int32(stable), PreviousBlocks: int32(len(before.blocks)),
		FixedInputChanged: before.manifest.FixedHash != m.FixedHash,
	}
	for i := range blocks[:stable] {
		r.StableTokens += int64(blocks[i].Tokens)
	}
	if stable < len(before.blocks) {
		r.BrokenBy = d.brokenBy(before, stable, m)
	}
	return r
}

// brokenBy names the cause that explains the first block that differs.
func (d *deciding) brokenBy(before earlierBuild, stable int, m *conversation.Manifest) Break {
	p := before.manifest
	switch {
	case stable == len(before.blocks)-1 && before.blocks[stable].Index < 0:
		return BreakTailReplaced
	case p.Budget != m.Budget || p.Model != m.Model:
		return BreakOtherCoordinates
	case p.Window != m.Window:
		return BreakWindowMoved
	case p.LeadingSystem != m.LeadingSystem || !slices.Equal(p.Pins, m.Pins):
		return BreakPinned
	default:
		return BreakEdited
	}
}
