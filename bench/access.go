package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
)

// tokens is how many tokens a file of credentials has: each call is compared with all of them.
const tokens = 100

// withTokens compares warm builds of callers with a token with builds of callers without one.
func withTokens(ctx context.Context, r *rig) (float64, string, error) {
	return guardedBuild(ctx, r, false)
}

// withTLS compares warm builds by TLS and with a token with builds without either.
func withTLS(ctx context.Context, r *rig) (float64, string, error) { return guardedBuild(ctx, r, true) }

func guardedBuild(ctx context.Context, open *rig, secure bool) (float64, string, error) {
	guarded := &rig{dir: filepath.Join(open.dir, "guarded"), binary: open.binary}
	defer guarded.close()
	if err := guarded.startGuarded(ctx, secure); err != nil {
		return 0, "", err
	}
	request := &pb.BuildContextRequest{
		ConversationId: "c", Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, Budget: &pb.Budget{ContextWindowTokens: proto.Int32(200_000)},
	}
	for _, r := range []*rig{open, guarded} {
		if err := r.fill(ctx, "c", 100, 1000); err != nil {
			return 0, "", err
		}
	}
	build := func(r *rig) sample {
		return func() (time.Duration, error) {
			if err := r.add(ctx, "c", 1); err != nil {
				return 0, err
			}
			return timed(func() error { _, err := r.sidecar.BuildContext(ctx, request); return err })
		}
	}
	return bestOf([]sample{build(guarded), build(open)}, p50s("%v with, %v without (p50)"))
}

// startGuarded starts a sidecar that asks for tokens, and by TLS if it is to be secure.
func (r *rig) startGuarded(ctx context.Context, secure bool) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	r.client.TokenFile = filepath.Join(r.dir, "token")
	file := filepath.Join(r.dir, "credentials.yaml")
	var text bytes.Buffer
	text.WriteString("tokens:\n")
	token := ""
	for n := range tokens {
		token = access.NewToken()
		fmt.Fprintf(&text, "  - {name: t%d, namespace: n, sha256: %s}\n", n, access.HashOf(token))
	}
	err := errors.Join(os.WriteFile(file, text.Bytes(), 0o600), os.WriteFile(r.client.TokenFile, []byte(token), 0o600))
	flags := []string{"--credentials", file}
	if secure {
		r.client.TLSCA = filepath.Join(r.dir, "tls.crt")
		key := filepath.Join(r.dir, "tls.key")
		err = errors.Join(err, writeCertificate(r.client.TLSCA, key))
		flags = append(flags, "--tls-cert", r.client.TLSCA, "--tls-key", key)
	}
	if err != nil {
		return err
	}
	r.onClose(func() { r.stop() })
	r.stop = func() {}
	return r.launch(ctx, flags...)
}

// writeCertificate makes a certificate of this machine that signs itself.
func writeCertificate(certificate, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(private)
	return errors.Join(err,
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600))
}
