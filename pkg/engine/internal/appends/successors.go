package appends

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/histories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// SuccessorsSlot names the conversations that whole lists began because they did not continue this one. An entry may name a conversation
// that does not exist: the entry is written first, so that a retry of the list finds it here.
const SuccessorsSlot = "successors"

// MaxSuccessors is how many successors a conversation remembers, and among how many of all generations a list is looked for.
const MaxSuccessors = 32

// maxMoves is how often a list is looked for again because the conversation that it was found in changed.
const maxMoves = 8

// WithSuccessors calls do with a request. If the request's list does not continue its conversation and may begin another one
// (DivergenceNew), it calls do again, for the conversation where the list goes on. A dry one writes no entry.
func (as *Service) WithSuccessors(ctx context.Context, r AppendRequest, dry bool, do func(AppendRequest) error) error {
	err := do(r)
	for range maxMoves {
		if !mayBegin(&r, err) {
			return err
		}
		next, failed := as.successorFor(ctx, &r, dry)
		if failed != nil {
			return nothingAppended(failed)
		}
		if next == nil {
			return err
		}
		err = do(*next)
	}
	return err
}

// mayBegin reports whether, after err, the list of a request may belong to another conversation.
func mayBegin(r *AppendRequest, err error) bool {
	return err != nil && r.History != nil && r.History.Divergence == DivergenceNew && isElsewhere(err)
}

func isElsewhere(err error) bool {
	switch conversation.KindOf(err) {
	case conversation.HistoryDiverged, conversation.HistoryAmbiguous, conversation.HistoryPrefixUnknown:
		return true
	default:
		return false
	}
}

func nothingAppended(err error) error {
	var domain *conversation.Error
	if !errors.As(err, &domain) {
		return err
	}
	told := *domain
	told.NothingAppended = true
	return &told
}

// successorFor returns the request for the conversation in which the list goes on, or which it begins. It is nil if the list belongs to its
// own conversation, or to none.
func (as *Service) successorFor(ctx context.Context, r *AppendRequest, dry bool) (*AppendRequest, error) {
	return txn.Decide(ctx, as.Txn, r.Key, func() (*AppendRequest, error) {
		l := &lineage{service: as, request: r, seen: map[string]bool{r.Key.Conversation: true}}
		own, err := l.read(ctx, r.Key)
		if err != nil || own == nil {
			return nil, err
		}
		if err := l.follow(ctx, own); err != nil {
			return nil, err
		}
		found, err := l.find(ctx, own)
		if err != nil || found != nil {
			return found, err
		}
		return l.begin(ctx, own, dry)
	})
}

// lineage is a conversation and those that continue it.
type lineage struct {
	service *Service
	request *AppendRequest
	seen    map[string]bool
	all     []*relative
}

// relative is one conversation of a lineage.
type relative struct {
	key        store.Key
	snap       *store.Snapshot
	successors []record.Successor
}

