package metrics

import "sync"

const (
	// maxNamespaces is how many namespaces have series of their own. The configuration may name more.
	maxNamespaces = 64
	// otherNamespaces stands for the rest.
	otherNamespaces = "_other"
	// noNamespace is where calls count that ended before it was known whose they are.
	noNamespace = "_none"
)

// namespaces bounds how many there are of a label whose values are configured.
type namespaces struct {
	mu    sync.RWMutex
	known map[string]bool
}

func newNamespaces() *namespaces { return &namespaces{known: map[string]bool{}} }

// label is what a namespace is called in series: the first that come keep their names.
func (n *namespaces) label(namespace string) string {
	if namespace == "" {
		return noNamespace
	}
	n.mu.RLock()
	known := n.known[namespace]
	n.mu.RUnlock()
	if known {
		return namespace
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNamespaces && !n.known[namespace] {
		return otherNamespaces
	}
	n.known[namespace] = true
	return namespace
}
