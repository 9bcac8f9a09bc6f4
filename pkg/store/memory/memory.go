// Package memory keeps conversations in memory: for tests, for trying things out, and as the reference model that the other
// back ends are compared with. It is written to be plainly right. What it holds are stored values as the other back ends
// hold them, so nothing that a caller has or gets shares memory with it.
package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Options has nothing to choose yet.
type Options struct{}

// Store is a store in memory.
type Store struct {
	codec *record.Codec
	wakes store.Wakes

	mu           sync.RWMutex
	closed       bool
	sealed       bool
	names        map[store.Key]conversation.ID
	incarnations map[conversation.ID]*incarnation
}

var _ store.Store = (*Store)(nil)

// New makes an empty store.
func New(Options) *Store {
	return &Store{
		codec:        record.New(),
		names:        make(map[store.Key]conversation.ID),
		incarnations: make(map[conversation.ID]*incarnation),
	}
}

// incarnation is all that hangs under one incarnation id.
type incarnation struct {
	key       store.Key
	head      []byte // nil: staged, and not committed yet
	due       time.Time
	dying     bool // Delete has begun on what was staged
	info      []byte
	messages  log              // by index
	edits     log              // by seq
	manifests map[int64][]byte // by seq: the old ones go
	outcomes  map[store.RequestKey][]byte
	slots     map[string][]byte
	contents  map[conversation.ID]*content
}

type content struct {
	chunks  log
	pending bool // no commit refers to it
	due     time.Time
	dying   bool
}

// log is values by number, with holes.
type log [][]byte

func (l *log) put(i int, value []byte) {
	if more := i + 1 - len(*l); more > 0 {
		*l = append(*l, make(log, more)...)
	}
	(*l)[i] = value
}

func (l log) at(i int) []byte {
	if i < 0 || i >= len(l) {
		return nil
	}
	return l[i]
}

// clear drops at most limit values and returns how many it dropped.
func (l log) clear(limit int) int {
	n := 0
	for i := range l {
		if l[i] != nil && n < limit {
			l[i] = nil
			n++
		}
	}
	return n
}

func newIncarnation(key store.Key) *incarnation {
	return &incarnation{
		key:       key,
		manifests: make(map[int64][]byte),
		outcomes:  make(map[store.RequestKey][]byte),
		slots:     make(map[string][]byte),
		contents:  make(map[conversation.ID]*content),
	}
}

// begin checks what every call checks.
func (s *Store) begin(ctx context.Context, keys ...store.Key) error {
	for _, key := range keys {
		if err := key.Check(); err != nil {
			return err
		}
	}
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

// beginWrite checks what every call checks that writes.
func (s *Store) beginWrite(ctx context.Context, key store.Key) error {
	if err := s.begin(ctx, key); err != nil {
		return err
	}
	if s.sealed {
		return store.ErrSealed
	}
	return nil
}

// current is the incarnation that the key leads to and its head; both nil if it leads nowhere.
func (s *Store) current(key store.Key) (*incarnation, *store.Head, error) {
	id, ok := s.names[key]
	if !ok {
		return nil, nil, nil
	}
	inc := s.incarnations[id]
	head, err := s.codec.DecodeHead(inc.head)
	return inc, &head, err
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.begin(ctx, store.Key{Namespace: namespace}); err != nil {
		return nil, err
	}
	var ids []string
	for key := range s.names {
		if key.Namespace == namespace && key.Conversation > after {
			ids = append(ids, key.Conversation)
		}
	}
	slices.Sort(ids)
	var out []store.Entry
	for _, id := range ids[:min(len(ids), max(limit, 0))] {
		entry, err := s.entry(store.Key{Namespace: namespace, Conversation: id})
		if err != nil {
			return nil, err
		}
		out = append(out, entry)
	}
	return out, nil
}

func (s *Store) entry(key store.Key) (store.Entry, error) {
	inc, head, err := s.current(key)
	if err != nil {
		return store.Entry{}, err
	}
	e := store.Entry{ID: key.Conversation, Head: *head}
	if inc.info != nil {
		e.Info, err = s.codec.DecodeInfo(inc.info)
	}
	return e, err
}

// Names implements store.Store.
func (s *Store) Names(ctx context.Context, after *store.Key, limit int) ([]store.Key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	keys := slices.SortedFunc(maps.Keys(s.names), store.Key.Compare)
	if after != nil {
		keys = slices.DeleteFunc(keys, func(k store.Key) bool { return k.Compare(*after) <= 0 })
	}
	return keys[:min(len(keys), max(limit, 0))], nil
}

// Seal implements store.Store.
func (s *Store) Seal(ctx context.Context, sealed bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.sealed = sealed
	return nil
}

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	var out []store.Task
	add := func(t store.Task) {
		if !t.Time.IsZero() && !t.Time.After(until) {
			t.Time = t.Time.UTC()
			out = append(out, t)
		}
	}
	for id, inc := range s.incarnations {
		add(store.Task{Key: inc.key, Incarnation: id, Staged: inc.head == nil, Time: inc.due})
		for upload, c := range inc.contents {
			if c.pending {
				add(store.Task{Key: inc.key, Incarnation: id, Upload: upload, Time: c.due})
			}
		}
	}
	slices.SortFunc(out, store.Task.Compare)
	return out[:min(len(out), max(limit, 0))], nil
}

// Wait implements store.Store.
func (s *Store) Wait(ctx context.Context, key store.Key, version uint64) error {
	return s.wakes.Wait(ctx, key, func() (bool, error) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if err := s.begin(ctx, key); err != nil {
			return false, err
		}
		_, head, err := s.current(key)
		return head != nil && head.Version > version, err
	})
}

// Durability implements store.Store: nothing outlives the process.
func (s *Store) Durability() store.Durability { return store.DurabilityNone }

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.names, s.incarnations = nil, nil
	s.wakes.Close()
	return nil
}

// slotNames are the names that a query asks for, in order.
func (inc *incarnation) slotNames(q *store.Query) []string {
	names := slices.Clone(q.Slots)
	if q.SlotsOf != "" || q.AllSlots {
		for _, name := range slices.Sorted(maps.Keys(inc.slots)) {
			if q.AllSlots || strings.HasPrefix(name, q.SlotsOf) {
				names = append(names, name)
			}
		}
		names = names[:min(len(names), len(q.Slots)+store.MaxSlots)]
	}
	return names
}
