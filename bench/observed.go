package main

import (
	"context"
	"fmt"
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
	if err := firstError(r.fill(ctx, "c", 1000, 100), observed.fill(ctx, "c", 1000, 100)); err != nil {
		return 0, "", err
	}
	best, detail := 0.0, ""
	for range rounds {
		var with, without []time.Duration
		for range samples {
			w, err := observed.stepAndBuild(ctx, "c")
			o, err2 := r.stepAndBuild(ctx, "c")
			if err := firstError(err, err2); err != nil {
				return 0, "", err
			}
			with, without = append(with, w), append(without, o)
		}
		if value := float64(p50(with)) / float64(p50(without)); best == 0 || value < best {
			best, detail = value, fmt.Sprintf("%v with metrics, %v without (p50)", p50(with), p50(without))
		}
	}
	return best, detail, nil
}
