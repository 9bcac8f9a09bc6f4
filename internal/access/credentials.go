package access

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/palimpsest-context/palimpsest/internal/bytesize"
)

var (
	validNamespace = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	validName      = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	validSAN       = regexp.MustCompile(`^(?:URI|DNS|IP|email):.+`)
	lineNumber     = regexp.MustCompile(`line \d+`)
)

// Bounds of a file of credentials: every call compares its token with all of them.
const (
	maxCredentials = 10_000
	maxActors      = 1000
	maxNameBytes   = 256
)

// Credentials are the credentials of one state of the file. They do not change.
type Credentials struct {
	tokens       []token
	certificates map[string]*Caller // by SAN
	limits       map[string]Limits
}

type token struct {
	hash    Hash
	expires time.Time // zero: never
	caller  *Caller
}

// Limits are what a namespace may take; 0 is no limit, and nil is the server's default.
type Limits struct {
	Conversations       *int64         `yaml:"conversations"`
	Bytes               *bytesize.Size `yaml:"bytes"`
	ModelCallsPerMinute *int64         `yaml:"model_calls_per_minute"`
	ModelSpendPerMinute *float64       `yaml:"model_spend_per_minute"`
	RequestsInFlight    *int64         `yaml:"requests_in_flight"`
}

// document is the file as it is written.
type document struct {
	Tokens       []tokenEntry       `yaml:"tokens"`
	Certificates []certificateEntry `yaml:"certificates"`
	Namespaces   map[string]Limits  `yaml:"namespaces"`
}

type entry struct {
	Name      string   `yaml:"name"`
	Namespace string   `yaml:"namespace"`
	Role      Role     `yaml:"role,omitempty"`
	Actors    []string `yaml:"actors,omitempty,flow"`
}

type tokenEntry struct {
	entry   `yaml:",inline"`
	SHA256  string    `yaml:"sha256"`
	Expires time.Time `yaml:"expires,omitempty"`
}

type certificateEntry struct {
	entry `yaml:",inline"`
	SAN   string `yaml:"san"`
}

// Parse reads a file of credentials, which may have none. Errors name entries and never quote them.
func Parse(b []byte) (*Credentials, error) {
	var d document
	decoder := yaml.NewDecoder(bytes.NewReader(b))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		return nil, explain(err)
	}
	if err := decoder.Decode(new(document)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it must be one YAML document")
	}
	if n := len(d.Tokens) + len(d.Certificates); n > maxCredentials {
		return nil, fmt.Errorf("it must have at most %d tokens and certificates", maxCredentials)
	}
	return d.credentials()
}

// explain says where YAML cannot be read: in whose words a secret may stand, so nothing of it is quoted.
func explain(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if line := lineNumber.FindString(err.Error()); line != "" {
		return fmt.Errorf("it is not the YAML of credentials: look at %s", line)
	}
	return errors.New("it is not the YAML of credentials")
}

func (d *document) credentials() (*Credentials, error) {
	c := &Credentials{certificates: make(map[string]*Caller, len(d.Certificates)), limits: d.Namespaces}
	names, faults := make(map[string]bool), []error(nil)
	for i := range d.Tokens {
		if err := c.addToken(&d.Tokens[i], names); err != nil {
			faults = append(faults, fmt.Errorf("tokens[%d]: %w", i, err))
		}
	}
	for i := range d.Certificates {
		if err := c.addCertificate(&d.Certificates[i], names); err != nil {
			faults = append(faults, fmt.Errorf("certificates[%d]: %w", i, err))
		}
	}
	for name, l := range d.Namespaces {
		if err := errors.Join(CheckNamespace(name), l.check()); err != nil {
			faults = append(faults, fmt.Errorf("namespaces: %w", err))
		}
	}
	return c, errors.Join(faults...)
}

func (c *Credentials) addToken(e *tokenEntry, names map[string]bool) error {
	caller, err := e.caller(names)
	if err != nil {
		return err
	}
	hash, err := parseHash(e.SHA256)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.tokens, func(t token) bool { return t.hash == hash }) {
		return errors.New("another entry has the same sha256")
	}
	c.tokens = append(c.tokens, token{hash: hash, expires: e.Expires, caller: caller})
	return nil
}

