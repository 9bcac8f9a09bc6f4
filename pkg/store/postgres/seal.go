package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Creating the trigger waits for every transaction that has touched the table, and blocks others meanwhile.
const (
	sealSQL = `CREATE OR REPLACE TRIGGER sealed BEFORE INSERT OR UPDATE OR DELETE ON {s}.conversations
 FOR EACH STATEMENT EXECUTE FUNCTION {s}.sealed()`
	unsealSQL = `DROP TRIGGER IF EXISTS sealed ON {s}.conversations`
)

// Seal implements store.Store. It needs the privileges of the tables' owner.
func (s *Store) Seal(ctx context.Context, sealed bool) error {
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	text := unsealSQL
	if sealed {
		text = sealSQL
	}
	return s.retried(func() error {
		return s.onConnection(ctx, 2*s.options.CommitTimeout, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, s.sql(text))
			return s.fault(err, true)
		})
	})
}
