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

// errSkipped is told of a message that the target refuses alone.
var errSkipped = errors.New("memories: a memory refused a message, which was passed over")

// deliver gives the target a batch that is on record as under way. ask says that it may have it, and must be asked first.
func (v *visit) deliver(ctx context.Context, b *memory.Batch, r *run, ask bool, seen *verdict) (next time.Time, more bool, err error) {
	receipt, err := memory.Receipt{}, memory.ErrNotFound
	v.underLease(ctx, func(ctx context.Context) {
		if ask {
			receipt, err = v.Target.Settle(ctx, b)
		}
		if errors.Is(err, memory.ErrNotFound) {
			receipt, err = v.Target.Add(ctx, b)
		}
	})
	if ctx.Err() != nil {
		v.letGo(ctx)
		return next, false, ctx.Err()
	}
	v.observe(r, outcomeOf(receipt, err))
	switch {
	case err == nil && receipt.Pending && !v.pendingTooLong():
		*seen = verdict{reached: true}
		next = v.Txn.Now().Add(pollPending)
		return next, false, v.release(ctx, nil, func(slot *record.MemorySync) { slot.Flight.Pending, slot.NextTry = true, next })
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
	// pollPending is how often a target is asked about a batch that it works on, and pendingFor how long.
	pollPending = 5 * time.Second
	pendingFor  = time.Hour
)

// pendingTooLong says whether a batch is worked on for so long that nobody waits for it any more: what it leads to is not known then.
func (v *visit) pendingTooLong() bool {
	return v.slot.Flight != nil && v.Txn.Now().Sub(v.slot.Flight.Sent) >= pendingFor
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

func (v *visit) observe(r *run, outcome Outcome) {
	if v.Observer.Sent != nil && len(r.messages) > 0 {
		v.Observer.Sent(v.Target.Name(), outcome, len(r.messages), max(v.Txn.Now().Sub(r.messages[0].CreateTime), 0))
	}
}

// acknowledge writes down that the target has a batch. If its actor was forgotten meanwhile, it is taken back at once.
func (v *visit) acknowledge(ctx context.Context, b *memory.Batch, r *run, receipt memory.Receipt) error {
	if err := v.readMark(ctx); err != nil {
		return err
	}
	if !v.remembersFrom(b.Messages[0].Time) {
		return v.again(ctx) // what is under way is not what would be sent any more
	}
	slots, lineages, err := v.lineageWith(ctx, record.MemoryOrigin{Range: r.span, IDs: receipt.IDs})
	if err != nil {
		return err
	}
	err = v.release(ctx, slots, func(slot *record.MemorySync) {
		if f := slot.Flight; f != nil && f.Again {
			slot.Again = conversation.SubtractRanges(slot.Again, []conversation.Range{r.span})
		} else {
			r.moveOn(slot)
		}
		v.landed(slot)
		slot.Sent, slot.Lineages = v.Txn.Now(), lineages
		if slot.Size *= 2; int(slot.Size) >= v.limits.MaxMessages {
			slot.Size = 0
		}
	})
	return err
}

// landed says that nothing is under way any more, and nothing failed.
func (v *visit) landed(slot *record.MemorySync) {
	slot.Flight, slot.Attempts, slot.NextTry, slot.State, slot.Reason = nil, 0, time.Time{}, slotSound, ""
}

// again lets the next step look at what is under way anew.
func (v *visit) again(ctx context.Context) error {
	return v.release(ctx, nil, func(slot *record.MemorySync) { slot.NextTry = time.Time{} })
}

// refused makes the next batch half as large. One message that is refused alone is passed over.
func (v *visit) refused(ctx context.Context, r *run) error {
	one := len(r.messages) <= 1
	err := v.release(ctx, nil, func(slot *record.MemorySync) {
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
		v.tell(errSkipped)
	}
	return err
}

// failed writes down that the target could not be reached, and when it is tried again.
func (v *visit) failed(ctx context.Context, failure error, seen *verdict) (next time.Time, err error) {
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
	next = v.Txn.Now().Add(wait)
	err = v.release(ctx, nil, func(slot *record.MemorySync) {
		slot.Attempts++
		slot.NextTry, slot.State, slot.Reason = next, state, reason
	})
	return next, err
}

// verdictOn is what a failure says of the target, and how long what failed so often waits before it is tried again.
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

// longestAfter bounds what a target may ask to wait.
const longestAfter = time.Hour
