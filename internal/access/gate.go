package access

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Gate tells who calls.
type Gate struct {
	everybody *Caller // without credentials
	file      *Files[*Credentials]
	clock     func() time.Time
}

// Open is the gate of a sidecar without credentials: whoever reaches it operates one namespace.
func Open(namespace string) *Gate {
	return &Gate{everybody: &Caller{Namespace: namespace, Role: Operator}}
}

// LoadGate is the gate of a file of credentials. It must have one to begin with; later the last may be taken out, and nobody is let in.
func LoadGate(path string, clock func() time.Time) (*Gate, error) {
	file, err := OpenFiles(func(contents [][]byte) (*Credentials, error) { return Parse(contents[0]) }, path)
	if err != nil {
		return nil, err
	}
	if credentials, _ := file.Value(); credentials.none() {
		return nil, fmt.Errorf("%s: it has no token and no certificate", path)
	}
	return &Gate{file: file, clock: clock}, nil
}

// Presented is what a call comes with.
type Presented struct {
	// Token is what follows "Bearer"; a call that has one is judged by it alone.
	Token *string
	// Certificate is one that the handshake verified; nil for none.
	Certificate *x509.Certificate
}

// Pass is an admitted call's.
type Pass struct {
	Caller *Caller
	// Until is when the credential expires; zero for never.
	Until time.Time
	// Changed is closed when the credentials change: who is still in asks again. Nil if they never do.
	Changed <-chan struct{}
}

// Admit finds out who calls. What is missing, unknown and expired is refused in the same words.
func (g *Gate) Admit(p Presented) (Pass, error) {
	if g.everybody != nil {
		return Pass{Caller: g.everybody}, nil
	}
	credentials, changed := g.file.Value()
	var caller *Caller
	var until time.Time
	switch {
	case p.Token != nil:
		caller, until = credentials.bearer(*p.Token, g.clock())
	case p.Certificate != nil:
		caller, until = credentials.certificate(p.Certificate, g.clock())
	}
	if caller == nil {
		return Pass{}, conversation.Errorf(conversation.Unauthenticated, "a valid credential is needed")
	}
	return Pass{Caller: caller, Until: until, Changed: changed}, nil
}

// Limits are what the file says of a namespace.
func (g *Gate) Limits(namespace string) Limits {
	if g.file == nil {
		return Limits{}
	}
	credentials, _ := g.file.Value()
	return credentials.Limits(namespace)
}

// Namespaces are all that callers can be of.
func (g *Gate) Namespaces() []string {
	if g.file == nil {
		return []string{g.everybody.Namespace}
	}
	credentials, _ := g.file.Value()
	return credentials.Namespaces()
}

// Run reads the file again when it changes, until ctx ends, and tells of each change.
func (g *Gate) Run(ctx context.Context, onChange func(error)) {
	if g.file != nil {
		g.file.Run(ctx, onChange)
	}
}
