package txn

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Failure turns errors of the store and of contexts into errors of the domain.
func Failure(err error) error {
	var domain *conversation.Error
	switch {
	case err == nil || errors.As(err, &domain):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return conversation.Errorf(conversation.Cancelled, "the caller gave up").Because(err)
	case errors.Is(err, store.ErrNotFound):
		return notFound().Because(err)
	case errors.Is(err, store.ErrOutcomeUnknown):
		return conversation.Errorf(conversation.OutcomeUnknown, "the store failed while it wrote; try again with the same request id").Because(err)
	case errors.Is(err, store.ErrCorrupt):
		return conversation.Errorf(conversation.CorruptRecord, "a stored record is damaged").Because(err)
	case errors.Is(err, store.ErrFull):
		return conversation.Errorf(conversation.StoreFull, "the store has reached its size").Because(err)
	case errors.Is(err, store.ErrUnavailable):
		return conversation.Errorf(conversation.StoreUnavailable, "the store cannot write now; try again").Because(err)
	case errors.Is(err, store.ErrSealed):
		return conversation.Errorf(conversation.StoreUnavailable, "the store is sealed: what it holds is moved to another").Because(err)
	case errors.Is(err, store.ErrClosed):
		return conversation.Errorf(conversation.StoreUnavailable, "the store is shutting down").Because(err)
	default:
		return conversation.Errorf(conversation.Internal, "internal error").Because(err)
	}
}

func notFound() *conversation.Error {
	return conversation.Errorf(conversation.ConversationNotFound, "no such conversation")
}
