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

// errNeverSent is the error of a command whose caller gave up before it was sent.
var errNeverSent = errors.New("the caller has gone")

// errorWord returns the first word of an error from the server; empty if the server sent none.
func errorWord(err error) string {
	var answer redis.Error
	if err == nil || !errors.As(err, &answer) || errors.Is(err, redis.Nil) {
		return ""
	}
	word, _, _ := strings.Cut(answer.Error(), " ")
	return word
}

// noScript reports that the server does not know a script yet.
func noScript(err error) bool { return errorWord(err) == "NOSCRIPT" }

// midway reports that a script failed while it was running, so it may have written. The server then names the line.
func midway(err error) bool {
	return errorWord(err) != "" && strings.Contains(err.Error(), " script: ")
}

// elsewhere reports that another node has the partition, or will have it soon. Nothing was written.
func elsewhere(err error) bool {
	return !midway(err) && slices.Contains([]string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"}, errorWord(err))
}

// readable reports that a server refuses to write, but can still be read.
func readable(err error) bool {
	return slices.Contains([]string{"NOREPLICAS", "MISCONF", "READONLY", "OOM"}, errorWord(err))
}

// failure turns the error of a call into one of the contract. It takes over only the first word of the server's text, and nothing of
// the driver's: they may hold keys.
func failure(ctx context.Context, err error, begun bool) error {
	word := errorWord(err)
	switch {
	case begun && midway(err):
		return fmt.Errorf("%w: a script ended half way: the server answers %s", store.ErrOutcomeUnknown, word)
	case errors.Is(err, redis.ErrClosed):
		return store.ErrClosed
	case errors.Is(err, errSealed), errors.Is(err, redis.TxFailedErr): // a transaction only watches the seal
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

// answered returns the error for the server's answer.
func answered(word string) error {
	switch word {
	case "WRONGTYPE", "ERR":
		return fmt.Errorf("%w: the server answers %s", store.ErrCorrupt, word)
	default: // LOADING, MISCONF, READONLY, NOREPLICAS, MASTERDOWN, BUSY, NOAUTH, NOPERM, ...
		return fmt.Errorf("%w: the server answers %s", store.ErrUnavailable, word)
	}
}

// busy reports that no connection was free.
func busy(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}
