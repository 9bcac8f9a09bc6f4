package contents

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// find finds a content by its handle. A content of another conversation is not found. A content of an ended run is gone, even
// if the sweeper has not deleted it yet.
func (cs *Service) find(ctx context.Context, key store.Key, handle string) (*Record, *store.Snapshot, error) {
	number, ok := NumberOf(handle)
	q := store.Query{Info: true}
	if ok {
		q.Slots = []string{SourceSlot(number)}
	}
	snap, err := cs.Txn.Read(ctx, key, q)
	if err != nil {
		return nil, nil, err
	}
	value := snap.Slots[SourceSlot(number)]
	if value == nil {
		return nil, nil, notFound()
	}
	r, err := ParseRecord(value)
	if err != nil {
		return nil, nil, err
	}
	if r.Handle != handle {
		return nil, nil, notFound()
	}
	return r, snap, cs.requireRunAlive(ctx, key, snap.Head.Incarnation, r)
}

func notFound() error {
	return conversation.Errorf(conversation.ContentNotFound, "no content of the conversation has this handle")
}

// GoneError is the error for a content that is gone for good.
func GoneError() error {
	return conversation.Errorf(conversation.ContentExpired, "the content is gone for good: do not retry")
}
