package postgres

import (
	"context"
)

// Making the trigger waits for every transaction that has touched the table, and keeps others from it meanwhile.
const (
	sealSQL = `CREATE OR REPLACE TRIGGER sealed BEFORE INSERT OR UPDATE OR DELETE ON {s}.conversations
 FOR EACH STATEMENT EXECUTE FUNCTION {s}.sealed()`
	unsealSQL = `DROP TRIGGER IF EXISTS sealed ON {s}.conversations`
)

// Seal implements store.Store. It needs the rights of the tables' owner.
func (s *Store) Seal(ctx context.Context, sealed bool) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	text := unsealSQL
	if sealed {
		text = sealSQL
	}
	return s.retried(func() error {
		conn, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.options.CommitTimeout)
		defer cancel()
		_, err = conn.Exec(ctx, s.sql(text))
		return s.fault(err, true)
	})
}
