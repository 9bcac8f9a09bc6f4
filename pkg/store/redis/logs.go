package redis

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// exactRange is the longest range of messages that is read by index, without a script. A missing message costs a few bytes.
const exactRange = 2000

func bounds(q *store.MessageRange) (first, end int32) { return max(q.First, 0), max(q.End, 0) }

func exact(q *store.MessageRange) bool {
	first, end := bounds(q)
	return int(end)-int(first) <= exactRange && q.Limit == 0 && q.MaxTokens == 0
}

func appendIndices(args []any, q *store.MessageRange) []any {
	first, end := bounds(q)
	from := len(args)
	args = slices.Grow(args, max(int(end)-int(first), 0))
	for i := first; i < end; i++ {
		args = append(args, int64(i))
	}
	if q.Reverse {
		slices.Reverse(args[from:])
	}
	return args
}

func (r *reading) messages(ctx context.Context, q *store.MessageRange) {
	first, end := bounds(q)
	if first >= end {
		return
	}
	if exact(q) {
		args := appendIndices([]any{"hmget", r.p.messages(r.guess, r.staged)}, q)
		cmd := redis.NewSliceCmd(ctx, args...)
		_ = r.pipe.Process(ctx, cmd)
		r.take(cmd, r.readMessages)
		return
	}
	r.script(ctx, r.s.scripts.messages, []string{r.p.messages(r.guess, r.staged)}, r.readMessages,
		int64(first), int64(end), q.Limit, q.MaxTokens, flag(q.Reverse))
}

func (r *reading) readMessages(cmd redis.Cmder) error {
	v, err := values(cmd)
	if err != nil {
		return err
	}
	return r.decodeMessages(v)
}

func (r *reading) decodeMessages(v []any) error {
	r.snap.Messages = slices.Grow(r.snap.Messages, len(v))
	for _, value := range v {
		if value == nil {
			continue
		}
		marked := text(value)
		n := len(r.snap.Messages)
		r.snap.Messages = append(r.snap.Messages, conversation.Message{})
		if err := r.s.codec.DecodeMessageText(marked[min(messageMark, len(marked)):], &r.snap.Messages[n]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) edits(ctx context.Context) {
	q := r.q.Edits
	if q == nil || !r.edited {
		return
	}
	args := []any{q.After, q.Upto}
	for _, of := range q.Of {
		args = append(args, max(of.First, 0), max(of.End, 0))
	}
	keys := []string{r.of(kindEdits), r.of(kindEditCommits), r.of(kindNarrow), r.of(kindWide)}
	r.script(ctx, r.s.scripts.edits, keys, func(cmd redis.Cmder) error {
		v, err := values(cmd)
		if err != nil {
			return err
		}
		return r.decodeEdits(v, q.Wants)
	}, args...)
}

func (r *reading) decodeEdits(v []any, wanted func(*conversation.Edit) bool) error {
	for _, value := range v {
		if value == nil {
			continue
		}
		e, err := r.s.codec.DecodeEdit(alias(text(value)))
		if err != nil {
			return err
		}
		if wanted(&e) {
			r.snap.Edits = append(r.snap.Edits, e)
		}
	}
	return nil
}

func (r *reading) since(ctx context.Context) {
	q := r.q.Since
	if q == nil {
		return
	}
	keys := []string{r.p.messages(r.guess, r.staged), r.of(kindEdits), r.of(kindEditCommits)}
	r.script(ctx, r.s.scripts.since, keys, func(cmd redis.Cmder) error {
		messages, edits, err := pair(cmd)
		if err != nil {
			return err
		}
		if err := r.decodeMessages(messages); err != nil {
			return err
		}
		return r.decodeEdits(edits, func(*conversation.Edit) bool { return true })
	}, seqBytes(int64(q.Version)), q.Limit)
}

// pair returns an answer that consists of two lists.
func pair(cmd redis.Cmder) (a, b []any, err error) {
	v, err := values(cmd)
	if err != nil || len(v) != 2 {
		return nil, nil, store.ErrCorrupt
	}
	if a, err = list(v[0]); err != nil {
		return nil, nil, err
	}
	b, err = list(v[1])
	return a, b, err
}
