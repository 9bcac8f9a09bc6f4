package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t), serial: 1}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate = a.sign(t, template, template, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(t *testing.T, template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	out, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// issue writes a certificate of a name and its key into files.
func (a *authority) issue(t *testing.T, folder, file, name string) (certificate, key string) {
	t.Helper()
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if uri, err := url.Parse(name); err == nil && uri.Scheme != "" {
		template.URIs = []*url.URL{uri}
	}
	private := newKey(t)
	made := a.sign(t, template, a.certificate, private)
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(folder, file+".crt"), filepath.Join(folder, file+".key")
	replace(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
	replace(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Raw})))
	return certificate, key
}

func (a *authority) write(t *testing.T, folder, file string) string {
	t.Helper()
	path := filepath.Join(folder, file)
	replace(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})))
	return path
}

// replace writes a file at once.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// secured is a program with TLS, tokens and certificates, and the flags of a client of it without either.
type secured struct {
	folder    string
	server    *authority
	settings  *config.Settings
	anonymous dial.Flags
}

func startSecured(t *testing.T) *secured {
	t.Helper()
	out := &secured{folder: t.TempDir(), server: newAuthority(t)}
	s := config.Private(t.TempDir())
	s.TLSCert, s.TLSKey = out.server.issue(t, out.folder, "server", "")
	s.TLSClientCA = out.server.write(t, out.folder, "clients.crt")
	s.Credentials = filepath.Join(out.folder, "credentials.yaml")
	replace(t, s.Credentials, `
tokens: [{name: t, namespace: team-a, role: operator, sha256: `+access.HashOf("pal_token").String()+`}]
certificates: [{name: c, namespace: team-b, san: "URI:spiffe://example.org/agent"}]
`)
	replace(t, filepath.Join(out.folder, "token"), "pal_token\n")
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		ended <- (&program{log: zap.NewNop(), ready: func(addresses []string) { ready <- addresses[0] }}).Run(ctx, s)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	out.settings, out.anonymous = s, dial.Flags{Address: <-ready, TLSCA: out.server.write(t, out.folder, "ca.crt")}
	return out
}

// lists makes a call, and says whose conversations are seen.
func lists(t *testing.T, flags dial.Flags) ([]string, error) {
	t.Helper()
	conn, err := flags.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	record := pb.NewConversationServiceClient(conn)
	seen, err := record.ListConversations(ctx, &pb.ListConversationsRequest{})
	var out []string
	for _, c := range seen.GetConversations() {
		out = append(out, c.GetId())
	}
	return out, err
}

func appends(t *testing.T, flags dial.Flags, id string) {
	t.Helper()
	conn, err := flags.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	request := message("hello")
	request.ConversationId = id
	if _, err := pb.NewContextServiceClient(conn).AppendMessage(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

func TestProgram_TLS_TokensAndCertificatesOpenTheirNamespaces(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	byToken, byCertificate, unknown, byStranger := s.anonymous, s.anonymous, s.anonymous, s.anonymous
	byToken.TokenFile = filepath.Join(s.folder, "token")
	byCertificate.TLSCert, byCertificate.TLSKey = s.server.issue(t, s.folder, "agent", "spiffe://example.org/agent")
	unknown.TLSCert, unknown.TLSKey = s.server.issue(t, s.folder, "unknown", "spiffe://example.org/unknown")
	byStranger.TLSCert, byStranger.TLSKey = newAuthority(t).issue(t, s.folder, "stranger", "spiffe://example.org/agent")
	appends(t, byToken, "of-a")
	appends(t, byCertificate, "of-b")
	for name, c := range map[string]struct {
		flags dial.Flags
		sees  string
		code  codes.Code
	}{
		"a token":                                {byToken, "of-a", codes.OK},
		"a certificate":                          {byCertificate, "of-b", codes.OK},
		"nothing":                                {s.anonymous, "", codes.Unauthenticated},
		"a certificate that no entry names":      {unknown, "", codes.Unauthenticated},
		"a certificate of another authority":     {byStranger, "", codes.Unavailable},
		"no TLS":                                 {dial.Flags{Address: s.anonymous.Address}, "", codes.Unavailable},
		"TLS that trusts others":                 {dial.Flags{Address: s.anonymous.Address, TLS: true}, "", codes.Unavailable},
		"no TLS with a token, which is loopback": {dial.Flags{Address: s.anonymous.Address, TokenFile: byToken.TokenFile}, "", codes.Unavailable},
	} {
		if seen, err := lists(t, c.flags); strings.Join(seen, " ") != c.sees || status.Code(err) != c.code {
			t.Errorf("%s sees %q, %v; want %q, %v", name, seen, err, c.sees, c.code)
		}
	}
	conn, err := s.anonymous.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if h, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("a probe without a credential: %v, %v", h, err)
	}
}

func TestProgram_TLSCertificateReplaced_NewConnectionsSeeIt(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	serial := func() int64 {
		conn, err := tls.Dial("tcp", s.anonymous.Address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	before := serial()
	s.server.issue(t, s.folder, "server", "")
	for deadline := time.Now().Add(20 * time.Second); serial() == before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not shown")
		}
	}
	replace(t, s.settings.TLSKey, "broken")
	time.Sleep(3 * 500 * time.Millisecond)
	if serial() == before {
		t.Error("a key that cannot be read brings the old certificate back")
	}
}

func TestDial_TokenWithoutTLS_StaysOnTheMachine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	replace(t, file, "pal_token")
	if _, err := (&dial.Flags{Address: "192.0.2.1:7171", TokenFile: file}).Dial(); err == nil || !strings.Contains(err.Error(), "read along") {
		t.Errorf("Dial = %v", err)
	}
}
