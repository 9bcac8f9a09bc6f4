package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long a sidecar may take to start or to stop before a test gives up on it.
const patience = 30 * time.Second

// Sidecar is a running process, or one that has ended.
type Sidecar struct {
	command *exec.Cmd
	log     *log
	ended   chan struct{} // closed when the process is gone
	err     error         // how it ended
}

// Launch starts `sidecar serve` on a free port over a folder, and does not wait until it serves.
func Launch(binary, folder string, flags ...string) (*Sidecar, error) {
	flags = append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "bolt", "--data-dir", folder}, flags...)
	s := &Sidecar{
		command: exec.CommandContext(context.Background(), binary, flags...),
		log:     newLog(),
		ended:   make(chan struct{}),
	}
	s.command.Env = withoutSettings(os.Environ())
	s.command.Stdout, s.command.Stderr = s.log, s.log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.err = s.command.Wait()
		close(s.ended)
	}()
	return s, nil
}

// Start launches a sidecar and waits until it serves. It has ended if Start fails.
func Start(binary, folder string, flags ...string) (*Sidecar, error) {
	s, err := Launch(binary, folder, flags...)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// withoutSettings keeps what the tests themselves are told from the sidecar.
func withoutSettings(environment []string) []string {
	return slices.DeleteFunc(environment, func(v string) bool { return strings.HasPrefix(v, "PALIMPSEST_") })
}

// Ready waits until the sidecar serves.
func (s *Sidecar) Ready() error {
	select {
	case <-s.log.ready:
		return nil
	case <-s.ended:
		return fmt.Errorf("the sidecar ended before it served: %w; it wrote:\n%s", s.err, s.log)
	case <-time.After(patience):
		return fmt.Errorf("the sidecar does not serve after %s; it wrote:\n%s", patience, s.log)
	}
}

// Address is where a sidecar listens that is ready.
func (s *Sidecar) Address() string { return s.log.address }

// PID is the process's id.
func (s *Sidecar) PID() int { return s.command.Process.Pid }

// Log is what the sidecar has written.
func (s *Sidecar) Log() string { return s.log.String() }

// Strike kills the process and does not wait: for callers to whom microseconds matter.
func (s *Sidecar) Strike() { _ = s.command.Process.Kill() }

// Kill kills the process as kill -9 does, and waits until it is gone.
func (s *Sidecar) Kill() {
	s.Strike()
	<-s.ended
}

// Operations is where the operations listener of a sidecar is that is ready; empty if it has none.
func (s *Sidecar) Operations() string {
	if found := operationsLine.FindStringSubmatch(s.log.String()); found != nil {
		return found[1]
	}
	return ""
}

// Terminate asks the process to end as an orchestrator does, and does not wait.
func (s *Sidecar) Terminate() error { return s.command.Process.Signal(syscall.SIGTERM) }

// Stop asks the process to end as an orchestrator does, and says how it ended.
func (s *Sidecar) Stop() error { return s.end(syscall.SIGTERM) }

// Dump makes the process end with the stacks of all its goroutines, which are in the log then.
func (s *Sidecar) Dump() error {
	if err := s.end(syscall.SIGQUIT); err == nil {
		return fmt.Errorf("the sidecar took SIGQUIT for a request to stop")
	}
	return nil
}

func (s *Sidecar) end(signal syscall.Signal) error {
	if err := s.command.Process.Signal(signal); err != nil {
		return err
	}
	return s.Ended()
}

// Ended waits for the process to end by itself, and says how it did.
func (s *Sidecar) Ended() error {
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		s.Kill()
		return fmt.Errorf("the sidecar has not ended after %s; it wrote:\n%s", patience, s.log)
	}
}
