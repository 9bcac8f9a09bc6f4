// Package access says who calls: credentials from a file, the callers they name, and certificates, all of which may change while the
// sidecar runs. It knows no transport.
package access

import (
	"context"
	"slices"
)

// Role is what a caller may do in a namespace. Which RPCs are for agents too is in internal/grpcserver/authentication.go.
type Role string

// The roles.
const (
	// Agent reads and writes conversations.
	Agent Role = "agent"
	// Operator may do the same, and configures the namespace: policies, prompts and profiles of models.
	Operator Role = "operator"
)

// Caller is who a credential stands for.
type Caller struct {
	// Credential is the name of its entry in the file, for logs; empty without credentials.
	Credential string
	Namespace  string
	Role       Role
	// Actors are those whose conversations an agent is limited to; empty: all of the namespace.
	Actors []string
}

// Sees says whether a caller sees exactly what another one sees.
func (c *Caller) Sees(other *Caller) bool {
	return c.Namespace == other.Namespace && c.Role == other.Role && slices.Equal(c.Actors, other.Actors)
}

type callerKey struct{}

// With returns a context of a call by a caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns who makes a call. A context that nobody was authenticated for names no namespace, which holds nothing.
func CallerOf(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return &Caller{}
}
