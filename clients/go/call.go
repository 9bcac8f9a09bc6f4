package palimpsest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// The pauses between tries of a call.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// rpc is a method of a stub.
type rpc[Q, R any] func(context.Context, *Q, ...grpc.CallOption) (*R, error)

// call makes a call, and again while that may help, within one deadline. A request that changes something carries a request id.
func call[Q, R any](ctx context.Context, p *Palimpsest, method rpc[Q, R], request *Q) (*R, error) {
	return callWithin(ctx, p, p.timeout, method, request)
}

// callWithin is call with another deadline.
func callWithin[Q, R any](ctx context.Context, p *Palimpsest, timeout time.Duration, method rpc[Q, R], request *Q) (*R, error) {
	if err := p.greet(ctx, timeout); err != nil {
		return nil, err
	}
	return attempts(ctx, timeout, func(ctx context.Context) (*R, error) { return method(ctx, request) })
}

func attempts[R any](ctx context.Context, timeout time.Duration, try func(context.Context) (*R, error)) (*R, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		reply, err := try(ctx)
		if err == nil {
			return reply, nil
		}
		failed := newError(err)
		if !failed.Passing() || !sleep(ctx, time.Duration((0.5+mathrand.Float64()/2)*float64(pause))) {
			return nil, failed
		}
	}
}

// sleep waits, unless the deadline would pass meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// versionKey names the sidecar's version in the header of its answers.
const versionKey = "palimpsest-version"

// greet waits until the sidecar serves, and refuses one that is older than the package. Once it has done so it does nothing.
func (p *Palimpsest) greet(ctx context.Context, timeout time.Duration) error {
	p.greeting.Lock()
	defer p.greeting.Unlock()
	if p.greeted {
		return nil
	}
	var header metadata.MD
	_, err := attempts(ctx, timeout, func(ctx context.Context) (*healthpb.HealthCheckResponse, error) {
		if err := p.local.alive(); err != nil {
			return nil, err
		}
		answer, err := p.health.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&header))
		if err == nil && answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			return nil, &Error{Code: codes.Unavailable, Message: "the sidecar does not serve"}
		}
		return answer, err
	})
	if err != nil {
		return p.local.told(err)
	}
	for _, theirs := range header.Get(versionKey) {
		if older(theirs, p.version) {
			return fmt.Errorf("%w: the sidecar is %s, and this package wants %s or newer", ErrOlderSidecar, theirs, p.version)
		}
	}
	p.greeted = true
	return nil
}

// newRequestID is an id that makes a retry safe.
func newRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
