// Command bench measures the sidecar against what it is built on: ratios to bare gRPC calls and bare bbolt commits of the same
// bytes, taken in turns in one run, best of three, because machines are noisy and absolute figures do not travel. It starts
// the sidecar that -sidecar names, prints a table and fails on a missed bar.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// rounds is how often each measurement is taken; the best counts.
const rounds = 3

func main() {
	if len(os.Args) > 1 && os.Args[1] == bareArgument {
		serveBare()
		return
	}
	sidecar := flag.String("sidecar", "bin/sidecar", "the sidecar's binary")
	only := flag.String("only", "", "measure only what has this in its name")
	idle := flag.Duration("idle", time.Minute, "how long the sidecar idles before its memory is read")
	pod := flag.Bool("resources", false, "print what the sidecar takes of a machine instead, for a pod's requests and limits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := chosen(ctx, *pod, *sidecar, *only, *idle)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func chosen(ctx context.Context, pod bool, sidecar, only string, idle time.Duration) error {
	if pod {
		return resources(ctx, sidecar)
	}
	return run(ctx, sidecar, only, idle)
}

// measurement is one line of the table.
type measurement struct {
	name string
	bar  bar
	run  func(context.Context, *rig) (float64, string, error)
}

// bar is what a measurement must reach.
type bar struct {
	limit   float64
	atLeast bool
	unit    string
}

func (b bar) met(value float64) bool {
	if b.atLeast {
		return value >= b.limit
	}
	return value <= b.limit
}

func (b bar) String() string {
	if b.atLeast {
		return fmt.Sprintf("at least %g%s", b.limit, b.unit)
	}
	return fmt.Sprintf("at most %g%s", b.limit, b.unit)
}

func measurements(idle time.Duration) []measurement {
	return []measurement{
		{"warm build of 600 KB / (bare reply + bare commit)", bar{limit: 2.5, unit: " ×"}, warmBuild},
		{"lone append / (bare call + bare commit)", bar{limit: 2.5, unit: " ×"}, loneAppend},
		{"step of one call / (bare call + bare commit)", bar{limit: 1.25, unit: " ×"}, loneStep},
		{"step of one call / append, append, build", bar{limit: 0.5, unit: " ×"}, stepByCalls},
		{"appends at 64 callers / bare echo calls", bar{limit: 0.14, atLeast: true, unit: " ×"}, manyAppends},
		{"build over 1,000,000 messages / over 1,000", bar{limit: 1.2, unit: " ×"}, longBuild},
		{"warm build, all policies, 100,000 messages / 1,000", bar{limit: 1.2, unit: " ×"}, windowBuild()},
		{"cold build, all policies, 100,000 messages / 1,000", bar{limit: 1.2, unit: " ×"}, windowBuild("--cache-size", "0")},
		{"warm build with a token / without", bar{limit: 1.03, unit: " ×"}, withTokens},
		{"warm build by TLS with a token / without", bar{limit: 1.10, unit: " ×"}, withTLS},
		{"warm build, with metrics / without", bar{limit: 1.05, unit: " ×"}, observedBuild},
		{"RssAnon, idle, 1,000,000 messages in 10,000 conversations", bar{limit: 200, unit: " MiB"}, idleMemory(idle)},
	}
}

func run(ctx context.Context, sidecar, only string, idle time.Duration) error {
	missed := 0
	for _, m := range measurements(idle) {
		if !strings.Contains(m.name, only) {
			continue
		}
		value, detail, err := measure(ctx, sidecar, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		verdict := "met"
		if !m.bar.met(value) {
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("%-60s %7.2f%s  (%s: %s)\n    %s\n", m.name, value, m.bar.unit, m.bar, verdict, detail)
	}
	if missed > 0 {
		return fmt.Errorf("%d bars missed", missed)
	}
	return nil
}

func measure(ctx context.Context, sidecar string, m measurement) (value float64, detail string, err error) {
	r, err := newRig(ctx, sidecar)
	if err != nil {
		return 0, "", err
	}
	defer r.close()
	return m.run(ctx, r)
}
