package redis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func (r *reading) outcome(ctx context.Context) {
	if r.q.Request == nil {
		return
	}
	r.take(r.pipe.HGet(ctx, r.of(kindOutcomes), outcomeField(*r.q.Request)), func(cmd redis.Cmder) error {
		value := word(cmd)
		if value == "" {
			return nil
		}
		o, err := r.decodeOutcome(value)
		r.snap.Outcome = &o
		return err
	})
}

func (r *reading) decodeOutcome(value string) (store.Outcome, error) {
	if len(value) < timeBytes {
		return store.Outcome{}, store.ErrCorrupt
	}
	return r.s.codec.DecodeOutcome(alias(value[timeBytes:]))
}

func (r *reading) manifests(ctx context.Context) {
	q := r.q.Manifest
	if q == nil || q.Limit <= 0 {
		return
	}
	from := "+"
	if q.Before > 0 {
		from = "(" + seqBytes(q.Before)
	}
	by := &redis.ZRangeBy{Max: from, Min: "-", Count: int64(q.Limit)}
	r.take(r.pipe.ZRevRangeByLex(ctx, r.of(kindManifests), by), func(cmd redis.Cmder) error {
		for _, member := range strs(cmd) {
			m, err := r.s.codec.DecodeManifest(alias(member[min(8, len(member)):]))
			if err != nil {
				return err
			}
			r.snap.Manifests = append(r.snap.Manifests, m)
		}
		return nil
	})
}

func (r *reading) slots(ctx context.Context) {
	if len(r.q.Slots) > 0 {
		r.take(r.pipe.HMGet(ctx, r.of(kindSlots), r.q.Slots...), func(cmd redis.Cmder) error {
			v, err := values(cmd)
			if err != nil || len(v) != len(r.q.Slots) {
				return store.ErrCorrupt
			}
			for i, name := range r.q.Slots {
				if err := r.slot(name, v[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if r.q.SlotsOf != "" || r.q.AllSlots {
		prefix := r.q.SlotsOf
		if r.q.AllSlots {
			prefix = ""
		}
		r.script(ctx, r.s.scripts.slots, []string{r.of(kindSlots)}, func(cmd redis.Cmder) error {
			return r.named(cmd, r.slot)
		}, prefix, store.MaxSlots)
	}
}

// named reads an answer of names and values.
func (r *reading) named(cmd redis.Cmder, read func(name string, value any) error) error {
	names, found, err := pair(cmd)
	if err != nil || len(names) != len(found) {
		return store.ErrCorrupt
	}
	for i := range names {
		if err := read(text(names[i]), found[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) slot(name string, value any) error {
	stored, ok := value.(string)
	if !ok {
		return nil
	}
	if len(stored) < slotHashBytes {
		return fmt.Errorf("a slot is cut short: %w", store.ErrCorrupt)
	}
	data, err := r.s.codec.DecodeSlot([]byte(stored[slotHashBytes:]))
	if err != nil {
		return err
	}
	r.snap.SetSlot(name, data)
	return nil
}

func (r *reading) outcomes(ctx context.Context) {
	q := r.q.Outcomes
	if q == nil {
		return
	}
	after := ""
	if q.After != nil {
		after = outcomeField(*q.After)
	}
	r.script(ctx, r.s.scripts.fields, []string{r.of(kindOutcomes)}, func(cmd redis.Cmder) error {
		return r.named(cmd, func(_ string, value any) error {
			o, err := r.decodeOutcome(text(value))
			r.snap.Outcomes = append(r.snap.Outcomes, o)
			return err
		})
	}, after, q.Limit, "")
}

func (r *reading) stored(ctx context.Context) {
	q := r.q.Stored
	if q == nil {
		return
	}
	r.script(ctx, r.s.scripts.fields, []string{r.of(kindContents)}, func(cmd redis.Cmder) error {
		return r.named(cmd, func(name string, _ any) error {
			var id conversation.ID
			copy(id[:], name)
			r.snap.Stored = append(r.snap.Stored, id)
			return nil
		})
	}, q.After[:], q.Limit, contentKept)
}

// The states of a content.
const contentKept = "k"

// contentGuess is how many chunks are read of a content whose size is not known.
const contentGuess = 2

// contents asks for the chunks of a range, or for some of them if their number is not known yet.
func (r *reading) contents(ctx context.Context) {
	for _, q := range r.q.Contents {
		state := r.pipe.HGet(ctx, r.of(kindContents), string(q.ID[:]))
		first := int(min(max(q.Offset, 0)/store.ChunkBytes, 1<<31-1))
		count := r.chunksOf(&q, first)
		keys := make([]string, 0, count)
		for i := first; i < first+count; i++ {
			keys = append(keys, r.p.chunk(r.guess, q.ID, i))
		}
		if len(keys) == 0 {
			keys = append(keys, r.p.chunk(r.guess, q.ID, first))
		}
		r.take(r.pipe.MGet(ctx, keys...), func(cmd redis.Cmder) error {
			data, err := r.content(&q, state.Val(), first, len(keys), cmd)
			r.snap.Contents = append(r.snap.Contents, data)
			return err
		})
	}
}

// chunksOf is how many chunks a range covers from the first one on, limited to those known to exist.
func (r *reading) chunksOf(q *store.ContentRange, first int) int {
	known, ok := r.hints[q.ID]
	if !ok {
		known = first + contentGuess
	}
	most := max(known-first, 0)
	if q.Length < 0 {
		return most
	}
	skip := max(q.Offset, 0) % store.ChunkBytes
	if want := (skip + min(q.Length, 1<<40) + store.ChunkBytes - 1) / store.ChunkBytes; want < int64(most) {
		return int(want)
	}
	return most
}

// content returns nil if the content does not exist, or if no commit refers to it.
func (r *reading) content(q *store.ContentRange, state string, first, asked int, cmd redis.Cmder) ([]byte, error) {
	if len(state) < 1+timeBytes+4 || state[:1] != contentKept {
		return nil, nil
	}
	total := number32(state[1+timeBytes:])
	r.hints[q.ID] = total
	if r.chunksOf(q, first) > asked {
		r.again = true
		return nil, nil
	}
	v, err := values(cmd)
	if err != nil {
		return nil, err
	}
	skip, out := int(max(q.Offset, 0)%store.ChunkBytes), []byte{}
	for i, value := range v[:min(len(v), max(total-first, 0))] {
		chunk := text(value)
		if chunk == "" {
			if r.apart { // it may have been deleted between two answers
				r.again = true
				return nil, nil
			}
			if r.snap.Head.Version == 0 { // staged: the chunk has not been written yet
				break
			}
			return nil, fmt.Errorf("chunk %d of a content is missing: %w", first+i, store.ErrCorrupt)
		}
		data, err := r.s.codec.DecodeChunk([]byte(chunk))
		if err != nil {
			return nil, err
		}
		out = append(out, data[min(skip, len(data)):]...)
		skip = 0
	}
	if q.Length >= 0 && int64(len(out)) > q.Length {
		out = out[:q.Length]
	}
	return out, nil
}
