package access

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Authenticator tells who calls.
type Authenticator struct {
	everybody *Caller // without credentials
	file      *Files[*Credentials]
	clock     func() time.Time
}

// AllowAll is for a sidecar without credentials: whoever reaches it operates one namespace.
func AllowAll(namespace string) *Authenticator {
	return &Authenticator{everybody: &Caller{Namespace: namespace, Role: Operator}}
}

// LoadAuthenticator reads a file of credentials. It must have one to begin with; later the last may be taken out, and nobody is let in.
func LoadAuthenticator(path string, clock func() time.Time) (*Authenticator, error) {
	file, err := OpenFiles(func(contents [][]byte) (*Credentials, error) { return Parse(contents[0]) }, path)
	if err != nil {
		return nil, err
	}
	if credentials, _ := file.Value(); credentials.none() {
		return nil, fmt.Errorf("%s: it has no token and no certificate", path)
	}
	return &Authenticator{file: file, clock: clock}, nil
}

// Presented is what a call comes with.
type Presented struct {
	// Token is what follows "Bearer"; a call that has one is judged by it alone.
	Token *string
	// Certificate is one that the handshake verified; nil for none.
	Certificate *x509.Certificate
}

// Identity is who makes a call.
type Identity struct {
	Caller *Caller
	// Expires is when the credential expires; zero for never.
	Expires time.Time
	// Changed is closed when the credentials change: who is still in asks again. Nil if they never do.
	Changed <-chan struct{}
}

// Authenticate finds out who calls. What is missing, unknown and expired is refused in the same words.
func (a *Authenticator) Authenticate(p Presented) (Identity, error) {
	if a.everybody != nil {
		return Identity{Caller: a.everybody}, nil
	}
	credentials, changed := a.file.Value()
	var caller *Caller
	var expires time.Time
	switch {
	case p.Token != nil:
		caller, expires = credentials.bearer(*p.Token, a.clock())
	case p.Certificate != nil:
		caller, expires = credentials.certificate(p.Certificate, a.clock())
	}
	if caller == nil {
		return Identity{}, conversation.Errorf(conversation.Unauthenticated, "a valid credential is needed")
	}
	return Identity{Caller: caller, Expires: expires, Changed: changed}, nil
}

// Limits are what the file says of a namespace.
func (a *Authenticator) Limits(namespace string) Limits {
	if a.file == nil {
		return Limits{}
	}
	credentials, _ := a.file.Value()
	return credentials.Limits(namespace)
}

// Namespaces are all that callers can be of.
func (a *Authenticator) Namespaces() []string {
	if a.file == nil {
		return []string{a.everybody.Namespace}
	}
	credentials, _ := a.file.Value()
	return credentials.Namespaces()
}

// Run reads the file again when it changes, until ctx ends, and tells of each change.
func (a *Authenticator) Run(ctx context.Context, onChange func(error)) {
	if a.file != nil {
		a.file.Run(ctx, onChange)
	}
}
