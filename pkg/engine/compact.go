package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Compact makes a conversation's view smaller now.
func (e *Engine) Compact(ctx context.Context, r CompactRequest) (*CompactResult, error) {
	return nil, conversation.Errorf(conversation.NothingToCompact, "there is nothing to compact")
}
