package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// TLS serves a certificate and trusts the authorities of clients' certificates, both from files.
type TLS struct{ file *Files[*tls.Config] }

// LoadTLS reads a certificate with its chain and its key, and the authorities of clients' certificates where clientCA names them: PEM.
func LoadTLS(certificate, key, clientCA string) (*TLS, error) {
	paths := []string{certificate, key}
	if clientCA != "" {
		paths = append(paths, clientCA)
	}
	file, err := OpenFiles(tlsConfig, paths...)
	if err != nil {
		return nil, err
	}
	return &TLS{file}, nil
}

func tlsConfig(contents [][]byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, errors.New("the certificate and the key cannot be read or do not belong together")
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if len(contents) == 2 {
		return out, nil
	}
	out.ClientCAs = x509.NewCertPool()
	if !out.ClientCAs.AppendCertsFromPEM(contents[2]) {
		return nil, errors.New("the file of clients' authorities holds no certificate")
	}
	// A call without a certificate may have a token, and a probe needs neither: who calls is the authenticator's to say.
	out.ClientAuth = tls.VerifyClientCertIfGiven
	return out, nil
}

// Config is a server's: each handshake takes what the files say then.
func (t *TLS) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			current, _ := t.file.Value()
			return current, nil
		},
	}
}

// Run reads the files again when they change, until ctx ends, and tells of each change.
func (t *TLS) Run(ctx context.Context, onChange func(error)) { t.file.Run(ctx, onChange) }
