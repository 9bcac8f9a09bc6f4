package dbtest_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestStartPostgres_Stopped_KeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t)
	b := dbtest.StartBouncer(t, p)
	exec(t, p.DSN, "CREATE TABLE t (n int)")
	exec(t, p.SocketDSN, "INSERT INTO t VALUES (1)")
	p.Immediate()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if n := exec(t, b.DSN, "SELECT n FROM t"); n != 1 {
		t.Errorf("%d rows", n)
	}
}

func exec(t *testing.T, dsn, sql string) int64 {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tag, err := conn.Exec(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

func TestStartRedis_Killed_KeepsWhatIsSynced(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t, "--appendfsync", "always")
	client := redis.NewClient(&redis.Options{Addr: r.Address})
	defer client.Close()
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	r.Kill()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if got := client.Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("got %q", got)
	}
}

func TestSharedCluster_Keys_LieOnAllMasters(t *testing.T) {
	t.Parallel()
	c := dbtest.SharedCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addresses})
	defer client.Close()
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := client.Set(t.Context(), key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStartRedis_Port_IsNoPortOfConnections: a connection that another test makes would take it before the server has it.
func TestStartRedis_Port_IsNoPortOfConnections(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(dbtest.StartRedis(t).Address)
	if n, _ := strconv.Atoi(port); err != nil || n < 12_000 || n >= 32_000 {
		t.Errorf("%s, %v", port, err)
	}
}