func (c *Credentials) addCertificate(e *certificateEntry, names map[string]bool) error {
	caller, err := e.caller(names)
	switch {
	case err != nil:
		return err
	case !validSAN.MatchString(e.SAN):
		return errors.New("san must be URI:, DNS:, IP: or email: and the name in the certificate, such as URI:spiffe://example.org/agent")
	case c.certificates[e.SAN] != nil:
		return errors.New("another entry has the same san")
	}
	c.certificates[e.SAN] = caller
	return nil
}

func (e *entry) caller(names map[string]bool) (*Caller, error) {
	e.Role = cmp.Or(e.Role, Agent)
	switch {
	case !validName.MatchString(e.Name):
		return nil, errors.New("name must be 1 to 64 letters, digits, dots, hyphens and underscores")
	case names[e.Name]:
		return nil, errors.New("another entry has the same name")
	case e.Role != Agent && e.Role != Operator:
		return nil, fmt.Errorf("role must be %s or %s", Agent, Operator)
	case e.Role == Operator && len(e.Actors) > 0:
		return nil, errors.New("an operator is not limited to actors")
	case len(e.Actors) > maxActors || slices.ContainsFunc(e.Actors, func(a string) bool { return a == "" || len(a) > maxNameBytes }):
		return nil, fmt.Errorf("actors must be at most %d names of 1 to %d bytes", maxActors, maxNameBytes)
	}
	names[e.Name] = true
	return &Caller{Credential: e.Name, Namespace: e.Namespace, Role: e.Role, Actors: e.Actors}, CheckNamespace(e.Namespace)
}

func (l *Limits) check() error {
	negative := func(n *int64) bool { return n != nil && *n < 0 }
	if negative(l.Conversations) || negative(l.ModelCallsPerMinute) || negative(l.RequestsInFlight) || l.ModelSpendPerMinute != nil && !(*l.ModelSpendPerMinute >= 0) {
		return errors.New("limits must be 0 or more")
	}
	return nil
}

// CheckNamespace says whether a namespace may have this name: it is also a label of metrics.
func CheckNamespace(name string) error {
	if !validNamespace.MatchString(name) {
		return errors.New("a namespace's name must be 1 to 64 lower-case letters, digits, dots, hyphens and underscores, and begin with a letter or digit")
	}
	return nil
}

func (c *Credentials) none() bool { return len(c.tokens)+len(c.certificates) == 0 }

// Limits are those of a namespace, as far as the file sets them.
func (c *Credentials) Limits(namespace string) Limits { return c.limits[namespace] }

// Namespaces are all that the file names, in order.
func (c *Credentials) Namespaces() []string {
	out := make([]string, 0, len(c.tokens)+len(c.certificates)+len(c.limits))
	for _, t := range c.tokens {
		out = append(out, t.caller.Namespace)
	}
	for _, caller := range c.certificates {
		out = append(out, caller.Namespace)
	}
	for name := range c.limits {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bearer finds the caller of a token. It compares with every hash, so that its time says nothing about which of them is near.
func (c *Credentials) bearer(presented string, now time.Time) (*Caller, time.Time) {
	var found *token
	hash := HashOf(presented)
	for i := range c.tokens {
		if subtle.ConstantTimeCompare(hash[:], c.tokens[i].hash[:]) == 1 {
			found = &c.tokens[i]
		}
	}
	if found == nil || !found.expires.IsZero() && !now.Before(found.expires) {
		return nil, time.Time{}
	}
	return found.caller, found.expires
}

// certificate finds the caller of a certificate that was verified. One whose names lead to several entries stands for none.
func (c *Credentials) certificate(presented *x509.Certificate, now time.Time) (*Caller, time.Time) {
	if now.Before(presented.NotBefore) || !now.Before(presented.NotAfter) {
		return nil, time.Time{}
	}
	var found *Caller
	for _, name := range sans(presented) {
		caller := c.certificates[name]
		if caller != nil && found != nil && caller != found {
			return nil, time.Time{}
		}
		if caller != nil {
			found = caller
		}
	}
	return found, presented.NotAfter
}

// sans are the names of a certificate as the file writes them.
func sans(c *x509.Certificate) []string {
	out := make([]string, 0, len(c.URIs)+len(c.DNSNames)+len(c.IPAddresses)+len(c.EmailAddresses))
	for _, u := range c.URIs {
		out = append(out, "URI:"+u.String())
	}
	for _, n := range c.DNSNames {
		out = append(out, "DNS:"+n)
	}
	for _, ip := range c.IPAddresses {
		out = append(out, "IP:"+ip.String())
	}
	for _, a := range c.EmailAddresses {
		out = append(out, "email:"+a)
	}
	return out
}