// read reads a conversation; nil if it does not exist.
func (l *lineage) read(ctx context.Context, key store.Key) (*relative, error) {
	snap, err := l.service.Store.Read(ctx, key, store.Query{
		Info: true, SlotsOf: view.BuildSlots, Slots: []string{SuccessorsSlot}, Request: l.request.Request.Key(),
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err != nil || !l.lives(&snap.Head):
		return nil, nil //nolint:nilerr // a conversation that does not exist is no error here
	}
	x := &relative{key: key, snap: snap}
	x.successors, err = record.DecodeSuccessors(snap.Slots[SuccessorsSlot])
	return x, err
}

func (l *lineage) lives(h *store.Head) bool { return l.service.Txn.Live(h) == nil }

// follow reads the conversations that continue one, newest first, and then those that continue them.
func (l *lineage) follow(ctx context.Context, from *relative) error {
	for _, s := range slices.Backward(from.successors) {
		if l.seen[s.Conversation] || len(l.seen) > MaxSuccessors {
			continue
		}
		l.seen[s.Conversation] = true
		next, err := l.read(ctx, store.Key{Namespace: from.key.Namespace, Conversation: s.Conversation})
		if err != nil {
			return err
		}
		if next == nil || next.snap.Info.Continues != from.key.Conversation { // it was deleted, and its name may be used by another conversation
			continue
		}
		l.all = append(l.all, next)
		if err := l.follow(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// find returns the request for the conversation that answered it before or, if there is none, for the first one in which the list goes on.
func (l *lineage) find(ctx context.Context, own *relative) (*AppendRequest, error) {
	for _, x := range l.all {
		if first, err := l.service.Txn.Recall(x.snap, l.request.Request); err == nil && first != nil {
			return l.requestFor(own, x.key), nil
		}
	}
	for _, x := range l.all {
		if agrees, err := l.agrees(ctx, x); err != nil || agrees {
			return l.requestFor(own, x.key), err
		}
	}
	return nil, nil
}

// agrees reports whether the list begins as the conversation does.
func (l *lineage) agrees(ctx context.Context, x *relative) (bool, error) {
	_, err := l.service.histories.Find(ctx, x.key, x.snap, l.request.History.sought(true))
	if err != nil && isElsewhere(err) {
		return false, nil
	}
	return err == nil, err
}

// requestFor returns the request for another conversation. If that does not exist yet, it gets the attributes of the conversation that it
// continues.
func (l *lineage) requestFor(own *relative, key store.Key) *AppendRequest {
	out, info := *l.request, *own.snap.Info
	info.Continues, info.Unknown = own.key.Conversation, ""
	out.Key, out.Begins = key, &info
	return &out
}

// begin enters a new conversation for the list and returns the request for it; nil if the list cannot begin one. The entry is written
// first. If the call breaks off after that, the entry names a conversation that does not exist, and the next list with the same beginning
// uses the name.
func (l *lineage) begin(ctx context.Context, own *relative, dry bool) (*AppendRequest, error) {
	in := l.request.History
	switch agrees, err := l.refusal(ctx, own); {
	case err != nil:
		return nil, err
	case agrees && in.KnownCount == 0: // the conversation changed in between
		return l.request, nil
	case agrees || in.KnownCount > 0 || len(in.Input.Messages) == 0:
		return nil, nil
	}
	key, err := l.freeName(ctx, own)
	if err != nil || dry || isNamed(own.successors, key.Conversation) {
		return l.requestFor(own, key), err
	}
	return l.requestFor(own, key), l.addSuccessor(ctx, own, key.Conversation)
}

// refusal reports whether the list belongs to the conversation after all, because the conversation changed, or may belong to it. The list
// begins no other one then.
func (l *lineage) refusal(ctx context.Context, own *relative) (isOwn bool, err error) {
	_, err = l.service.histories.Find(ctx, own.key, own.snap, l.request.History.sought(true))
	switch {
	case err == nil:
		return true, nil
	case conversation.KindOf(err) == conversation.HistoryDiverged:
		return false, nil
	default:
		return false, err
	}
}

// freeName finds the name for the conversation that the list begins. It is made from the first message, so that a retry finds the same name.
func (l *lineage) freeName(ctx context.Context, own *relative) (store.Key, error) {
	key := own.key
	for n := range 2 * MaxSuccessors {
		key.Conversation = l.name(own, n)
		_, err := l.service.Store.Read(ctx, key, store.Query{})
		if errors.Is(err, store.ErrNotFound) {
			return key, nil
		}
		if err != nil {
			return key, err
		}
	}
	return key, conversation.Errorf(conversation.LimitExceeded, "too many conversations began with the list's first message, and are others now")
}

// nameBytes is how many bytes of the hash a name has.
const nameBytes = 15

var nameLetters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567")

// name is the n-th candidate name for a conversation with the list's beginning. It reveals nothing about the list to anybody who does not
// know the incarnation.
func (l *lineage) name(own *relative, n int) string {
	in := l.request.History.Input
	first := in.Messages[0]
	said := fmt.Sprintf("%d\x00%s", n, strings.Join(in.Elements[first.First:first.End], "\x00"))
	sum := txn.KeyedHash(own.snap.Head.Incarnation, sha256.Sum256([]byte(said)))
	tail := "~" + nameLetters.EncodeToString(sum[:nameBytes])
	head := own.key.Conversation
	return strings.ToValidUTF8(head[:min(len(head), store.MaxName-len(tail))], "") + tail
}

// addSuccessor adds a name to the conversation's successors. It does not change the record. If there are too many, it drops one that does not exist
// or else the oldest.
func (l *lineage) addSuccessor(ctx context.Context, own *relative, name string) error {
	list := append(slices.Clone(own.successors), record.Successor{Conversation: name})
	if len(list) > MaxSuccessors {
		dead := slices.IndexFunc(list[:MaxSuccessors], func(s record.Successor) bool {
			return !slices.ContainsFunc(l.all, func(x *relative) bool { return x.key.Conversation == s.Conversation })
		})
		list = slices.Delete(list, max(dead, 0), max(dead, 0)+1)
	}
	stored := own.snap.Slots[SuccessorsSlot]
	return l.service.Store.Commit(ctx, own.key, &store.Change{
		Aside: true, Head: store.Head{Incarnation: own.snap.Head.Incarnation}, ExpectSlots: map[string][]byte{SuccessorsSlot: stored},
		Slots: map[string][]byte{SuccessorsSlot: record.EncodeSuccessors(list, stored)},
	})
}

func isNamed(list []record.Successor, name string) bool {
	return slices.ContainsFunc(list, func(s record.Successor) bool { return s.Conversation == name })
}

// sought returns the list as a search request for package histories.
func (h *History) sought(rewind bool) *histories.Request {
	return &histories.Request{Input: h.Input, KnownCount: h.KnownCount, KnownSHA256: h.KnownSHA256, Rewind: rewind, Hide: h.Cut == CutHide}
}
