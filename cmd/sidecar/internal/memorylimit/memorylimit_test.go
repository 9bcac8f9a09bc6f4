package memorylimit

import (
	"testing"
	"testing/fstest"
)

func TestCgroupLimit_OfVersionAndPlace_IsTheLeast(t *testing.T) {
	const v1, v2, none = "sys/fs/cgroup/memory", "sys/fs/cgroup", "9223372036854771712\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroups":                    {nil, 0},
		"no files":                      {map[string]string{"proc/self/cgroup": "0::/a/b\n"}, 0},
		"version 2":                     {map[string]string{"proc/self/cgroup": "0::/a/b\n", v2 + "/a/b/memory.max": "268435456\n"}, 268435456},
		"version 2, above":              {map[string]string{"proc/self/cgroup": "0::/a/b\n", v2 + "/a/b/memory.max": "max\n", v2 + "/a/memory.max": "1000\n"}, 1000},
		"version 2, less above":         {map[string]string{"proc/self/cgroup": "0::/a\n", v2 + "/a/memory.max": "3000\n", v2 + "/memory.max": "2000\n"}, 2000},
		"version 2, container":          {map[string]string{"proc/self/cgroup": "0::/\n", v2 + "/memory.max": "4096\n"}, 4096},
		"version 1":                     {map[string]string{"proc/self/cgroup": "9:cpu:/\n4:memory:/a\n0::/\n", v1 + "/a/memory.limit_in_bytes": "5000\n", v1 + "/memory.limit_in_bytes": none}, 5000},
		"version 1, none":               {map[string]string{"proc/self/cgroup": "4:memory:/a\n", v1 + "/a/memory.limit_in_bytes": none}, 0},
		"version 1, a path of the host": {map[string]string{"proc/self/cgroup": "4:memory:/docker/abc\n", v1 + "/memory.limit_in_bytes": "6000\n"}, 6000},
		"both": {map[string]string{
			"proc/self/cgroup": "4:memory:/a\n0::/a\n", v1 + "/a/memory.limit_in_bytes": "8000\n", v2 + "/a/memory.max": "7000\n",
		}, 7000},
		"nonsense": {map[string]string{"proc/self/cgroup": "memory\n0::/a\n", v2 + "/a/memory.max": "much\n"}, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroupLimit(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
