package access

import (
	"context"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func hashed(token string) string { return HashOf(token).String() }

// file is a file of credentials with a token of each kind.
func file() string {
	return `
tokens:
  - {name: agents, namespace: team-a, sha256: ` + hashed("pal_agent") + `}
  - {name: alice, namespace: team-a, actors: [alice], sha256: ` + hashed("pal_alice") + `}
  - {name: ops, namespace: team-a, role: operator, sha256: ` + hashed("pal_ops") + `}
  - {name: old, namespace: team-a, expires: 2026-01-01T12:00:00Z, sha256: ` + hashed("pal_old") + `}
certificates:
  - {name: spiffe, namespace: team-b, san: "URI:spiffe://example.org/agent"}
  - {name: dns, namespace: team-c, san: "DNS:agent.example.org"}
namespaces:
  team-a: {conversations: 10, bytes: 5GiB, model_spend_per_minute: 0.5}
`
}

func certificate(names ...string) *x509.Certificate {
	out := &x509.Certificate{NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour)}
	for _, n := range names {
		if u, err := url.Parse(n); err == nil && u.Scheme != "" {
			out.URIs = append(out.URIs, u)
			continue
		}
		out.DNSNames = append(out.DNSNames, n)
	}
	return out
}

func TestAuthenticator_Authenticate_Presented(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	write(t, path, file())
	authenticator, err := LoadAuthenticator(path, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(s string) Presented { return Presented{Token: &s} }
	shown := func(names ...string) Presented { return Presented{Certificate: certificate(names...)} }
	expired := certificate("agent.example.org")
	expired.NotAfter = noon
	both := shown("spiffe://example.org/agent")
	both.Token = new("pal_wrong")
	for name, c := range map[string]struct {
		presented Presented
		want      string // the credential's name; empty: refused
	}{
		"an agent's token":                 {bearer("pal_agent"), "agents"},
		"an operator's token":              {bearer("pal_ops"), "ops"},
		"a token that expired now":         {bearer("pal_old"), ""},
		"a wrong token":                    {bearer("pal_agenT"), ""},
		"an empty token":                   {bearer(""), ""},
		"the hash of a token":              {bearer(hashed("pal_agent")), ""},
		"nothing":                          {Presented{}, ""},
		"a certificate by URI":             {shown("spiffe://example.org/agent"), "spiffe"},
		"a certificate by DNS name":        {shown("other.example.org", "agent.example.org"), "dns"},
		"an unknown certificate":           {shown("spiffe://example.org/other"), ""},
		"a certificate of two entries":     {shown("spiffe://example.org/agent", "agent.example.org"), ""},
		"an expired certificate":           {Presented{Certificate: expired}, ""},
		"a wrong token with a certificate": {both, ""},
	} {
		t.Run(name, func(t *testing.T) {
			identity, err := authenticator.Authenticate(c.presented)
			if c.want == "" {
				if conversation.KindOf(err) != conversation.Unauthenticated || err.Error() != "a valid credential is needed" {
					t.Fatalf("err = %v, want the words that all refusals share", err)
				}
				return
			}
			if err != nil || identity.Caller.Credential != c.want {
				t.Fatalf("Authenticate = %+v, %v; want %s", identity.Caller, err, c.want)
			}
		})
	}
}

func TestAuthenticator_LastCredentialTakenOut_NobodyIsLetIn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	write(t, path, file())
	authenticator, err := LoadAuthenticator(path, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	agent := Presented{Token: new("pal_agent")}
	identity, err := authenticator.Authenticate(agent)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path+".new", "tokens: []\n")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	authenticator.file.mustReload(t, true, "")
	if _, err := authenticator.Authenticate(agent); conversation.KindOf(err) != conversation.Unauthenticated {
		t.Errorf("a token that was taken out: %v", err)
	}
	select {
	case <-identity.Changed:
	default:
		t.Error("streams of the token are not told")
	}
	if _, err := LoadAuthenticator(path, time.Now); err == nil || !strings.Contains(err.Error(), "no token and no certificate") {
		t.Errorf("a start without any credential: %v", err)
	}
}

func TestParse_Faults_AreToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	secret := hashed("pal_secret")
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "it is empty"},
		"too many":            {"tokens: [" + strings.Repeat("{},", 10_001) + "]", "at most 10000"},
		"unknown key":         {"tokenz: [{sha256: " + secret + "}]", "line 1"},
		"a token as it is":    {"tokens: [{name: a, namespace: n, sha256: pal_secret}]", "tokens[0]: sha256 must be"},
		"no name":             {"tokens: [{namespace: n, sha256: " + secret + "}]", "tokens[0]: name must be"},
		"bad namespace":       {"tokens: [{name: a, namespace: A b, sha256: " + secret + "}]", "a namespace's name must be"},
		"bad role":            {"tokens: [{name: a, namespace: n, role: root, sha256: " + secret + "}]", "role must be"},
		"operator of actors":  {"tokens: [{name: a, namespace: n, role: operator, actors: [x], sha256: " + secret + "}]", "an operator is not limited"},
		"twice the same name": {"tokens: [{name: a, namespace: n, sha256: " + secret + "}, {name: a, namespace: n, sha256: " + hashed("other") + "}]", "tokens[1]: another entry has the same name"},
		"twice the same hash": {"tokens: [{name: a, namespace: n, sha256: " + secret + "}, {name: b, namespace: m, sha256: " + secret + "}]", "tokens[1]: another entry has the same sha256"},
		"san without a kind":  {"certificates: [{name: a, namespace: n, san: agent.example.org}]", "certificates[0]: san must be"},
		"negative limit":      {"tokens: [{name: a, namespace: n, sha256: " + secret + "}]\nnamespaces: {n: {bytes: 5, conversations: -1}}", "limits must be 0 or more"},
		"two documents":       {"tokens: [{name: a, namespace: n, sha256: " + secret + "}]\n---\n{}", "one YAML document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Parse = %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "pal_secret") {
				t.Fatalf("the error quotes the file: %v", err)
			}
		})
	}
}

