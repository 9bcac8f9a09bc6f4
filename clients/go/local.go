package palimpsest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
)

// binaryVariable names the sidecar that Local starts, if WithBinary does not.
const binaryVariable = "PALIMPSEST_BINARY"

const (
	patience   = 10 * time.Second // until a sidecar that was asked to end is killed
	logInError = 2000             // the log's last bytes
)

// WithBinary names the sidecar's binary for Local. By default it is that of
// PALIMPSEST_BINARY, or palimpsest or sidecar on PATH.
func WithBinary(path string) Option { return func(o *options) { o.binary = path } }

// WithDataDir has Local keep conversations in a folder. By default they are
// gone with the process.
func WithDataDir(folder string) Option { return func(o *options) { o.dataDir = folder } }

// WithArguments gives Local further arguments of `sidecar serve`.
func WithArguments(arguments ...string) Option {
	return func(o *options) { o.arguments = append(o.arguments, arguments...) }
}

// Local starts a sidecar for this program alone, on a socket that its user
// alone can reach, and waits until it serves. Close ends it.
func Local(ctx context.Context, choices ...Option) (*Palimpsest, error) {
	started, err := start(newOptions(choices)) //nolint:contextcheck // it lives until Close, whatever becomes of ctx
	if err != nil {
		return nil, err
	}
	p, err := New("unix://"+started.socket, choices...)
	if err != nil {
		return nil, errors.Join(err, started.stop())
	}
	p.local = started
	if err := p.greet(ctx, p.timeout); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// process is a sidecar of this program's.
type process struct {
	folder string
	socket string
	log    string
	child  *exec.Cmd
	ended  chan struct{} // closed once failure says how
	failed error
}

func start(o *options) (*process, error) {
	binary, err := find(o.binary)
	if err != nil {
		return nil, err
	}
	// The path of a socket may have about a hundred bytes, so that the folder's name must be short.
	folder, err := os.MkdirTemp("", "palimpsest-")
	if err != nil {
		return nil, err
	}
	s := &process{folder: folder, socket: filepath.Join(folder, "p.sock"), log: filepath.Join(folder, "sidecar.log"), ended: make(chan struct{})}
	if err := s.run(binary, o); err != nil {
		return nil, errors.Join(fmt.Errorf("palimpsest: the sidecar does not start: %w", err), os.RemoveAll(folder))
	}
	return s, nil
}

func (s *process) run(binary string, o *options) error {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	arguments := []string{"serve", "--until-stdin-ends", "--listen", "unix://" + s.socket}
	if o.dataDir == "" {
		arguments = append(arguments, "--store", "memory")
	} else {
		arguments = append(arguments, "--store", "bolt", "--data-dir", o.dataDir)
	}
	s.child = exec.CommandContext(context.Background(), binary, append(arguments, o.arguments...)...)
	s.child.Stdout, s.child.Stderr = log, log
	// Nothing is written there. It ends with this program, however that ends.
	if _, err := s.child.StdinPipe(); err != nil {
		return err
	}
	if err := s.child.Start(); err != nil {
		return err
	}
	go func() {
		s.failed = s.child.Wait()
		close(s.ended)
	}()
	return nil
}

// find is the binary to start.
func find(named string) (string, error) {
	named = cmp.Or(named, os.Getenv(binaryVariable))
	if named != "" {
		return exec.LookPath(named)
	}
	for _, name := range []string{"palimpsest", "sidecar"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("palimpsest: no sidecar is on PATH: name its binary, or set %s", binaryVariable)
}

// alive fails if the process has ended. Nobody's process is alive.
func (s *process) alive() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.ended:
	default:
		return nil
	}
	return &Error{Code: codes.FailedPrecondition, Message: fmt.Sprintf("the sidecar ended (%v)", s.failed), away: true}
}

// told is why a start failed, with what the process said last.
func (s *process) told(err error) error {
	failed := (*Error)(nil)
	if s == nil || !errors.As(err, &failed) {
		return err
	}
	said, _ := os.ReadFile(s.log) // what cannot be read is not told
	told := *failed
	told.Message += ": " + strings.TrimSpace(string(said[max(0, len(said)-logInError):]))
	return &told
}

// stop ends the process, by its id, and removes its folder.
func (s *process) stop() error {
	if err := s.child.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = s.child.Process.Kill() // what cannot be asked
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		_ = s.child.Process.Kill()
		<-s.ended
	}
	return os.RemoveAll(s.folder)
}
