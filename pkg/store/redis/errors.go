package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// errNeverSent is what a command ends with whose caller had gone before it was sent.
var errNeverSent = errors.New("the caller has gone")

// said is the first word of an error that the server answered; empty if it answered nothing.
func said(err error) string {
	var answer redis.Error
	if err == nil || !errors.As(err, &answer) || errors.Is(err, redis.Nil) {
		return ""
	}
	word, _, _ := strings.Cut(answer.Error(), " ")
	return word
}

// noScript says that the server does not know a script yet.
func noScript(err error) bool { return said(err) == "NOSCRIPT" }

// midway says that a script ended where it was, and not before its first line: it may have written. The server names the line then.
func midway(err error) bool { return said(err) != "" && strings.Contains(err.Error(), " script: ") }

// elsewhere says that another node has the partition, or will have it soon. Nothing was written.
func elsewhere(err error) bool {
	return !midway(err) && slices.Contains([]string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"}, said(err))
}

// readable says that a server refuses to write, which is no reason not to read from it.
func readable(err error) bool {
	return slices.Contains([]string{"NOREPLICAS", "MISCONF", "READONLY", "OOM"}, said(err))
}

// failure is the contract's error for one of a call. Nothing of the server's words or of the driver's goes with it but the first word:
// they may hold keys.
func failure(ctx context.Context, err error, begun bool) error {
	word := said(err)
	switch {
	case begun && midway(err):
		return fmt.Errorf("%w: a script ended half way: the server answers %s", store.ErrOutcomeUnknown, word)
	case errors.Is(err, redis.ErrClosed):
		return store.ErrClosed
	case errors.Is(err, errSealed), errors.Is(err, redis.TxFailedErr): // a transaction watches nothing but the seal
		return store.ErrSealed
	case word == "OOM":
		return fmt.Errorf("%w: the server's memory", store.ErrFull)
	case word != "":
		return answered(word)
	case begun:
		return fmt.Errorf("%w: no answer from the server", store.ErrOutcomeUnknown)
	case errors.Is(err, errRefused):
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		return fmt.Errorf("%w: no answer from the server in time: %w", store.ErrUnavailable, ctx.Err())
	case busy(err):
		return fmt.Errorf("%w: all connections are busy", store.ErrUnavailable)
	default:
		return fmt.Errorf("%w: the server does not answer", store.ErrUnavailable)
	}
}

// answered is the error for what the server said.
func answered(word string) error {
	switch word {
	case "WRONGTYPE", "ERR":
		return fmt.Errorf("%w: the server answers %s", store.ErrCorrupt, word)
	default: // LOADING, MISCONF, READONLY, NOREPLICAS, MASTERDOWN, BUSY, NOAUTH, NOPERM, ...
		return fmt.Errorf("%w: the server answers %s", store.ErrUnavailable, word)
	}
}

// busy says that there was no connection to be had.
func busy(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}
