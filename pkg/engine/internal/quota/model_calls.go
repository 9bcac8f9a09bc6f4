package quota

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const callWindow = time.Minute

// callLog holds this process's model calls for a namespace in the last minute.
type callLog struct {
	mu    sync.Mutex
	calls []*modelCall // oldest first
}

type modelCall struct {
	at   time.Time
	cost float64
	made bool // false if the call was not made in the end
}

// ReserveCall admits a model call for a namespace that may take the given tokens. model is provider/model. The caller must call settle with
// whether the call was made and what it took. A model without prices in its profile costs nothing.
func (k *Keeper) ReserveCall(ctx context.Context, namespace, model string, may conversation.CallTokens) (settle func(made bool, took conversation.CallTokens), admitted bool) {
	limits := k.options.Limits(namespace)
	if limits.ModelCalls <= 0 && limits.ModelSpend <= 0 {
		return func(bool, conversation.CallTokens) {}, true
	}
	price := func(conversation.CallTokens) float64 { return 0 }
	if limits.ModelSpend > 0 {
		_, name, _ := strings.Cut(model, "/")
		profile, err := k.options.Profile(ctx, namespace, name)
		if err != nil { // the cost is unknown
			return nil, false
		}
		if profile.IsPriced() {
			price = profile.CallCost
		}
	}
	log := k.callLog(namespace)
	call := log.reserve(k.options.Clock(), limits, price(may))
	if call == nil {
		return nil, false
	}
	return func(made bool, took conversation.CallTokens) { log.settle(call, made, price(took)) }, true
}

func (k *Keeper) callLog(namespace string) *callLog {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.calls[namespace]
	if c == nil {
		c = &callLog{}
		k.calls[namespace] = c
	}
	return c
}

// reserve records a call if the last minute has room for it; otherwise it returns nil. If nothing was spent in the last minute there is
// always room: a limit smaller than the estimate for one call would otherwise refuse for ever.
func (c *callLog) reserve(now time.Time, limits Limits, cost float64) *modelCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, spent := c.sum(now)
	if limits.ModelCalls > 0 && n >= limits.ModelCalls || limits.ModelSpend > 0 && min(cost, spent) > 0 && spent+cost > limits.ModelSpend {
		return nil
	}
	call := &modelCall{at: now, cost: cost, made: true}
	c.calls = append(c.calls, call)
	return call
}

func (c *callLog) settle(call *modelCall, made bool, cost float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call.made, call.cost = made, cost
}

// sum drops calls older than a minute, and counts the others.
func (c *callLog) sum(now time.Time) (n int64, spent float64) {
	kept := c.calls[:0]
	for _, call := range c.calls {
		if !call.made || now.Sub(call.at) >= callWindow {
			continue
		}
		kept = append(kept, call)
		n, spent = n+1, spent+call.cost
	}
	clear(c.calls[len(kept):])
	c.calls = kept
	return n, spent
}

func (c *callLog) lastMinute(now time.Time) (n int64, spent float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum(now)
}
