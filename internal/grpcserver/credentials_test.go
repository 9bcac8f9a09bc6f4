package grpcserver

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/palimpsest-context/palimpsest/internal/access"
)

// admitting makes a server ask for credentials. Each of the namespaces has one, its name.
func admitting(t testing.TB, namespaces ...string) func(*Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	writeCredentials(t, path, namespaces...)
	gate, err := access.LoadGate(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Gate = gate }
}

func writeCredentials(t testing.TB, path string, namespaces ...string) {
	t.Helper()
	out := "tokens:\n"
	for _, n := range namespaces {
		out += "  - {name: " + n + ", namespace: " + n + ", sha256: " + access.HashOf(n).String() + "}\n"
	}
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bearing is the context of calls with a credential.
func bearing(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}
