package main

import (
	"testing"
	"testing/fstest"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
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

func TestCachesWithin_SmallLimit_LeavesRoomForCalls(t *testing.T) {
	s := privateSettings("")
	for limit, want := range map[int64]caches{
		0:         {64 << 20, 64 << 20, 16 << 20},
		4 << 30:   {64 << 20, 64 << 20, 16 << 20},
		256 << 20: {32 << 20, 32 << 20, 8 << 20},
	} {
		if got := cachesWithin(s, limit); got != want {
			t.Errorf("of %d bytes: %+v, want %+v", limit, got, want)
		}
	}
	s.CacheSize, s.ContentCacheBytes = 0, 1<<20
	if got, want := cachesWithin(s, 256<<20), (caches{0, 1 << 20, 8 << 20}); got != want {
		t.Errorf("what is set to less: %+v, want %+v", got, want)
	}
}

// TestProgram_SmallLimit_CachesAreSmaller: what the engine is made with, and what the log says of it.
func TestProgram_SmallLimit_CachesAreSmaller(t *testing.T) {
	core, logged := observer.New(zap.InfoLevel)
	warm := (&program{log: zap.New(core), memoryLimit: 256 << 20}).caches(privateSettings(""))
	if warm.windows != 32<<20 || logged.FilterField(zap.Int64("cache_size", 32<<20)).Len() != 1 {
		t.Errorf("%+v, and the log says %v", warm, logged.All())
	}
	if (&program{log: zap.New(core)}).caches(privateSettings("")); logged.Len() != 1 {
		t.Error("the log tells of a limit that there is not")
	}
}
