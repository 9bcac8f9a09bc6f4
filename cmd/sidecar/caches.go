package main

import (
	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// The parts of the memory limit that caches may have at most, whatever the flags say: the rest is for calls in flight.
const (
	windowsShare   = 8
	contentsShare  = 8
	summariesShare = 32
)

// caches are how many bytes may be kept warm.
type caches struct{ windows, contents, summaries int64 }

// cachesWithin are the caches that settings ask for, as far as a memory limit lets them; 0 is none.
func cachesWithin(s *config.Settings, memoryLimit int64) caches {
	c := caches{windows: int64(s.CacheSize), contents: int64(s.ContentCacheBytes), summaries: summarize.DefaultCacheBytes}
	if memoryLimit > 0 {
		c.windows = min(c.windows, memoryLimit/windowsShare)
		c.contents = min(c.contents, memoryLimit/contentsShare)
		c.summaries = min(c.summaries, memoryLimit/summariesShare)
	}
	return c
}

func (p *program) caches(s *config.Settings) caches {
	warm := cachesWithin(s, p.memoryLimit)
	if warm.windows < int64(s.CacheSize) || warm.contents < int64(s.ContentCacheBytes) {
		p.log.Info("the memory limit makes caches smaller than they are set",
			zap.Int64("cache_size", warm.windows), zap.Int64("content_cache_bytes", warm.contents))
	}
	return warm
}
