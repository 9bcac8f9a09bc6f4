package grpcserver

import (
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// transport speaks TLS on the network and plain bytes on Unix sockets, whose files say who may connect.
type transport struct {
	credentials.TransportCredentials
	plain credentials.TransportCredentials
}

// newTransport returns it; without a configuration it speaks plain bytes everywhere.
func newTransport(config *tls.Config) credentials.TransportCredentials {
	if config == nil {
		return insecure.NewCredentials()
	}
	return &transport{TransportCredentials: credentials.NewTLS(config), plain: insecure.NewCredentials()}
}

// ServerHandshake implements credentials.TransportCredentials.
func (t *transport) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if conn.LocalAddr().Network() == "unix" {
		return t.plain.ServerHandshake(conn)
	}
	return t.TransportCredentials.ServerHandshake(conn)
}

// Clone implements credentials.TransportCredentials.
func (t *transport) Clone() credentials.TransportCredentials {
	return &transport{TransportCredentials: t.TransportCredentials.Clone(), plain: t.plain.Clone()}
}

// verifiesClients says whether a server with a configuration, nil for none, takes clients' certificates.
func verifiesClients(config *tls.Config) bool {
	if config == nil {
		return false
	}
	if config.GetConfigForClient != nil {
		current, err := config.GetConfigForClient(&tls.ClientHelloInfo{})
		if err == nil && current != nil {
			config = current
		}
	}
	return config.ClientCAs != nil
}
