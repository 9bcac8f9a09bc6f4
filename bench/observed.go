package main

import (
	"cmp"
	"context"
	"time"
)

// observedBuild compares warm builds of a sidecar that measures itself with those of one that does not, side by side.
func observedBuild(ctx context.Context, r *rig) (float64, string, error) {
	observed, err := newRig(ctx, r.binary)
	if err != nil {
		return 0, "", err
	}
	defer observed.close()
	if err := observed.relaunch(ctx, "--ops", "127.0.0.1:0"); err != nil {
		return 0, "", err
	}
	if err := cmp.Or(r.fill(ctx, "c", 1000, 100), observed.fill(ctx, "c", 1000, 100)); err != nil {
		return 0, "", err
	}
	return bestOf([]sample{
		func() (time.Duration, error) { return observed.stepAndBuild(ctx, "c") },
		func() (time.Duration, error) { return r.stepAndBuild(ctx, "c") },
	}, p50s("%v with metrics, %v without (p50)"))
}
