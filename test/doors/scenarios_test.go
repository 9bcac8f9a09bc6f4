package doors

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// largestRequest is more than the toy's view takes, and far less than its log.
const largestRequest = 50 << 10

// scenarios are what a package's own program plays: NAME SIDECAR FAKES CONVERSATION FORMAT. The same for each language whose package is
// tested by them.
type scenarios struct {
	// play is the program with these arguments.
	play func(arguments ...string) *exec.Cmd
}

func formats() []string { return []string{"openai", "responses", "anthropic", "gemini"} }

// hold plays all scenarios. Sidecar and fakes are the scenario's own.
func (s *scenarios) hold(t *testing.T) {
	for _, name := range []string{"toy", "steps", "stream"} {
		for _, format := range formats() {
			t.Run(name+"/"+format, func(t *testing.T) { s.toy(t, name, format) })
		}
	}
	t.Run("sync", func(t *testing.T) { s.toy(t, "sync", "openai") })
	t.Run("retries", s.retries)
	t.Run("older sidecar", s.older)
	t.Run("refused", s.refused)
	t.Run("local", s.local)
	for _, format := range formats() {
		t.Run("killed/"+format, func(t *testing.T) { s.killed(t, format) })
		t.Run("aborted/"+format, func(t *testing.T) { s.aborted(t, format) })
	}
}

// toy is played to its end: seven calls of the model, none refused, a megabyte cited and read where it matters.
func (s *scenarios) toy(t *testing.T, name, format string) {
	t.Parallel()
	address, provider := startSidecar(t), startFakes(t)
	said := run(t, s.play(name, address, provider, "toy", format))
	if n := strings.Count(said, "->"); n != 2 || !strings.Contains(said, "FATAL billing") && name != "stream" {
		t.Errorf("the agent said %q", said)
	}
	expectToy(t, provider)
	expectRecord(t, address, "toy", map[pb.Role]int{pb.Role_ROLE_USER: 2, pb.Role_ROLE_ASSISTANT: 7, pb.Role_ROLE_TOOL: 7})
}

func expectToy(t *testing.T, provider string) {
	t.Helper()
	want := map[string]int{"get_weather": 2, "web_search": 1, "fetch_log": 1, "retrieve_content": 1, "expand_message": 1, "search_conversation": 1}
	counted := countsOf(t, provider)
	if counted.Requests != 7 || counted.Refused != 0 || !maps.Equal(counted.Calls, want) || counted.LargestBytes > largestRequest {
		t.Errorf("the provider counted %+v", counted)
	}
}

// retries: calls that do not arrive, and answers that are lost, change nothing.
func (s *scenarios) retries(t *testing.T) {
	t.Parallel()
	address, provider := startSidecar(t), startFakes(t)
	p := &proxy{harm: true}
	run(t, s.play("toy", startProxy(t, p, address), provider, "toy", "openai"))
	expectToy(t, provider)
	expectRecord(t, address, "toy", map[pb.Role]int{pb.Role_ROLE_USER: 2, pb.Role_ROLE_ASSISTANT: 7, pb.Role_ROLE_TOOL: 7})
	if p.calls < 30 {
		t.Errorf("only %d calls came by", p.calls)
	}
}

func (s *scenarios) older(t *testing.T) {
	t.Parallel()
	older := startProxy(t, &proxy{version: "v0.0.1"}, startSidecar(t))
	if said := run(t, s.play("toy", older, startFakes(t), "toy", "openai")); !strings.HasPrefix(said, "older sidecar:") {
		t.Errorf("the agent said %q", said)
	}
}

func (s *scenarios) refused(t *testing.T) {
	t.Parallel()
	said := run(t, s.play("refused", startSidecar(t), startFakes(t), "refused", "openai"))
	if want := "refused: ERROR_REASON_HISTORY_DIVERGED false\nrefused: ERROR_REASON_INVALID_FIELD true\n"; said != want {
		t.Errorf("the agent said %q, want %q", said, want)
	}
}

