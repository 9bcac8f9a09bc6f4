package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dbtest"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"sidecar": main})
}

// leakChecked fails a run that leaves goroutines behind.
type leakChecked struct{ *testing.M }

// Run runs the tests, and looks for goroutines after them.
func (m leakChecked) Run() int {
	code := m.M.Run()
	dbtest.StopShared()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestSidecar_Scripts starts the real program. In scripts, `freeport NAME` sets a variable to a free address, `await ADDRESS`
// waits until a sidecar serves there, `hold ADDRESS` opens a call and leaves it open, `converse ADDRESS ID` plays a short
// conversation, `cite ADDRESS ID` one with a result that is cited, and `terminate` sends SIGTERM to the program that was started last. The condition `root` is true
// for a user whom no mode keeps out.
func TestSidecar_Scripts(t *testing.T) { runScripts(t, "testdata/script", nil) }

// TestSidecar_StoreScripts starts it on servers of databases: $POSTGRES and $REDIS say where they are, $NAME is a schema or a prefix of the
// script's own.
func TestSidecar_StoreScripts(t *testing.T) {
	postgres, redis := dbtest.SharedPostgres(t), dbtest.SharedRedis(t)
	runScripts(t, "testdata/stores", func(env *testscript.Env) {
		env.Setenv("POSTGRES", postgres.DSN)
		env.Setenv("REDIS", "redis://"+redis.Address)
		env.Setenv("NAME", fmt.Sprintf("t%x", sha256.Sum256([]byte(env.WorkDir)))[:20])
	})
}

func runScripts(t *testing.T, folder string, setup func(*testscript.Env)) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: folder,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_STATE_HOME", "")
			if setup != nil {
				setup(env)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"freeport": freeport, "await": await, "hold": hold, "terminate": terminate, "converse": converse, "cite": cite,
		},
	})
}

func freeport(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	ts.Check(l.Close())
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	conn := dialSidecar(ts, args[0])
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	ts.Check(err)
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	conn := dialSidecar(ts, args[0])
	stream, err := pb.NewConversationServiceClient(conn).ImportConversation(context.Background())
	ts.Check(err)
	ts.Check(stream.Send(&pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: "held"}}))
	ts.Defer(func() { _ = conn.Close() })
	time.Sleep(100 * time.Millisecond) // until the call has arrived: nothing answers it
}

func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	running := ts.BackgroundCmds()
	ts.Check(running[len(running)-1].Process.Signal(syscall.SIGTERM))
}

func dialSidecar(ts *testscript.TestScript, address string) *grpc.ClientConn {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1, MaxDelay: 20 * time.Millisecond},
			MinConnectTimeout: 20 * time.Second, // else an attempt ends when the next is due, which a machine with other work does not manage
		}))
	ts.Check(err)
	return conn
}
