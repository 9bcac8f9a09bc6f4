package txn

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// discardWithin is how long a refused call may take to discard what it staged.
const discardWithin = 30 * time.Second

// Discard deletes uploads that a call staged and no commit will refer to, even if the caller is gone: refused calls must not fill the disk.
// Without uploads, it deletes everything that is staged under an incarnation which will not be committed. What it fails to delete, the
// sweeper deletes an hour later.
func (t *Manager) Discard(ctx context.Context, key store.Key, incarnation conversation.ID, uploads ...conversation.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardWithin)
	defer cancel()
	if len(uploads) == 0 {
		uploads = []conversation.ID{{}}
	}
	for _, id := range uploads {
		if t.Delete(ctx, key, store.Deletion{Incarnation: incarnation, Upload: id}) != nil {
			return
		}
	}
}
