package memories

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The states of a slot.
const (
	slotSound int32 = iota
	slotRetrying
	slotStopped
)

// errSkipped is reported if a message is passed over because the target refuses it even when it is sent alone.
var errSkipped = errors.New("memories: a memory refused a message, which was passed over")

// deliver gives the target a batch that is recorded as under way. With ask, the target may have it already and is asked first.
func (v *syncState) deliver(ctx context.Context, b *memory.Batch, r *run, ask bool, seen *verdict) (next time.Time, more bool, err error) {
	receipt, err := memory.Receipt{}, memory.ErrNotFound
	v.slot.underLease(ctx, func(ctx context.Context) {
		if ask {
			receipt, err = v.service.Target.Settle(ctx, b)
		}
		if errors.Is(err, memory.ErrNotFound) {
			receipt, err = v.service.Target.Add(ctx, b)
		}
	})
	if ctx.Err() != nil {
		v.slot.letGo(ctx)
		return next, false, ctx.Err()
	}
	v.observe(r, outcomeOf(receipt, err))
	switch {
	case err == nil && receipt.Pending && !v.pendingTooLong():
		*seen = verdict{reached: true}
		next = v.service.Txn.Now().Add(pollPending)
		return next, false, v.slot.release(ctx, nil, func(slot *record.MemorySync) { slot.Flight.Pending, slot.NextTry = true, next })
	case err == nil:
		*seen = verdict{reached: true}
		return next, true, v.acknowledge(ctx, b, r, receipt)
	case errors.Is(err, memory.ErrRefused):
		*seen = verdict{reached: true}
		return next, true, v.refused(ctx, r)
	default:
		next, err = v.failed(ctx, err, seen)
		return next, false, err
	}
}

const (
	// pollPending is how often a target is asked about a batch that it is working on, and pendingFor for how long.
	pollPending = 5 * time.Second
	pendingFor  = time.Hour
)

// pendingTooLong reports whether the target has worked on a batch for so long that nobody waits for it any more. The memories that it
// leads to stay unknown then.
func (v *syncState) pendingTooLong() bool {
	return v.slot.Flight != nil && v.service.Txn.Now().Sub(v.slot.Flight.Sent) >= pendingFor
}

func outcomeOf(receipt memory.Receipt, err error) Outcome {
	switch {
	case err == nil && receipt.Pending:
		return OutcomePending
	case err == nil:
		return OutcomeTaken
	case errors.Is(err, memory.ErrRefused):
		return OutcomeRefused
	case errors.Is(err, memory.ErrDenied):
		return OutcomeDenied
	case errors.Is(err, memory.ErrUnavailable):
		return OutcomeUnavailable
	default:
		return OutcomeUnknown
	}
}

func (v *syncState) observe(r *run, outcome Outcome) {
	if v.service.Observer.Sent != nil && len(r.messages) > 0 {
		v.service.Observer.Sent(v.service.Target.Name(), outcome, len(r.messages), max(v.service.Txn.Now().Sub(r.messages[0].CreateTime), 0))
	}
}

// acknowledge records that the target has a batch. If its actor was forgotten meanwhile, the batch is taken back at once.
func (v *syncState) acknowledge(ctx context.Context, b *memory.Batch, r *run, receipt memory.Receipt) error {
	if err := v.readMark(ctx); err != nil {
		return err
	}
	if !v.queue.remembersFrom(b.Messages[0].Time) {
		return v.lookAgainAtFlight(ctx) // what is under way is no longer what would be sent
	}
	slots, lineages, err := v.lineageWith(ctx, record.MemoryOrigin{Range: r.span, IDs: receipt.IDs})
	if err != nil {
		return err
	}
	err = v.slot.release(ctx, slots, func(slot *record.MemorySync) {
		if f := slot.Flight; f != nil && f.Again {
			slot.Again = conversation.SubtractRanges(slot.Again, []conversation.Range{r.span})
		} else {
			r.moveOn(slot)
		}
		v.landed(slot)
		slot.Sent, slot.Lineages = v.service.Txn.Now(), lineages
		if slot.Size *= 2; int(slot.Size) >= v.service.limits.MaxMessages {
			slot.Size = 0
		}
	})
	return err
}

// landed records that nothing is under way and nothing has failed.
func (v *syncState) landed(slot *record.MemorySync) {
	slot.Flight, slot.Attempts, slot.NextTry, slot.State, slot.Reason = nil, 0, time.Time{}, slotSound, ""
}

// lookAgainAtFlight makes the next step look again at what is under way.
func (v *syncState) lookAgainAtFlight(ctx context.Context) error {
	return v.slot.release(ctx, nil, func(slot *record.MemorySync) { slot.NextTry = time.Time{} })
}

// refused halves the size of the next batch. A message that is refused alone is passed over.
func (v *syncState) refused(ctx context.Context, r *run) error {
	one := len(r.messages) <= 1
	err := v.slot.release(ctx, nil, func(slot *record.MemorySync) {
		again := slot.Flight != nil && slot.Flight.Again
		v.landed(slot)
		slot.Size = max(int32(len(r.messages)/2), 1)
		switch {
		case one && again:
			slot.Again = conversation.SubtractRanges(slot.Again, []conversation.Range{r.span})
			slot.Skipped++
		case one:
			r.moveOn(slot)
			slot.Skipped++
		}
	})
	if err == nil && one {
		v.service.OnError(errSkipped)
	}
	return err
}

// failed records that the target could not be reached, and when to try again.
func (v *syncState) failed(ctx context.Context, failure error, seen *verdict) (next time.Time, err error) {
	state, reason := slotRetrying, "the memory's answer was lost"
	var wait time.Duration
	*seen, wait = verdictOn(failure, v.slot.Attempts)
	var away *memory.UnavailableError
	switch {
	case seen.denied:
		state, reason = slotStopped, "the memory does not accept the sidecar's credential or settings"
	case errors.As(failure, &away) && away.Cause != "":
		reason = fmt.Sprintf("the memory is unavailable (%s)", away.Cause)
	case errors.Is(failure, memory.ErrUnavailable):
		reason = "the memory is unavailable"
	}
	next = v.service.Txn.Now().Add(wait)
	err = v.slot.release(ctx, nil, func(slot *record.MemorySync) {
		slot.Attempts++
		slot.NextTry, slot.State, slot.Reason = next, state, reason
	})
	return next, err
}

// verdictOn returns what a failure says about the target, and how long to wait after the given number of attempts.
func verdictOn(failure error, attempts int32) (verdict, time.Duration) {
	wait := jitter(time.Second, int(attempts))
	var away *memory.UnavailableError
	switch {
	case errors.Is(failure, memory.ErrDenied):
		return verdict{denied: true}, deniedFor
	case errors.As(failure, &away):
		return verdict{failed: true, after: away.After}, max(wait, min(away.After, longestAfter))
	default:
		return verdict{failed: true}, wait
	}
}

// longestAfter is the longest wait that a target may ask for.
const longestAfter = time.Hour
