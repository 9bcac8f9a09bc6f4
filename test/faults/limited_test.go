package faults

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// startLimited starts a sidecar that is killed if it takes more memory; where a test cannot make cgroups, one that is told to take no more.
func startLimited(t *testing.T, memory int64) *process.Sidecar {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not say how much memory a process holds")
	}
	enter := fmt.Sprintf("export GOMEMLIMIT=%d", memory/100*75)
	if group, err := makeCgroup(t, memory); err == nil {
		enter = "unset GOMEMLIMIT; echo $$ > " + group + "/cgroup.procs || exit 1"
	} else {
		t.Logf("GOMEMLIMIT takes the place of a cgroup: %v", err)
	}
	limited := filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\n%s\nexec '%s' \"$@\"\n", enter, binary)
	if err := os.WriteFile(limited, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	sidecar, err := process.Start(limited, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	return sidecar
}

// makeCgroup makes a cgroup below the test's own, of version 2 or 1, and removes it when the test has ended.
func makeCgroup(t *testing.T, memory int64) (folder string, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	err = errors.New("no cgroup of memory")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		mount, file := "/sys/fs/cgroup", "memory.max"
		if fields[1] == "memory" {
			mount, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if fields[1] != "" {
			continue
		}
		folder = filepath.Join(mount, fields[2], "palimpsest-"+strconv.Itoa(os.Getpid()))
		if err = os.Mkdir(folder, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		limit := []byte(strconv.FormatInt(memory, 10))
		if _, err = os.Stat(filepath.Join(folder, file)); err == nil {
			err = os.WriteFile(filepath.Join(folder, file), limit, 0o600)
		}
		if err == nil {
			return folder, nil
		}
	}
	return "", err
}

// floodWithHeaders sends calls whose headers do not end, past what a client of gRPC lets itself send.
func floodWithHeaders(t *testing.T, sidecar *process.Sidecar) {
	var sending sync.WaitGroup
	for range headerFloods {
		sending.Go(func() {
			if err := sendHeaders(sidecar.Address()); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
}

func sendHeaders(address string) error {
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return err
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	var block strings.Builder
	fields := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/palimpsest.v1.ConversationService/GetConversation"}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		if err := fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			return err
		}
	}
	// From here on the sidecar may have hung up.
	if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String())}) != nil {
		return nil
	}
	for sent := 0; sent < floodHeaders; sent += block.Len() {
		block.Reset()
		if err := fields.WriteField(hpack.HeaderField{Name: fmt.Sprintf("x-%d", sent), Value: strings.Repeat("~", 10_000), Sensitive: true}); err != nil {
			return err
		}
		if framer.WriteContinuation(1, false, []byte(block.String())) != nil {
			return nil
		}
	}
	_ = framer.WriteContinuation(1, true, nil)
	return nil
}
