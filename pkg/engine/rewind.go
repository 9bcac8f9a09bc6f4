package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Rewind takes back the newest messages.
func (e *Engine) Rewind(ctx context.Context, r RewindRequest) (*RewindResult, error) {
	return nil, conversation.Errorf(conversation.AlreadyRewound, "there is nothing to take back")
}
