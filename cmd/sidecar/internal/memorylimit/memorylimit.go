// Package memorylimit keeps a process to the memory that its cgroup lets it have.
package memorylimit

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"go.uber.org/zap"
)

// The heap has a part of what the process may have: the rest is for the program itself, the kernel's buffers, stacks and the store's pages.
const heapPercent = 75

// Set finds how many bytes the process may take, 0 if nothing limits it, and makes the garbage collector keep to it unless
// GOMEMLIMIT says otherwise.
func Set(log *zap.Logger) int64 {
	limit := cgroupLimit(os.DirFS("/"))
	if os.Getenv("GOMEMLIMIT") != "" {
		if set := debug.SetMemoryLimit(-1); set != math.MaxInt64 && (limit == 0 || set < limit) {
			return set
		}
		return limit
	}
	if limit > 0 {
		heap := limit / 100 * heapPercent
		debug.SetMemoryLimit(heap)
		log.Info("the cgroup limits memory", zap.Int64("cgroup_bytes", limit), zap.Int64("go_memory_limit_bytes", heap))
	}
	return limit
}

// cgroupLimit is the least memory limit of the process's cgroup and those above it, of version 2 or 1; 0 if there is none.
func cgroupLimit(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	var least int64
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if fields[1] != "" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if fields[1] == "" || fields[1] == "memory" {
			least = lesser(least, limitUpwards(root, mount, fields[2], file))
		}
	}
	return least
}

// limitUpwards looks up to the mount itself: in a container that is the container's own group, whatever its path says.
func limitUpwards(root fs.FS, mount, group, file string) int64 {
	var least int64
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		least = lesser(least, readLimit(root, path.Join(mount, group, file)))
		if group == "/" {
			return least
		}
	}
}

// readLimit is a limit in a file; 0 if it has none, which version 1 says with a number no machine has.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	n, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if errors.Join(err, wrong) != nil || n >= 1<<60 {
		return 0
	}
	return n
}

// lesser is the smaller of two limits, of which 0 is none.
func lesser(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
