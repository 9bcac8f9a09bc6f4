package memories

import (
	"context"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	memstore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// deletesBehindList deletes a conversation right after it was listed.
type deletesBehindList struct {
	store.Store
	key store.Key
}

func (s *deletesBehindList) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	page, err := s.Store.List(ctx, namespace, after, limit)
	if err != nil || len(page) == 0 {
		return page, err
	}
	head := page[0].Head
	head.Version++
	head.State, head.DeleteTime = store.Deleted, time.Now().Add(time.Hour)
	if err := s.Commit(ctx, s.key, &store.Change{Expect: page[0].Head.Version, Head: head}); err != nil {
		return nil, err
	}
	for done := false; !done; {
		if done, err = s.Delete(ctx, s.key, store.Deletion{Incarnation: head.Incarnation, KeepHead: true, Limit: 1000}); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// TestBlocks_Unshow_DeletedMeanwhile: a conversation that is deleted after it was listed shows nothing any more.
func TestBlocks_Unshow_DeletedMeanwhile(t *testing.T) {
	ctx, key := t.Context(), store.Key{Namespace: "n", Conversation: "c"}
	kept := &deletesBehindList{Store: memstore.New(memstore.Options{}), key: key}
	head := txn.NewHead(conversation.ID{1}, time.Now())
	head.Version, head.EditSeq = 1, 1
	edit := conversation.Edit{Seq: 1, Kind: conversation.EditHide, Range: conversation.Range{End: 1}}
	err := kept.Commit(ctx, key, &store.Change{Head: head, Info: &store.Info{ActorID: "ada"}, Edits: []conversation.Edit{edit}})
	if err != nil {
		t.Fatal(err)
	}
	b := &blocks{store: kept, txn: txn.New(kept, time.Now, nil)}
	scope := memory.Scope{Namespace: "n", Kind: memory.ScopeUser, ID: "ada"}
	if err := txn.Guard(func() error { return b.unshow(ctx, scope, func(memory.Memory) bool { return true }) }); err != nil {
		t.Errorf("a deleted conversation is looked at: %v", err)
	}
}