// local: a sidecar of the program's own leaves nothing behind.
func (s *scenarios) local(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "doors")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	provider := startFakes(t)
	program := s.play("toy", "local", provider, "toy", "openai")
	program.Env = append(program.Environ(), "PALIMPSEST_BINARY="+sidecar, "TMPDIR="+folder)
	run(t, program)
	expectToy(t, provider)
	if left, err := filepath.Glob(filepath.Join(folder, "palimpsest*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}

// killed: an agent that ends between a reply and its results goes on where it was.
func (s *scenarios) killed(t *testing.T, format string) {
	t.Parallel()
	address, provider := startSidecar(t), startFakes(t)
	first := s.play("kill", address, provider, "killed", format)
	if output, _ := first.CombinedOutput(); string(output) != "killed with 2 calls\n" || first.ProcessState.ExitCode() != 7 {
		t.Fatalf("ended with %s:\n%s", first.ProcessState, output)
	}
	if said := run(t, s.play("resume", address, provider, "killed", format)); !strings.HasPrefix(said, "resumed with 2 calls\n->") {
		t.Errorf("the agent said %q", said)
	}
	if counted := countsOf(t, provider); counted.Requests != 5 || counted.Refused != 0 {
		t.Errorf("the provider counted %+v", counted)
	}
	expectRecord(t, address, "killed", map[pb.Role]int{pb.Role_ROLE_USER: 1, pb.Role_ROLE_ASSISTANT: 5, pb.Role_ROLE_TOOL: 6})
}

// aborted: of a stream that broke off, the text and the whole call are on record. Nobody waits for a result, and the agent goes on.
func (s *scenarios) aborted(t *testing.T, format string) {
	t.Parallel()
	address, provider := startSidecar(t), startFakes(t)
	if said := run(t, s.play("abort", address, provider, "aborted", format)); !strings.HasPrefix(said, "aborted\n->") {
		t.Errorf("the agent said %q", said)
	}
	counted := countsOf(t, provider)
	if counted.Refused != 0 || counted.Calls["web_search"] != 2 { // the one that was cut is made again
		t.Errorf("the provider counted %+v", counted)
	}
	messages := expectRecord(t, address, "aborted", map[pb.Role]int{pb.Role_ROLE_USER: 1, pb.Role_ROLE_ASSISTANT: 6, pb.Role_ROLE_TOOL: 5})
	reply := messages[1]
	parts := reply.GetParts()
	says := slices.ContainsFunc(parts, func(p *pb.Part) bool { return p.GetText() != "" })
	if !slices.Contains(reply.GetTags(), "aborted") || !says || parts[len(parts)-1].GetToolCall().GetName() != "get_weather" {
		t.Errorf("on record of the reply: %v", reply)
	}
}

// counted is what the fakes tell.
type counted struct {
	Requests, Refused int
	Refusals          []string
	LargestBytes      int `json:"largest_bytes"`
	Calls             map[string]int
}

func countsOf(t *testing.T, provider string) (c counted) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, provider+"/stats", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || json.Unmarshal(text, &c) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return c
}

// expectRecord counts what is on record: parts of a message are results where its role is tool.
func expectRecord(t *testing.T, address, conversation string, want map[pb.Role]int) []*pb.Message {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	size := int32(64 << 20)
	listed, err := pb.NewConversationServiceClient(conn).ListMessages(context.Background(),
		&pb.ListMessagesRequest{ConversationId: conversation, PageSize: 1000, MaxReplyBytes: &size}, grpc.MaxCallRecvMsgSize(int(size)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[pb.Role]int{}
	for _, m := range listed.GetMessages() {
		if found[m.GetRole()]++; m.GetRole() == pb.Role_ROLE_TOOL {
			found[m.GetRole()] += len(m.GetParts()) - 1
		}
	}
	if !maps.Equal(found, want) {
		t.Errorf("on record are %v, want %v", found, want)
	}
	return listed.GetMessages()
}

// expectAgent runs an example with a sidecar of its own, and counts what an author writes of it.
func expectAgent(t *testing.T, agent *exec.Cmd) {
	t.Helper()
	provider := startFakes(t)
	agent.Env = append(agent.Environ(), "PALIMPSEST_BINARY="+sidecar, "MODEL=fake", "OPENAI_BASE_URL="+provider+"/v1", "OPENAI_API_KEY=none")
	if said := run(t, agent); strings.Count(said, "The log says: ") != 3 {
		t.Errorf("the agent said %q", said)
	}
	expectToy(t, provider)
}

// expectLines counts the lines of an example that an author writes: imports, comments and empty lines apart.
func expectLines(t *testing.T, file string, most int) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	apart := regexp.MustCompile(`^\s*(|//.*|/?\*.*|import .*|package .*)$`)
	text := regexp.MustCompile(`(?s)\nimport \(.*?\n\)\n`).ReplaceAllString(string(source), "\n")
	lines := 0
	for line := range strings.Lines(text) {
		if !apart.MatchString(strings.TrimRight(line, "\n")) {
			lines++
		}
	}
	if t.Logf("%s has %d lines", file, lines); lines == 0 || lines > most {
		t.Errorf("%s has %d lines, at most %d", file, lines, most)
	}
}
