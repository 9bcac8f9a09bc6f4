package admission

import (
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// MaxProbeWatchers is how many streams of the health service are open at once. They need no credential, so they take no call's room.
const MaxProbeWatchers = 64

// watchers counts streams that only wait for what happens, by whose they are. It is safe for concurrent use.
type watchers struct {
	mu      sync.Mutex
	streams map[string]int // none is 0
}

// enter admits a stream, as one of at most so many of the same owner.
func (w *watchers) enter(owner string, most int) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams[owner] >= most {
		return func() {}, conversation.Errorf(conversation.Overloaded, "%d streams that watch are open, as many as there may be: try again later", most)
	}
	w.streams[owner]++
	return func() { w.leave(owner) }, nil
}

func (w *watchers) leave(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams[owner]--; w.streams[owner] == 0 {
		delete(w.streams, owner)
	}
}

// EnterProbeWatch admits a stream of the health service.
func (a *Controller) EnterProbeWatch() (leave func(), err error) {
	return a.counting(a.probeWatchers.enter("", MaxProbeWatchers))
}

// EnterWatch admits a stream of a namespace's events, as one of at most half of all calls, or a quarter where other namespaces are: the rest is
// for those who ask.
func (a *Controller) EnterWatch(namespace string, others bool) (leave func(), err error) {
	most := a.MaxCalls / 2
	if others {
		most = a.MaxCalls / 4
	}
	return a.counting(a.watchers.enter(namespace, most))
}

// counting counts a refusal.
func (a *Controller) counting(leave func(), err error) (func(), error) {
	if err != nil {
		a.refused.Add(1)
	}
	return leave, err
}
