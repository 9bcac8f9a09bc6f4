package histories

import (
	"context"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// System returns the system prompt of a list, without the part that is already at the start of the record.
func (f *Finder) System(ctx context.Context, key store.Key, snap *store.Snapshot, in *provider.Input) (string, error) {
	if len(in.System) == 0 {
		return "", nil
	}
	leading, err := f.leadingSystem(ctx, key, snap)
	if err != nil {
		return "", err
	}
	if sameWords(strings.Join(in.System, " "), strings.Join(leading, " ")) {
		return "", nil
	}
	rest := slices.DeleteFunc(slices.Clone(in.System), func(text string) bool {
		return slices.ContainsFunc(leading, func(recorded string) bool { return sameWords(text, recorded) })
	})
	return strings.Join(rest, "\n\n"), nil
}

func (f *Finder) leadingSystem(ctx context.Context, key store.Key, snap *store.Snapshot) ([]string, error) {
	if snap.Head.Version == 0 || snap.Head.LeadingSystem == 0 {
		return nil, nil
	}
	w := view.New(key, snap)
	if err := w.Load(ctx, f.store, conversation.Range{End: snap.Head.LeadingSystem}); err != nil {
		return nil, err
	}
	contents := f.contents(ctx, key, snap)
	var out []string
	for i := range w.Messages {
		m := &w.Messages[i]
		for p := range m.Parts {
			if text, ok := contents.Text(m.Parts[p].Text); ok && !w.View.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}) {
				out = append(out, text)
			}
		}
	}
	return out, contents.err
}

func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }
