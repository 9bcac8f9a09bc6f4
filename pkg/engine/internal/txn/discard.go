package txn

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// discardWithin bounds how long a call that was refused goes on for what it staged.
const discardWithin = 30 * time.Second

// Discard lets go uploads that a call staged and no commit will refer to, even where its caller has given up: refused calls must not fill the
// disk. Without uploads, it is all that is staged under an incarnation that will never be. What fails here is swept in an hour.
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
