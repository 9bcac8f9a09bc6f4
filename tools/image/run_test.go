package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// contained runs what follows it in the root "$1", which is read-only but for the volumes, as the image's user: what a container
// runtime does, without one.
const contained = `
mount --make-rprivate /
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount --bind "$2" "$1/data"
mount --bind "$3" "$1/run/palimpsest"
root="$1"
shift 3
exec chroot --userspec=65532:65532 "$root" "$@"
`

const patience = 20 * time.Second

// container is the image, extracted, and the volumes that it runs with.
type container struct {
	config             v1.Config
	root, data, socket string
}

func newContainer(t *testing.T) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a root of its own takes root")
	}
	image := imageOf(t)
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	// A socket's path may have about a hundred bytes.
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	c := &container{config: file.Config, root: filepath.Join(folder, "root"), data: filepath.Join(folder, "data"), socket: filepath.Join(folder, "run")}
	for _, dir := range []string{folder, c.root, c.data, c.socket} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, volume := range []string{c.data, c.socket} {
		if err := os.Chown(volume, userID, userID); err != nil {
			t.Fatal(err)
		}
	}
	extract(t, entriesOf(t, image), c.root)
	return c
}

// start runs the image's entrypoint with its default arguments and more.
func (c *container) start(t *testing.T, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	all := []string{"--mount", "sh", "-ec", contained, "sh", c.root, c.data, c.socket}
	all = append(append(append(all, c.config.Entrypoint...), c.config.Cmd...), arguments...)
	command, log := exec.Command("unshare", all...), &bytes.Buffer{}
	command.Env = slices.Concat(c.config.Env, []string{"PATH=" + os.Getenv("PATH")})
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	return command, log
}

// probe runs a command of the image inside the running container, as a kubelet does.
func (c *container) probe(pid int, arguments ...string) ([]byte, error) {
	all := []string{"--target", strconv.Itoa(pid), "--mount", "chroot", "--userspec=65532:65532", c.root, "/sidecar"}
	return exec.Command("nsenter", append(all, arguments...)...).CombinedOutput()
}

func TestImage_ReadOnlyRoot_ServesAndStops(t *testing.T) {
	t.Parallel()
	c := newContainer(t)
	const inside = "unix:///run/palimpsest/palimpsest.sock"
	running, log := c.start(t, "--listen", inside)
	c.awaitHealthy(t, running, inside)

	address := "unix://" + filepath.Join(c.socket, "palimpsest.sock")
	c.client(t, "append", "weather", "What is the weather?", "--address", address)
	var context struct{ Messages []any }
	if err := json.Unmarshal(c.client(t, "build", "weather", "--address", address, "--json"), &context); err != nil || len(context.Messages) == 0 {
		t.Errorf("the built context has %d messages (%v)", len(context.Messages), err)
	}
	if owner := ownerOf(t, filepath.Join(c.data, "palimpsest.db")); owner != userID {
		t.Errorf("the store belongs to %d", owner)
	}

	if err := running.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, log)
	}
}

func (c *container) awaitHealthy(t *testing.T, running *exec.Cmd, address string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		output, err := c.probe(running.Process.Pid, "healthcheck", "--address", address)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it is not healthy after %s: %v\n%s\n%s", patience, err, output, running.Stderr)
		}
	}
}

// client runs a command of the same binary outside of the container.
func (c *container) client(t *testing.T, arguments ...string) []byte {
	t.Helper()
	command := exec.Command(filepath.Join(c.root, programPath), arguments...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &complaint)
	}
	return output
}

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no owner")
	}
	return status.Uid
}

func TestImage_NoVolume_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := newContainer(t)
	if err := os.Chown(c.data, 0, 0); err != nil {
		t.Fatal(err)
	}
	running, log := c.start(t)
	if err := running.Wait(); err == nil || !strings.Contains(log.String(), "/data") {
		t.Errorf("it ended with %v, saying:\n%s", err, log)
	}
}

// TestImage_OtherTool_LoadsAndRunsIt: the archive is what others understand by one.
func TestImage_OtherTool_LoadsAndRunsIt(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("buildah"); err != nil || os.Geteuid() != 0 {
		t.Skip("buildah is not installed, or this is not root")
	}
	storage := []string{"--root", t.TempDir(), "--runroot", t.TempDir(), "--storage-driver", "vfs"}
	buildah := func(arguments ...string) string {
		t.Helper()
		output, err := exec.Command("buildah", append(storage[:len(storage):len(storage)], arguments...)...).Output()
		if err != nil {
			t.Fatalf("buildah %q: %v\n%s", arguments, err, stderrOf(err))
		}
		return strings.TrimSpace(string(output))
	}
	for _, transport := range []string{"docker-archive", "oci-archive"} {
		name := buildah("from", "--quiet", "--signature-policy", anyImage(t), transport+":"+archiveOf(t))
		if got := buildah("inspect", "--format", "{{.OCIv1.Config.User}}", name); got != "65532:65532" {
			t.Errorf("%s: user %q", transport, got)
		}
		if got := buildah("run", "--isolation", "chroot", name, "/sidecar", "version"); !strings.Contains(got, testVersion) {
			t.Errorf("%s: it ran and said %q", transport, got)
		}
	}
}

func stderrOf(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // exec returns it bare
		return exit.Stderr
	}
	return nil
}

// anyImage is the policy of a machine that was told none.
func anyImage(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(path, []byte(`{"default": [{"type": "insecureAcceptAnything"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
