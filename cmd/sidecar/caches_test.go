package main

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
)

func TestCachesWithin_SmallLimit_LeavesRoomForCalls(t *testing.T) {
	s := config.Private("")
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
	warm := (&program{log: zap.New(core), memoryLimit: 256 << 20}).caches(config.Private(""))
	if warm.windows != 32<<20 || logged.FilterField(zap.Int64("cache_size", 32<<20)).Len() != 1 {
		t.Errorf("%+v, and the log says %v", warm, logged.All())
	}
	if (&program{log: zap.New(core)}).caches(config.Private("")); logged.Len() != 1 {
		t.Error("the log tells of a limit that there is not")
	}
}
