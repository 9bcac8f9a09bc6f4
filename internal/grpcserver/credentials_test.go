package grpcserver

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
)

// admitting makes a server ask for credentials. Each of the namespaces has one, its name.
func admitting(t testing.TB, namespaces ...string) func(*Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	writeCredentials(t, path, namespaces...)
	authenticator, err := access.LoadAuthenticator(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Authenticator = authenticator }
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

// TestServer_StoreContent_Idle_EndsWithItsCredential: at once, and no other upload.
func TestServer_StoreContent_Idle_EndsWithItsCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "credentials.yaml")
		writeCredentials(t, path, "a", "b")
		authenticator, err := access.LoadAuthenticator(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		go authenticator.Run(t.Context(), func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		s := start(t, realEngine(t), func(o *Options) { o.Authenticator = authenticator })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var uploads []grpc.ClientStreamingClient[pb.StoreContentRequest, pb.StoreContentResponse]
		for _, who := range []string{"a", "b"} {
			upload, err := s.contents.StoreContent(bearing(ctx, who))
			if err == nil {
				err = upload.Send(headerOf(&pb.StoreContentHeader{ConversationId: "c"}))
			}
			if err != nil {
				t.Fatal(err)
			}
			uploads = append(uploads, upload)
		}
		synctest.Wait()
		begin := time.Now()
		writeCredentials(t, path+".new", "b")
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		wantReason(t, uploads[0].RecvMsg(&pb.StoreContentResponse{}), codes.Unauthenticated, "UNAUTHENTICATED")
		if waited := time.Since(begin); waited > 2*time.Second {
			t.Errorf("it ends after %s", waited)
		}
		synctest.Wait()
		if calls := s.server.Admission().Calls; calls != 1 {
			t.Errorf("%d calls are in flight", calls)
		}
		if err := uploads[1].Send(chunkOf([]byte("x"))); err != nil {
			t.Error(err)
		}
		if _, err := uploads[1].CloseAndRecv(); err != nil {
			t.Errorf("the upload of another: %v", err)
		}
	})
}
