package dbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Authority is who signs the certificate of a server of a test. The certificate is for 127.0.0.1 and no name.
type Authority struct {
	// CAFile, CertFile and KeyFile are files in PEM that the server may read.
	CAFile, CertFile, KeyFile string
}

// NewAuthority makes one, and a certificate.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	folder, err := os.MkdirTemp("", "p-ca")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	a := &Authority{CAFile: filepath.Join(folder, "ca"), CertFile: filepath.Join(folder, "cert"), KeyFile: filepath.Join(folder, "key")}
	if err := a.write(folder); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *Authority) write(folder string) error {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &signer.PublicKey, signer)
	if err != nil {
		return err
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, ca, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path, kind string
		der        []byte
	}{{a.CAFile, "CERTIFICATE", caDER}, {a.CertFile, "CERTIFICATE", serverDER}, {a.KeyFile, "EC PRIVATE KEY", keyDER}} {
		if err := os.WriteFile(f.path, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der}), 0o600); err != nil {
			return err
		}
	}
	return give(folder, a.CAFile, a.CertFile, a.KeyFile) // servers refuse a key that others may read
}

// StartRedisTLS starts a server with a certificate of an authority, and says where it takes TLS.
func StartRedisTLS(t testing.TB, a *Authority) (address string) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	StartRedis(t, "--tls-port", strconv.Itoa(port), "--tls-cert-file", a.CertFile, "--tls-key-file", a.KeyFile, "--tls-ca-cert-file", a.CAFile,
		"--tls-auth-clients", "no")
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// StartPostgresTLS starts a server that takes TLS with a certificate of an authority. The address has no user and no settings.
func StartPostgresTLS(t testing.TB, a *Authority) (address string) {
	t.Helper()
	p := StartPostgres(t, "ssl=on", "ssl_cert_file="+a.CertFile, "ssl_key_file="+a.KeyFile)
	return fmt.Sprintf("127.0.0.1:%d", p.port)
}
