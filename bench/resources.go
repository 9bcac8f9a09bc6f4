package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// usage is what the sidecar has taken of the machine so far.
type usage struct {
	cpu        time.Duration
	anonymous  float64 // MiB that only a limit's end gives back
	resident   float64 // MiB, with the store's pages, which the kernel takes back when it must
	peak       float64 // MiB, the most that was ever resident
	measuredAt time.Time
}

// resources prints what a pod's requests and limits are set from: memory and processor time of the sidecar, idle, with a thousand
// conversations warm, and under 64 clients, at an agent's pace and as fast as they can.
func resources(ctx context.Context, binary string) error {
	r, err := newRig(ctx, binary)
	if err != nil {
		return err
	}
	defer r.close()
	fmt.Printf("%-50s %9s %9s %9s %9s %9s\n", "", "anonymous", "resident", "peak", "CPU", "turns/s")
	steps := []struct {
		name string
		run  func(context.Context, *rig) (calls int, err error)
	}{
		{"idle, an empty store", pause},
		{"1,000 conversations of 100 KB made, each built", thousandConversations},
		{"idle, with them", pause},
		{"64 clients, a turn in 2 s each", func(ctx context.Context, r *rig) (int, error) { return r.turns(ctx, 2*time.Second) }},
		{"64 clients, as fast as they can", func(ctx context.Context, r *rig) (int, error) { return r.turns(ctx, 0) }},
		{"idle, after them", pause},
	}
	for _, step := range steps {
		before, err := r.usage()
		if err != nil {
			return err
		}
		calls, err := step.run(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		after, err := r.usage()
		if err != nil {
			return err
		}
		seconds := after.measuredAt.Sub(before.measuredAt).Seconds()
		fmt.Printf("%-50s %5.0f MiB %5.0f MiB %5.0f MiB %5.0f m %9.0f\n", step.name, after.anonymous, after.resident, after.peak,
			1000*(after.cpu-before.cpu).Seconds()/seconds, float64(calls)/seconds)
	}
	return nil
}

const stepTime = 20 * time.Second

func pause(ctx context.Context, _ *rig) (int, error) { return 0, store.Pause(ctx, stepTime) }

func thousandConversations(ctx context.Context, r *rig) (int, error) {
	for i := range 1000 {
		conversation := fmt.Sprint("pod-", i)
		if err := r.fill(ctx, conversation, 100, 1000); err != nil {
			return 0, err
		}
		if _, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation}); err != nil {
			return 0, err
		}
	}
	return 1000, nil
}

// turns lets 64 clients take turns of their agents: a message, an answer, a build. A pace of 0 is none.
func (r *rig) turns(ctx context.Context, pace time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepTime)
	defer cancel()
	return together(stepTime, func(caller int) error {
		began := time.Now()
		err := r.turn(ctx, fmt.Sprint("pod-", caller))
		time.Sleep(pace - time.Since(began))
		return err
	})
}

func (r *rig) turn(ctx context.Context, conversation string) error {
	asked := r.add(ctx, conversation, 500)
	answered := r.add(ctx, conversation, 2000)
	_, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT})
	return cmp.Or(asked, answered, err)
}

// ticksPerSecond is what Linux tells processor time in, on every architecture that we build for.
const ticksPerSecond = 100

func (r *rig) usage() (usage, error) {
	u := usage{measuredAt: time.Now()}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.pid))
	if err != nil {
		return u, err
	}
	// Behind the program's name, which may hold anything; user and system time are the 14th and 15th field.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.pid))
	if err != nil {
		return u, err
	}
	u.anonymous, u.resident, u.peak = inMiB(status, "RssAnon:"), inMiB(status, "VmRSS:"), inMiB(status, "VmHWM:")
	if u.anonymous == 0 {
		return u, errors.New("no RssAnon in /proc")
	}
	return u, nil
}

func inMiB(status []byte, field string) float64 {
	_, rest, _ := bytes.Cut(status, []byte(field))
	var kib float64
	_, _ = fmt.Sscanf(string(rest), "%f kB", &kib)
	return kib / 1024
}
