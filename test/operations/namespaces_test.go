package operations

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// TestScrape_Namespaces_CountByWhoCalls: calls and builds count for the namespace of their credential, calls without one for nobody; and no
// credential is seen anywhere.
func TestScrape_Namespaces_CountByWhoCalls(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	credentials, tokens := "tokens:\n", map[string]string{}
	for _, team := range []string{"team-a", "team-b"} {
		tokens[team] = access.NewToken()
		credentials += fmt.Sprintf("  - {name: %s, namespace: %s, sha256: %s}\n", team, team, access.HashOf(tokens[team]))
		write(t, filepath.Join(folder, team), tokens[team])
	}
	write(t, filepath.Join(folder, "credentials.yaml"), credentials)
	w := start(t, "--credentials", filepath.Join(folder, "credentials.yaml"))
	for team, builds := range map[string]int{"team-a": 2, "team-b": 3} {
		conn, err := (&dial.Flags{Address: w.sidecar.Address(), TokenFile: filepath.Join(folder, team)}).Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		context := pb.NewContextServiceClient(conn)
		if _, err := context.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: text(pb.Role_ROLE_USER, "hello")}); err != nil {
			t.Fatal(err)
		}
		for range builds {
			if _, err := context.BuildContext(t.Context(), &pb.BuildContextRequest{ConversationId: "c"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Context.BuildContext(t.Context(), &pb.BuildContextRequest{ConversationId: "c"}); status.Code(err) != codes.Unauthenticated {
		t.Fatal(err)
	}
	scrape := w.scrape()
	w.stop()
	for _, line := range []string{
		`palimpsest_builds_total{namespace="team-a"} 2`, `palimpsest_builds_total{namespace="team-b"} 3`,
		`palimpsest_rpc_calls_total{code="OK",method="ContextService/BuildContext",namespace="team-b"} 3`,
		`palimpsest_rpc_calls_total{code="Unauthenticated",method="ContextService/BuildContext",namespace="_none"} 1`,
	} {
		if !strings.Contains(string(scrape), line+"\n") {
			t.Errorf("the scrape lacks %s", line)
		}
	}
	for what, seen := range map[string]string{"log": w.sidecar.Log(), "metrics": string(scrape), "spans": w.collector.text()} {
		for team, token := range tokens {
			if strings.Contains(seen, token) || strings.Contains(seen, access.HashOf(token).String()) {
				t.Errorf("the %s tells the token of %s", what, team)
			}
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
