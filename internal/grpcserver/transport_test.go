package grpcserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// speakingTLS makes a server speak TLS, with a certificate that its clients trust.
func speakingTLS(t testing.TB) func(*Options) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) {
		o.TLS = &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}},
		}
	}
}

// credentialsFor are a client's of a server with a configuration.
func credentialsFor(server *tls.Config) credentials.TransportCredentials {
	if server == nil {
		return insecure.NewCredentials()
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificates[0].Leaf)
	return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: "localhost", RootCAs: trusted})
}
