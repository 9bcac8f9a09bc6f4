package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// address is where the servers are.
type address struct {
	options *redis.Options
	nodes   []string
}

// parse reads a URL. Its errors do not quote it: it may hold a password.
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
		if err := trust(ro.TLSConfig, authorities); err != nil {
			return nil, err
		}
	}
	if strings.ContainsAny(o.Prefix, "{}") {
		return nil, errors.New("the prefix of keys must not hold braces")
	}
	return a, a.secure(o)
}

// trust has a server's certificate be of the authorities in a file, instead of those that the system knows.
func trust(c *tls.Config, path string) error {
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

// secure refuses to send conversations in the clear over a network.
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

// quiet keeps the driver from writing lines of its own, with addresses, to standard error: calls and OnState tell what is wrong.
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

// first is a client of the first node that answers, and says whether it is of a cluster.
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

// tune sets what a client must not do by itself: above all, send a command twice. What it sent may have been carried out.
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

// trips tells of round trips.
type trips struct{ told func() }

func (t trips) tell(ctx context.Context) {
	if ctx.Value(greeting{}) == nil {
		t.told()
	}
}

// greeting marks what a new connection begins with: it is no part of a call.
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

// masters calls a function with every node that writes.
func (s *Store) masters(ctx context.Context, run func(context.Context, *redis.Client) error) error {
	if s.cluster == nil {
		return run(ctx, s.single)
	}
	return s.cluster.ForEachMaster(ctx, run)
}

// admit checks the servers' settings and the layout of what they hold.
func (s *Store) admit(ctx context.Context) error {
	var found server
	err := s.masters(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx).Result()
		if err != nil {
			return failure(ctx, err, false)
		}
		// Without CONFIG, which hosts often forbid, nothing says how often the file is synced.
		fsync, err := c.ConfigGet(ctx, "appendfsync").Result()
		if err != nil {
			fsync = nil
		}
		return found.add(infoOf(info), fsync["appendfsync"], s.options.AcceptVolatile)
	})
	if err != nil {
		return err
	}
	s.volatile, s.warnings = found.volatile, found.warnings()
	if err := s.admitLayout(ctx); err != nil {
		return err
	}
	s.admitted.Store(true)
	return s.masters(ctx, func(ctx context.Context, c *redis.Client) error {
		if err := s.greet(ctx, c.Options().Addr, c); err != nil {
			return failure(ctx, err, false)
		}
		return nil
	})
}

// server is what the masters say of themselves, all together.
type server struct {
	mu       sync.Mutex
	volatile bool
	fsync    map[string]bool
}

const leastMajor = 7

// add refuses a server that may forget what it acknowledged.
func (f *server) add(info map[string]string, fsync string, acceptVolatile bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	major, _, _ := strings.Cut(info["redis_version"], ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastMajor {
		return fmt.Errorf("the server is older than Redis %d", leastMajor)
	}
	if policy := info["maxmemory_policy"]; policy != "noeviction" {
		return fmt.Errorf("the server's maxmemory-policy is %s, and must be noeviction: it would delete conversations when memory is short", policy)
	}
	if info["aof_enabled"] != "1" {
		if !acceptVolatile {
			return errors.New("the server has no append-only file (appendonly no): a restart would lose conversations")
		}
		f.volatile = true
		return nil
	}
	if f.fsync == nil {
		f.fsync = make(map[string]bool)
	}
	f.fsync[fsync] = true
	return nil
}

func (f *server) warnings() (out []string) {
	if f.volatile {
		out = append(out, "the server has no append-only file: a restart loses conversations")
	}
	if f.fsync[""] {
		out = append(out, "the server does not say how often its append-only file is synced: unless it is always, a crash of its machine may lose "+
			"the last second")
	}
	if f.fsync["everysec"] {
		out = append(out, "appendfsync is everysec: a crash of the server's machine may lose the last second")
	}
	if f.fsync["no"] {
		out = append(out, "appendfsync is no: a crash of the server's machine may lose the last half minute")
	}
	return out
}

// ErrNoStore is what Open ends with where a store must exist, and none does.
var ErrNoStore = errors.New("there is no store under the prefix of keys")

// admitLayout writes the layout into an empty database, and refuses another.
func (s *Store) admitLayout(ctx context.Context) error {
	var client redis.UniversalClient = s.single
	if s.cluster != nil {
		c, err := s.cluster.MasterForKey(ctx, s.space.metaKey())
		if err != nil {
			return failure(ctx, err, false)
		}
		client = c
	}
	have, err := client.HGetAll(ctx, s.space.metaKey()).Result()
	if err != nil {
		return failure(ctx, err, false)
	}
	if len(have) == 0 && s.options.MustExist {
		return ErrNoStore
	}
	for _, want := range []struct{ field, value string }{
		{"layout", strconv.Itoa(layout)}, {"partitions", strconv.Itoa(partitions)},
	} {
		value := have[want.field]
		if value == "" {
			if value, err = s.layOut(ctx, client, want.field, want.value); err != nil {
				return failure(ctx, err, false)
			}
		}
		if value != want.value {
			return fmt.Errorf("the database is laid out for another version (%s %q): %w", want.field, value, store.ErrInvalid)
		}
	}
	return nil
}

// layOut writes a field of the layout, unless another has. It returns what is there then.
func (s *Store) layOut(ctx context.Context, client redis.UniversalClient, field, value string) (string, error) {
	key := s.space.metaKey()
	if err := s.mark(ctx, client, key, "HSETNX", field, value).Err(); err != nil {
		return "", err
	}
	return client.HGet(ctx, key, field).Result()
}

// infoOf reads an answer to INFO.
func infoOf(text string) map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[field] = value
		}
	}
	return out
}
