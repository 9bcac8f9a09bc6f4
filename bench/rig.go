package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// rig holds what is compared: the sidecar, a bare gRPC server in a process of its own, and a bare bbolt file.
type rig struct {
	dir     string
	binary  string // the sidecar's
	sidecar pb.ContextServiceClient
	stop    func() // ends the sidecar
	set     pb.ConversationServiceClient
	bare    pb.ContextServiceClient
	pid     int
	db      *bbolt.DB
	commits int
	client  dial.Flags // how the sidecar is called
	closers []func()
}

func newRig(ctx context.Context, sidecar string) (*rig, error) {
	dir, err := os.MkdirTemp("", "palimpsest-bench")
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir, binary: sidecar}
	r.onClose(func() { _ = os.RemoveAll(dir) })
	for _, start := range []func(context.Context) error{r.startSidecar, r.startBare, r.openBolt} {
		if err := start(ctx); err != nil {
			r.close()
			return nil, err
		}
	}
	return r, nil
}

func (r *rig) onClose(f func()) { r.closers = append(r.closers, f) }

func (r *rig) close() {
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
}

func (r *rig) startSidecar(ctx context.Context) error {
	r.onClose(func() { r.stop() })
	r.stop = func() {}
	return r.launch(ctx)
}

// launch starts the sidecar over the rig's data.
func (r *rig) launch(ctx context.Context, flags ...string) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	flags = append([]string{"serve", "--listen", address, "--data-dir", filepath.Join(r.dir, "data"), "--log-level", "error"}, flags...)
	cmd := exec.CommandContext(ctx, r.binary, flags...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	r.pid = cmd.Process.Pid
	r.stop = func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
	conn, err := r.dial(address)
	if err != nil {
		return err
	}
	r.sidecar, r.set = pb.NewContextServiceClient(conn), pb.NewConversationServiceClient(conn)
	return ready(ctx, conn)
}

// relaunch stops the sidecar and starts it with other flags, over the same data.
func (r *rig) relaunch(ctx context.Context, flags ...string) error {
	r.stop()
	return r.launch(ctx, flags...)
}

func ready(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	return err
}

func (r *rig) dial(address string) (*grpc.ClientConn, error) {
	flags := r.client
	flags.Address = address
	conn, err := flags.Dial()
	if err == nil {
		r.onClose(func() { _ = conn.Close() })
	}
	return conn, err
}

// startBare starts this program again as the bare server.
func (r *rig) startBare(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, bareArgument)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.onClose(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the bare server did not start: %w", err)
	}
	conn, err := r.dial(strings.TrimSpace(address))
	r.bare = pb.NewContextServiceClient(conn)
	return err
}

// openBolt opens a bare file with the options that the store uses.
func (r *rig) openBolt(context.Context) error {
	db, err := bbolt.Open(filepath.Join(r.dir, "bare.db"), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, NoFreelistSync: true, InitialMmapSize: 1 << 30,
	})
	if err != nil {
		return err
	}
	r.db = db
	r.onClose(func() { _ = db.Close() })
	return db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("bare"))
		return err
	})
}

// commit puts one value, durably.
func (r *rig) commit(size int) (time.Duration, error) {
	r.commits++
	start := time.Now()
	err := r.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("bare")).Put(fmt.Appendf(nil, "%012d", r.commits), make([]byte, size))
	})
	return time.Since(start), err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