func TestAddToken_ToAFileOfOthers_AllAreAdmitted(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"empty": "", "none": "tokens: []", "others": "# who may call" + file(), "certificates alone": `certificates: [{name: c, namespace: n, san: "DNS:a"}]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := NewToken()
			text, err := AddToken([]byte(before), token, Caller{Credential: "x", Namespace: "n", Role: Agent, Actors: []string{"a"}}, noon)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			caller, until := c.bearer(token, noon.Add(-time.Second))
			if caller == nil || caller.Credential != "x" || !until.Equal(noon) || strings.Contains(string(text), token) {
				t.Fatalf("bearer = %+v until %v of\n%s", caller, until, text)
			}
			if other, _ := c.bearer("pal_agent", noon); (other != nil) != (name == "others") || strings.Contains(before, "#") != strings.Contains(string(text), "# who") {
				t.Fatalf("what was there before is %+v in\n%s", other, text)
			}
		})
	}
	for _, bad := range []string{"[]", "tokens: 1", "tokens: [", file() + "\n---\na: 1"} {
		if text, err := AddToken([]byte(bad), "t", Caller{Credential: "x", Namespace: "n"}, noon); err == nil {
			t.Errorf("%q becomes %s", bad, text)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// words opens a file whose value is its text; "bad" cannot be parsed.
func words(t *testing.T, text string) (files *Files[string], path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f")
	write(t, path, text)
	files, err := OpenFiles(func(b [][]byte) (string, error) {
		if string(b[0]) == "bad" {
			return "", errors.New("bad")
		}
		return string(b[0]), nil
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return files, path
}

func (f *Files[T]) mustReload(t *testing.T, wantChanged bool, wantErr string) {
	t.Helper()
	changed, err := f.reload()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if changed != wantChanged || !strings.Contains(text, wantErr) || (wantErr == "") != (err == nil) {
		t.Fatalf("reload = %v, %v; want %v, %q", changed, err, wantChanged, wantErr)
	}
}

func TestFiles_RewrittenInPlace_CountsOnceItIsLeftAlone(t *testing.T) {
	t.Parallel()
	f, path := words(t, "one")
	f.mustReload(t, false, "")
	write(t, path, "tw")
	f.mustReload(t, false, "")
	write(t, path, "two!")
	f.mustReload(t, false, "")
	if v, _ := f.Value(); v != "one" {
		t.Fatalf("half of a file was taken: %q", v)
	}
	f.mustReload(t, true, "")
	if v, _ := f.Value(); v != "two!" {
		t.Fatalf("value = %q", v)
	}
}

func TestFiles_Replaced_CountsAtOnceAndTellsWhoWaits(t *testing.T) {
	t.Parallel()
	f, path := words(t, "one")
	_, changed := f.Value()
	write(t, path+".new", "two")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	f.mustReload(t, true, "")
	select {
	case <-changed:
	default:
		t.Fatal("who waits for a change is not told")
	}
}

func TestFiles_Unreadable_TheValueBeforeStands(t *testing.T) {
	t.Parallel()
	f, path := words(t, "one")
	write(t, path+".new", "bad")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	f.mustReload(t, true, "bad")
	f.mustReload(t, false, "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.mustReload(t, true, "no such file")
	changed, _ := f.reload()
	if v, _ := f.Value(); v != "one" || changed {
		t.Fatalf("value = %q, told again %v", v, changed)
	}
	write(t, path, "two")
	f.mustReload(t, false, "")
	f.mustReload(t, true, "")
}

func TestFiles_ModeMended_IsReadAtTheNextLook(t *testing.T) {
	t.Parallel()
	f, path := words(t, "one")
	allowed := f.readFile
	f.readFile = func(string) ([]byte, error) { return nil, os.ErrPermission }
	write(t, path+".new", "two")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	f.mustReload(t, true, "permission")
	for range 3 {
		f.mustReload(t, false, "permission")
	}
	f.readFile = allowed
	f.mustReload(t, true, "")
	if v, _ := f.Value(); v != "two" {
		t.Fatalf("value = %q", v)
	}
	f.mustReload(t, false, "")
}

func TestCallerOf_NobodyAuthenticated_NamesNoNamespace(t *testing.T) {
	t.Parallel()
	if c := CallerOf(context.Background()); c.Namespace != "" || c.Role != "" {
		t.Fatalf("CallerOf = %+v", c)
	}
}
