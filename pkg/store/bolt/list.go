package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// List implements store.Store.
func (s *Store) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	if err := (store.Key{Namespace: namespace}).Check(); err != nil {
		return nil, err
	}
	var out []store.Entry
	err := s.view(ctx, func(t *tx) (err error) {
		out, err = t.list(namespace, after, limit)
		return err
	})
	return out, err
}

func (t *tx) list(namespace, after string, limit int) ([]store.Entry, error) {
	var out []store.Entry
	prefix := nameKey(store.Key{Namespace: namespace})
	// The next greater key: this also skips the namespace's own partition, whose id is empty.
	from := append(nameKey(store.Key{Namespace: namespace, Conversation: after}), 0)
	c := t.name().Cursor()
	for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && len(out) < limit; k, v = c.Next() {
		e, err := t.entry(string(k[len(prefix):]), v)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (t *tx) entry(name string, link []byte) (store.Entry, error) {
	e := store.Entry{ID: name}
	id, err := t.codec.DecodeLink(link)
	if err != nil {
		return e, err
	}
	if e.Head, err = t.codec.DecodeHead(t.record().Get(headKey(id))); err != nil {
		return e, err
	}
	if info := t.record().Get(infoKey(id)); info != nil {
		e.Info, err = t.codec.DecodeInfo(info)
	}
	return e, err
}

// Names implements store.Store: shorter namespaces first, as keys sort.
func (s *Store) Names(ctx context.Context, after *store.Key, limit int) ([]store.Key, error) {
	var out []store.Key
	err := s.view(ctx, func(t *tx) error {
		var from []byte
		if after != nil {
			from = append(nameKey(*after), 0) // the next greater key
		}
		c := t.name().Cursor()
		for k, _ := c.Seek(from); k != nil && len(out) < limit; k, _ = c.Next() {
			key, ok := nameOf(k)
			if !ok {
				return fmt.Errorf("a name cannot be read: %w", store.ErrCorrupt)
			}
			out = append(out, key)
		}
		return nil
	})
	return out, err
}

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	var out []store.Task
	err := s.view(ctx, func(t *tx) (err error) {
		out, err = t.tasks(until, limit)
		return err
	})
	return out, err
}

func (t *tx) tasks(until time.Time, limit int) ([]store.Task, error) {
	var out []store.Task
	end := appendTime(nil, until)
	c := t.due().Cursor()
	for k, v := c.First(); k != nil && len(out) < limit && bytes.Compare(k[:len(end)], end) <= 0; k, v = c.Next() {
		task, err := t.codec.DecodeTask(v)
		if err != nil {
			return nil, err
		}
		out = append(out, task)
	}
	return out, nil
}
