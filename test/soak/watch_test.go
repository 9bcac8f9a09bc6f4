package soak

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what a process takes at a moment.
type sample struct {
	memory  int64 // bytes of its own; the pages of the store's file belong to the system
	threads int64
	files   int64
}

func measure(pid int) (sample, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return sample{}, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return sample{}, err
	}
	return sample{memory: field(string(status), "RssAnon:") << 10, threads: field(string(status), "Threads:"), files: int64(len(files))}, nil
}

func field(status, name string) int64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64) // 0 fails below
			return n
		}
	}
	return 0
}

// watch measures a process until stop is closed.
func watch(pid int, stop <-chan struct{}) (samples []sample, err error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		s, err := measure(pid)
		if err != nil {
			return samples, err
		}
		samples = append(samples, s)
		select {
		case <-stop:
			return samples, nil
		case <-ticker.C:
		}
	}
}

const (
	// slack is what may come and go by chance.
	slack = 96 << 20
	// longEnough is how many samples it takes to tell growth from warming up.
	longEnough = 60
)

// growth compares the last quarter of the samples with the second.
func growth(samples []sample) (was, is sample, err error) {
	quarter := len(samples) / 4
	was, is = most(samples[quarter:2*quarter+1]), most(samples[3*quarter:])
	if was.memory == 0 || was.threads == 0 {
		return was, is, fmt.Errorf("nothing was measured: %+v", was)
	}
	if len(samples) < longEnough {
		return was, is, nil
	}
	if is.memory > was.memory+was.memory/2+slack || is.threads > 2*was.threads+8 || is.files > was.files+8 {
		return was, is, fmt.Errorf("the process grows: it took %+v, and takes %+v", was, is)
	}
	return was, is, nil
}

func most(samples []sample) sample {
	by := func(get func(sample) int64) int64 {
		return get(slices.MaxFunc(samples, func(a, b sample) int { return int(get(a) - get(b)) }))
	}
	return sample{
		memory:  by(func(s sample) int64 { return s.memory }),
		threads: by(func(s sample) int64 { return s.threads }),
		files:   by(func(s sample) int64 { return s.files }),
	}
}
