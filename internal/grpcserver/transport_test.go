package grpcserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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

// TestServer_BusyConnection_ShakesHandsAgain where clients have certificates, so that a new one is seen; a watcher stays, and calls notice nothing.
func TestServer_BusyConnection_ShakesHandsAgain(t *testing.T) {
	for name, certified := range map[string]bool{"certificates": true, "tokens": false} {
		t.Run(name, func(t *testing.T) {
			handshakes := 0
			secure := speakingTLS(t)
			reloading := func(o *Options) {
				secure(o)
				current := o.TLS.Clone()
				current.VerifyConnection = func(tls.ConnectionState) error { handshakes++; return nil }
				if certified {
					current.ClientCAs, current.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
				}
				o.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return current, nil }
			}
			synctest.Test(t, func(t *testing.T) {
				s := start(t, realEngine(t), reloading)
				add := func() { mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}) }
				add()
				watched, err := s.conversations.WatchEvents(t.Context(), &pb.WatchEventsRequest{ConversationId: "c"})
				for range 40 {
					if err == nil {
						_, err = watched.Recv()
					}
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
					add()
				}
				if again := handshakes > 2; again != certified || handshakes > 4 {
					t.Errorf("%d handshakes", handshakes)
				}
			})
		})
	}
}
