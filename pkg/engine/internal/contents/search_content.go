package contents

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// SearchContent returns the passages that match search terms best, over all contents of a conversation except those of messages that
// were taken back.
func (cs *Service) SearchContent(ctx context.Context, r SearchContentRequest) (*SearchContentResult, error) {
	snap, err := cs.Txn.Read(ctx, r.Key, store.Query{Info: true, Slots: []string{LastSourceSlot}})
	if err != nil {
		return nil, err
	}
	last, err := LastSource(snap.Slots)
	if err != nil {
		return nil, err
	}
	counter, err := cs.Views.Counter(snap.Info.Counter)
	if err != nil {
		return nil, err
	}
	found, err := cs.searchable(ctx, &r, view.New(r.Key, snap), last)
	if err != nil {
		return nil, err
	}
	out := &SearchContentResult{Skipped: found.skipped}
	out.Excerpts, err = searchExcerpts(&r.Query, counter, int(r.MaxTokens), r.MaxBytes, func(s *excerptSearch) error {
		out.Searched = 0
		for _, rec := range found.records {
			if err := cs.addContent(ctx, &r, &snap.Head, found, rec, s, out); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// addContent adds a content to a search. It skips a content that was deleted after its record was read.
func (cs *Service) addContent(ctx context.Context, r *SearchContentRequest, head *store.Head, found *searchableContents, rec *Record, s *excerptSearch, out *SearchContentResult) error {
	if _, asked := found.runs[rec.Run]; rec.OfRun && !asked { // once per run, however many contents it has
		found.runs[rec.Run] = cs.requireRunAlive(ctx, r.Key, head.Incarnation, rec)
	}
	var err error
	if rec.OfRun {
		err = found.runs[rec.Run]
	}
	if err == nil {
		err = cs.searchOne(ctx, r.Key, head, rec, s)
	}
	if conversation.KindOf(err) == conversation.ContentExpired {
		return nil
	}
	out.Searched++
	return err
}

func (cs *Service) searchOne(ctx context.Context, key store.Key, head *store.Head, rec *Record, s *excerptSearch) error {
	h, err := cs.Open(ctx, key, head, rec)
	if err != nil {
		return err
	}
	return h.add(ctx, s)
}

// searchableContents are the contents that a search looks through.
type searchableContents struct {
	records []*Record
	runs    map[string]error // by run: nil if its contents can still be read
	skipped int
}

func (cs *Service) searchable(ctx context.Context, r *SearchContentRequest, w *view.Loaded, last int64) (*searchableContents, error) {
	hides, err := cs.Views.Hides(ctx, w)
	if err != nil {
		return nil, err
	}
	hidden := func(index int32) bool {
		return slices.ContainsFunc(hides, func(h conversation.Edit) bool { return h.Range.Contains(index) })
	}
	out := &searchableContents{runs: map[string]error{}}
	err = cs.EachSource(ctx, r.Key, w.Head.Incarnation, 1, last, func(_ int64, rec *Record) error {
		switch {
		case rec.Expired || r.RunID != "" && rec.Run != r.RunID || rec.AtAppend && hidden(rec.Message):
		case !rec.isText():
			out.skipped++
		default:
			out.records = append(out.records, rec)
		}
		return nil
	})
	return out, err
}

// ListSources lists source records, oldest first. A page may be short: a listing stops after a bounded amount of scanning.
func (cs *Service) ListSources(ctx context.Context, r SourcesRequest) (*SourcesResult, error) {
	snap, err := cs.ReadSettled(ctx, r.Key, store.Query{Slots: []string{LastSourceSlot}})
	if err != nil {
		return nil, err
	}
	last, err := LastSource(snap.Slots)
	if err != nil {
		return nil, err
	}
	const most = 64 * sourcePage
	out, at := &SourcesResult{}, max(r.Cursor, 1)
	var records []*Record
	for looked := 0; at <= last && len(records) < r.Limit && looked < most; looked += sourcePage {
		to := min(at+sourcePage-1, last)
		err := cs.EachSource(ctx, r.Key, snap.Head.Incarnation, at, to, func(n int64, rec *Record) error {
			if len(records) == r.Limit {
				return nil
			}
			at = n + 1
			if r.RunID == "" || rec.Run == r.RunID {
				records = append(records, rec)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(records) < r.Limit {
			at = to + 1
		}
	}
	if at <= last {
		out.Next = at
	}
	out.Sources, err = cs.sourceOf(ctx, r.Key, snap.Head.Incarnation, records...)
	return out, err
}
