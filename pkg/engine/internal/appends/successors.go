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

// SuccessorsSlot names the conversations that whole lists began which are not this one's. An entry may lead to nothing: it is written before the
// conversation that it names, so that whoever finds the list begun finds it here.
const SuccessorsSlot = "successors"

// MaxSuccessors is how many a conversation knows, and how many of all generations a list is looked for in.
const MaxSuccessors = 32

// maxMoves is how often a list is looked for anew because the conversation it was found in moved.
const maxMoves = 8

// WithSuccessors calls do with a request, and if its list is none of its conversation's and may begin another (DivergenceNew), with the request for
// the conversation where the list goes on. A dry one notes nothing.
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

// mayBegin says of what a request came to whether its list may be another conversation's.
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

// successorFor is the request for the conversation in which its list goes on, or which it begins; nil if it is its own conversation's, or nobody's.
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

// relative is a conversation of a lineage.
type relative struct {
	key        store.Key
	snap       *store.Snapshot
	successors []record.Successor
}

// read reads a conversation; nil if it is not there.
func (l *lineage) read(ctx context.Context, key store.Key) (*relative, error) {
	snap, err := l.service.Store.Read(ctx, key, store.Query{
		Info: true, SlotsOf: view.BuildSlots, Slots: []string{SuccessorsSlot}, Request: l.request.Request.Key(),
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err != nil || !l.lives(&snap.Head):
		return nil, nil //nolint:nilerr // what is not there is none
	}
	x := &relative{key: key, snap: snap}
	x.successors, err = record.DecodeSuccessors(snap.Slots[SuccessorsSlot])
	return x, err
}

func (l *lineage) lives(h *store.Head) bool { return l.service.Txn.Live(h) == nil }

// follow reads what continues a conversation, newest first, and what continues that.
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
		if next == nil || next.snap.Info.Continues != from.key.Conversation { // it is gone, and another may have its name
			continue
		}
		l.all = append(l.all, next)
		if err := l.follow(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// find looks for the conversation that answered the request before, or else for the first in which its list goes on.
func (l *lineage) find(ctx context.Context, own *relative) (*AppendRequest, error) {
	for _, x := range l.all {
		if first, err := l.service.Txn.Recall(x.snap, l.request.Request); err == nil && first != nil {
			return l.to(own, x.key), nil
		}
	}
	for _, x := range l.all {
		if agrees, err := l.agrees(ctx, x); err != nil || agrees {
			return l.to(own, x.key), err
		}
	}
	return nil, nil
}

// agrees says whether the list begins as the conversation does.
func (l *lineage) agrees(ctx context.Context, x *relative) (bool, error) {
	_, err := l.service.histories.Find(ctx, x.key, x.snap, l.request.History.sought(true))
	if err != nil && isElsewhere(err) {
		return false, nil
	}
	return err == nil, err
}

// to is the request for another conversation. One that is not there yet begins with what is set of the one that it continues.
func (l *lineage) to(own *relative, key store.Key) *AppendRequest {
	out, info := *l.request, *own.snap.Info
	info.Continues, info.Unknown = own.key.Conversation, ""
	out.Key, out.Begins = key, &info
	return &out
}

// begin notes the conversation that the list begins, and is the request for it; nil if the list cannot begin any. The note comes first: what breaks
// off behind it leaves a name that leads nowhere, and the next list that begins so takes it up.
func (l *lineage) begin(ctx context.Context, own *relative, dry bool) (*AppendRequest, error) {
	in := l.request.History
	switch agrees, err := l.refusal(ctx, own); {
	case err != nil:
		return nil, err
	case agrees && in.KnownCount == 0: // it moved
		return l.request, nil
	case agrees || in.KnownCount > 0 || len(in.Input.Messages) == 0:
		return nil, nil
	}
	key, err := l.free(ctx, own)
	if err != nil || dry || isNamed(own.successors, key.Conversation) {
		return l.to(own, key), err
	}
	return l.to(own, key), l.note(ctx, own, key.Conversation)
}

// refusal says whether the list is the conversation's own after all, because that moved, or may be: then it begins no other.
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

// free is the name of the conversation that the list begins: made of its first message, so that a retry comes to the same one.
func (l *lineage) free(ctx context.Context, own *relative) (store.Key, error) {
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

// nameBytes is how much of a name tells it from others.
const nameBytes = 15

var nameLetters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567")

// name is the n-th name of a conversation that begins as the list does. It says nothing of the list to who does not know the incarnation.
func (l *lineage) name(own *relative, n int) string {
	in := l.request.History.Input
	first := in.Messages[0]
	said := fmt.Sprintf("%d\x00%s", n, strings.Join(in.Elements[first.First:first.End], "\x00"))
	sum := txn.KeyedHash(own.snap.Head.Incarnation, sha256.Sum256([]byte(said)))
	tail := "~" + nameLetters.EncodeToString(sum[:nameBytes])
	head := own.key.Conversation
	return strings.ToValidUTF8(head[:min(len(head), store.MaxName-len(tail))], "") + tail
}

// note adds a name to those of the conversation. It is no change of the record. If there are too many, one that leads nowhere makes room, or else
// the oldest.
func (l *lineage) note(ctx context.Context, own *relative, name string) error {
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

// sought is the list as it is looked for in a conversation.
func (h *History) sought(rewind bool) *histories.Request {
	return &histories.Request{Input: h.Input, KnownCount: h.KnownCount, KnownSHA256: h.KnownSHA256, Rewind: rewind, Hide: h.Cut == CutHide}
}
