package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/listen"
)

// AccessFlags say who may call, and over what.
type AccessFlags struct {
	Namespace   string `help:"Namespace of all conversations where there are no credentials." env:"PALIMPSEST_NAMESPACE" default:"default"`
	Credentials string `help:"File of credentials (docs/access.md), read again when it changes. Every call but health checks needs one then." env:"PALIMPSEST_CREDENTIALS" type:"path" placeholder:"FILE"`
	TLSCert     string `help:"Certificate of TCP listeners, with its chain: PEM. This file and the next two are read again when they change. Unix sockets speak no TLS." env:"PALIMPSEST_TLS_CERT" name:"tls-cert" type:"path" placeholder:"FILE"`
	TLSKey      string `help:"Key of the certificate: PEM." env:"PALIMPSEST_TLS_KEY" name:"tls-key" type:"path" placeholder:"FILE"`
	TLSClientCA string `help:"Authorities of clients' certificates: PEM. The file of credentials says what each certificate may do." env:"PALIMPSEST_TLS_CLIENT_CA" name:"tls-client-ca" type:"path" placeholder:"FILE"`
	Insecure    bool   `help:"Listen beyond loopback without credentials or TLS: whoever reaches the port can use every conversation, or read along." env:"PALIMPSEST_INSECURE"`

	SocketMode  fileMode `help:"Mode of Unix sockets, such as 0660: who may write to one may call." env:"PALIMPSEST_SOCKET_MODE" default:"0600"`
	SocketGroup string   `help:"Group of Unix sockets, by name or number; by default the sidecar's own." env:"PALIMPSEST_SOCKET_GROUP" placeholder:"GROUP"`
	SocketUIDs  []uint32 `help:"Users, by number, who may connect to Unix sockets; by default all whom the mode lets in. Repeatable. Linux only." env:"PALIMPSEST_SOCKET_UIDS" name:"socket-uids" placeholder:"UID"`

	Reflection bool   `help:"Offer gRPC server reflection, to operators where there are credentials." env:"PALIMPSEST_REFLECTION"`
	Channelz   bool   `help:"Offer channelz, the state of gRPC's connections, to operators where there are credentials." env:"PALIMPSEST_CHANNELZ"`
	Pprof      string `help:"Loopback address that serves Go's profiles by HTTP, such as 127.0.0.1:6060. They hold no conversations." env:"PALIMPSEST_PPROF" placeholder:"ADDRESS"`
}

func (s *Settings) checkAccess() error {
	return errors.Join(s.checkNamespace(), s.checkTLS(), s.checkExposure(), s.checkSockets(), s.checkPprof())
}

const defaultNamespace = "default"

func (s *Settings) checkNamespace() error {
	if s.Credentials != "" && s.Namespace != defaultNamespace {
		return errors.New("--namespace is for a sidecar without --credentials: these name namespaces themselves")
	}
	if err := access.CheckNamespace(s.Namespace); err != nil {
		return fmt.Errorf("--namespace: %w", err)
	}
	return nil
}

func (s *Settings) checkTLS() error {
	switch {
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case s.TLSClientCA != "" && s.TLSCert == "":
		return errors.New("--tls-client-ca needs --tls-cert and --tls-key")
	case s.TLSClientCA != "" && s.Credentials == "":
		return errors.New("--tls-client-ca needs --credentials, which say whom a certificate stands for")
	default:
		return nil
	}
}

// checkExposure: what the network can reach needs credentials, which nobody must be able to read along, or must be asked for in words.
func (s *Settings) checkExposure() error {
	if s.Insecure || s.TLSCert != "" && s.Credentials != "" {
		return nil
	}
	for _, address := range s.Listen {
		if !listen.IsLocal(address) {
			return fmt.Errorf("--listen %s can be reached from other machines, and there are not both credentials and TLS: "+
				"set --credentials, --tls-cert and --tls-key, or say --insecure if that is what you want, or listen on 127.0.0.1 or a Unix socket", address)
		}
	}
	return nil
}

func (s *Settings) checkSockets() error {
	hasSocket := strings.HasPrefix(s.Ops, listen.UnixScheme)
	for _, address := range s.Listen {
		hasSocket = hasSocket || strings.HasPrefix(address, listen.UnixScheme)
	}
	switch asked := s.SocketMode != defaultSocketMode || s.SocketGroup != "" || len(s.SocketUIDs) > 0; {
	case asked && !hasSocket:
		return errors.New("--socket-mode, --socket-group and --socket-uids need a Unix socket to listen on")
	case len(s.SocketUIDs) > 0 && !listen.KnowsPeers:
		return errors.New("--socket-uids works on Linux alone")
	default:
		return nil
	}
}

// Sockets are the options of Unix sockets.
func (s *Settings) Sockets() (listen.Sockets, error) {
	out := listen.Sockets{Mode: fs.FileMode(s.SocketMode), Group: -1, UIDs: s.SocketUIDs}
	if s.SocketGroup == "" {
		return out, nil
	}
	var err error
	if out.Group, err = listen.GroupOf(s.SocketGroup); err != nil {
		return out, command.Usage(fmt.Errorf("--socket-group %s: %w", s.SocketGroup, err))
	}
	return out, nil
}

func (s *Settings) checkPprof() error {
	_, _, err := net.SplitHostPort(s.Pprof)
	return unless(s.Pprof == "" || err == nil && listen.IsLocal(s.Pprof), "--pprof must be a loopback address, such as 127.0.0.1:6060")
}

// fileMode is a file's permissions, in octal digits.
type fileMode fs.FileMode

const defaultSocketMode fileMode = 0o600

// UnmarshalText reads 0660 or 660.
func (m *fileMode) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("must be octal digits, such as 0660")
	}
	*m = fileMode(n)
	return nil
}

// String writes four octal digits.
func (m fileMode) String() string { return fmt.Sprintf("%04o", uint32(m)) }
