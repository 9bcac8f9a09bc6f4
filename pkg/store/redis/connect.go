package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// address says where the servers are.
type address struct {
	options *redis.Options
	nodes   []string
}

// parse reads a URL. Its errors do not quote the URL, which may hold a password.
func parse(o *Options) (*address, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("the URL of the Redis server cannot be read")
	}
	q := u.Query()
	more, authorities := q["addr"], q.Get("ca_file")
	q.Del("addr")
	q.Del("ca_file")
	u.RawQuery = q.Encode()
	ro, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, errors.New("the URL of the Redis server is not one: redis://, rediss:// or unix://, host:port, and a database if any")
	}
	a := &address{options: ro, nodes: append([]string{ro.Addr}, more...)}
	if authorities != "" {
		if err := trustOnly(ro.TLSConfig, authorities); err != nil {
			return nil, err
		}
	}
	if strings.ContainsAny(o.Prefix, "{}") {
		return nil, errors.New("the prefix of keys must not hold braces")
	}
	return a, a.secure(o)
}

// trustOnly makes a client accept only certificates of the authorities in a file, instead of the system's.
func trustOnly(c *tls.Config, path string) error {
	if c == nil {
		return errors.New("the URL names authorities (ca_file), which is for TLS (rediss://)")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return errors.New("the file of authorities of the Redis server (ca_file) cannot be read")
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(data) {
		return errors.New("the file of authorities of the Redis server (ca_file) has no certificate")
	}
	return nil
}

// secure refuses to send conversations unencrypted over a network.
func (a *address) secure(o *Options) error {
	switch {
	case a.options.Network == "unix" && len(a.nodes) > 1:
		return errors.New("a socket is one server: the URL names more nodes")
	case o.Insecure, a.options.Network == "unix":
		return nil
	case a.options.TLSConfig != nil && a.options.TLSConfig.InsecureSkipVerify:
		return errors.New("the URL asks not to check whose certificate it is (skip_verify): only where the network is said to be safe")
	case a.options.TLSConfig != nil:
		return nil
	}
	for _, node := range a.nodes {
		host, _, err := net.SplitHostPort(node)
		if err != nil {
			return errors.New("an address of a Redis server is not host:port")
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return errors.New("a Redis server beyond this machine needs TLS (rediss://), or to be told that the network is safe")
		}
	}
	return nil
}

// quiet stops the driver from writing its own lines, with addresses, to standard error: errors of calls and OnState report what
// is wrong.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) }) //nolint:gochecknoglobals // the driver has one for the process

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// connect makes the clients.
func (s *Store) connect(ctx context.Context) error {
	quiet()
	a, err := parse(&s.options)
	if err != nil {
		return err
	}
	s.scripts = newScripts("PUBLISH")
	s.tune(a.options)
	first, clustered, err := s.first(ctx, a)
	if err != nil {
		return err
	}
	if !clustered {
		s.single = first
		return nil
	}
	if err := first.Close(); err != nil {
		return err
	}
	if a.options.DB != 0 {
		return errors.New("a cluster has one database: the URL names another")
	}
	s.scripts = newScripts("SPUBLISH")
	s.cluster = redis.NewClusterClient(s.clusterOptions(a))
	return nil
}

// first returns a client of the first node that answers, and whether it belongs to a cluster.
func (s *Store) first(ctx context.Context, a *address) (c *redis.Client, clustered bool, err error) {
	for _, node := range a.nodes {
		o := *a.options
		o.Addr = node
		c = s.client(&o)
		var info string
		if info, err = c.Info(ctx, "cluster").Result(); err == nil {
			return c, infoOf(info)["cluster_enabled"] == "1", nil
		}
		err = errors.Join(failure(ctx, err, false), c.Close())
	}
	return nil, false, err
}

// tune turns off what a client must not do by itself. Above all it must not send a command twice: the first one may have been
// executed.
func (s *Store) tune(o *redis.Options) {
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.Protocol = 2
	o.DisableIdentity = true
	o.ContextTimeoutEnabled = true
	o.PipelinePoolSize = -1
	o.PoolSize, o.PoolTimeout = s.options.PoolSize, s.options.PoolTimeout
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = s.options.DialTimeout, s.options.CallTimeout, s.options.CallTimeout
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// client makes the client of one node.
func (s *Store) client(o *redis.Options) *redis.Client {
	node := o.Addr
	o.OnConnect = func(ctx context.Context, c *redis.Conn) error { return s.greet(ctx, node, c) }
	c := redis.NewClient(o)
	if s.options.OnTrip != nil {
		c.AddHook(trips{s.options.OnTrip})
	}
	return c
}

func (s *Store) clusterOptions(a *address) *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs: a.nodes, Username: a.options.Username, Password: a.options.Password, TLSConfig: a.options.TLSConfig,
		MaxRedirects: -1, MaxRetries: -1, NewClient: func(o *redis.Options) *redis.Client {
			s.tune(o)
			return s.client(o)
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 s.options.PoolSize, DialTimeout: s.options.DialTimeout, ContextTimeoutEnabled: true, Protocol: 2,
	}
}

// trips reports round trips.
type trips struct{ told func() }

func (t trips) tell(ctx context.Context) {
	if ctx.Value(greeting{}) == nil {
		t.told()
	}
}

// greeting marks the context of what a new connection sends first: it is not part of a call.
type greeting struct{}

func (t trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.tell(ctx)
		return next(ctx, cmd)
	}
}

func (t trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.tell(ctx)
		return next(ctx, cmds)
	}
}

// masters calls a function with every master node.
func (s *Store) masters(ctx context.Context, run func(context.Context, *redis.Client) error) error {
	if s.cluster == nil {
		return run(ctx, s.single)
	}
	return s.cluster.ForEachMaster(ctx, run)
}
