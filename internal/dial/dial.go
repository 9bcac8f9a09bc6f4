// Package dial is how the sidecar's own commands reach a sidecar: an address, TLS and a token.
package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/palimpsest-context/palimpsest/internal/listen"
)

// Flags say where a sidecar is and who asks it.
type Flags struct {
	Address   string `help:"The sidecar: host:port, or unix:///path." env:"PALIMPSEST_ADDRESS" default:"127.0.0.1:7171"`
	TokenFile string `help:"File with a token, where the sidecar asks for credentials." env:"PALIMPSEST_TOKEN_FILE" type:"path" placeholder:"FILE"`
	TLS       bool   `help:"Speak TLS, and trust this system's authorities." env:"PALIMPSEST_TLS" name:"tls"`
	TLSCA     string `help:"Speak TLS, and trust these authorities alone: PEM." env:"PALIMPSEST_TLS_CA" name:"tls-ca" type:"path" placeholder:"FILE"`
	TLSCert   string `help:"Certificate of this client, where that is its credential: PEM." env:"PALIMPSEST_CLIENT_CERT" name:"client-cert" type:"path" placeholder:"FILE"`
	TLSKey    string `help:"Key of that certificate: PEM." env:"PALIMPSEST_CLIENT_KEY" name:"client-key" type:"path" placeholder:"FILE"`
}

// Dial connects when the first call is made.
func (f *Flags) Dial(options ...grpc.DialOption) (*grpc.ClientConn, error) {
	secure, err := f.transport()
	if err != nil {
		return nil, err
	}
	options = append(options, grpc.WithTransportCredentials(secure), grpc.WithNoProxy())
	if f.TokenFile != "" {
		t, err := f.token()
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithPerRPCCredentials(t))
	}
	return newClient(f.Address, options)
}

// Plain connects as commands do that play on a sidecar: without credentials, and with a bound for each call.
func Plain(address string, timeout time.Duration) (*grpc.ClientConn, error) {
	bounds := fmt.Sprintf(`{"methodConfig": [{"name": [{}], "timeout": "%.0fs"}]}`, timeout.Seconds())
	return newClient(address, []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(bounds)})
}

// LargestReply is the most bytes that the API's replies have, for fields max_reply_bytes: originals may have megabytes.
const LargestReply int32 = 64 << 20

// envelope is what gRPC's limit allows above it.
const envelope = 1 << 20

func newClient(address string, options []grpc.DialOption) (*grpc.ClientConn, error) {
	options = append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(int(LargestReply)+envelope)))
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("--address %s: %w", address, err)
	}
	return conn, nil
}

func (f *Flags) speaksTLS() bool { return f.TLS || f.TLSCA != "" || f.TLSCert != "" }

func (f *Flags) transport() (credentials.TransportCredentials, error) {
	if !f.speaksTLS() {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.TLSCA != "" {
		pem, err := os.ReadFile(f.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("--tls-ca: the file holds no certificate")
		}
	}
	if f.TLSCert != "" || f.TLSKey != "" {
		pair, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey)
		if err != nil {
			return nil, errors.New("--client-cert and --client-key cannot be read or do not belong together")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}

func (f *Flags) token() (token, error) {
	if !f.speaksTLS() && !staysHere(f.Address) {
		return "", errors.New("--token-file: without TLS the token could be read along: set --tls or --tls-ca")
	}
	b, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("--token-file: the file must hold one token")
	}
	return token(text), nil
}

// staysHere says whether what is sent to an address stays on this machine.
func staysHere(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	return err == nil && listen.IsLoopback(host)
}

// token is a credential of calls.
type token string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: loopback and Unix sockets need none.
func (t token) RequireTransportSecurity() bool { return false }
