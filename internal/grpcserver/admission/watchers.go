package admission

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// MaxProbeWatchers is how many streams of the health service are open at once. They need no credential, so they take no call's room.
const MaxProbeWatchers = 64

// EnterProbeWatch admits a stream of the health service.
func (a *Controller) EnterProbeWatch() (leave func(), err error) {
	return a.enterWatch(a.probeWatchers, "", MaxProbeWatchers)
}

// EnterWatch admits a stream of a namespace's events, as one of at most half of all calls, or a quarter where other namespaces are: the rest is
// for those who ask.
func (a *Controller) EnterWatch(namespace string, others bool) (leave func(), err error) {
	most := a.MaxCalls / 2
	if others {
		most = a.MaxCalls / 4
	}
	return a.enterWatch(a.watchers, namespace, most)
}

// enterWatch admits a stream, as one of at most so many of the same owner.
func (a *Controller) enterWatch(watchers *counts, owner string, most int) (leave func(), err error) {
	leave, ok := watchers.enter(owner, int64(most))
	if !ok {
		a.refused.Add(1)
		return leave, conversation.Errorf(conversation.Overloaded, "%d streams that watch are open, as many as there may be: try again later", most)
	}
	return leave, nil
}
