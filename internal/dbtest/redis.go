package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisVariable names a server (host:port) that tests use instead of one that they start.
const RedisVariable = "PALIMPSEST_TEST_REDIS"

const redisServer = "the Redis server (Debian's redis-server)"

// Redis is a server of Redis or Valkey.
type Redis struct {
	*server
	// Address is host:port.
	Address string
}

var sharedRedis = shared(func() (*Redis, error) { //nolint:gochecknoglobals // a process has one
	if address := os.Getenv(RedisVariable); address != "" {
		return &Redis{Address: address}, nil
	}
	return newRedis("redis-server", "--appendfsync", "everysec")
})

// SharedRedis is the server that all tests of a package share: with an append-only file, and without eviction.
func SharedRedis(t testing.TB) *Redis {
	t.Helper()
	r, err := sharedRedis()
	return required(t, r, err, redisServer)
}

// StartRedis starts a server for one test, which may stop and kill it. Settings are such as "--appendfsync", "always".
func StartRedis(t testing.TB, settings ...string) *Redis {
	t.Helper()
	r, err := newRedis("redis-server", settings...)
	return forTest(t, r, err, redisServer)
}

// StartValkey starts a server of Valkey for one test.
func StartValkey(t testing.TB, settings ...string) *Redis {
	t.Helper()
	r, err := newRedis("valkey-server", settings...)
	if r == nil && err == nil {
		t.Skip("there is no valkey-server on this machine")
	}
	return forTest(t, r, err, redisServer)
}

// newRedis starts a server; it is nil without the program.
func newRedis(name string, settings ...string) (*Redis, error) {
	path := program(name)
	if path == "" {
		return nil, nil
	}
	s, err := newServer(name, path)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	r := &Redis{server: s, Address: fmt.Sprintf("127.0.0.1:%d", port)}
	s.args = append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--unixsocket", filepath.Join(s.folder, "s"), "--dir", s.folder,
		"--daemonize", "no", "--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction",
	}, settings...)
	return r, r.Start()
}

// Start starts the server again after Stop or Kill.
func (r *Redis) Start() error {
	return r.start(func(ctx context.Context) error {
		client := redis.NewClient(&redis.Options{Addr: r.Address, MaxRetries: -1})
		defer client.Close()
		return client.Ping(ctx).Err() // until the file is loaded it says LOADING
	})
}

// Stop ends the server for good.
func (r *Redis) Stop() {
	if r.server == nil {
		return
	}
	r.end(syscall.SIGKILL)
	r.remove()
}

// Terminate ends the server in order: what it has is on disk.
func (r *Redis) Terminate() { r.end(syscall.SIGTERM) }

const clusterMasters = 3

// Cluster is a Redis Cluster of three masters.
type Cluster struct {
	Nodes []*Redis
	// Addresses are those of all masters.
	Addresses []string
}

var sharedCluster = shared(newCluster) //nolint:gochecknoglobals // a process has one

// SharedCluster is a Redis Cluster that all tests of a package share.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := sharedCluster()
	return required(t, c, err, redisServer)
}

// StartCluster starts a cluster for one test, which may move its slots.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := newCluster()
	return forTest(t, c, err, redisServer)
}

func newCluster() (*Cluster, error) {
	c := &Cluster{}
	for range clusterMasters {
		bus, err := freePort()
		if err != nil {
			return c, err
		}
		r, err := newRedis("redis-server", "--appendfsync", "everysec", "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus),
			"--cluster-node-timeout", "2000", "--cluster-config-file", "nodes.conf")
		if r == nil || err != nil {
			return nil, err
		}
		c.Nodes, c.Addresses = append(c.Nodes, r), append(c.Addresses, r.Address)
		if err := c.assign(len(c.Nodes)-1, bus); err != nil {
			return c, err
		}
	}
	return c, c.awaitOK()
}

// assign gives a new node its share of the slots, and makes it known to the first.
func (c *Cluster) assign(i, bus int) error {
	const slots = 16384
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: c.Addresses[i]})
	defer client.Close()
	first, last := i*slots/clusterMasters, (i+1)*slots/clusterMasters-1
	if err := client.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
		return err
	}
	if err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil || i == 0 {
		return err
	}
	meeting := redis.NewClient(&redis.Options{Addr: c.Addresses[0]})
	defer meeting.Close()
	host, port, _ := strings.Cut(c.Addresses[i], ":")
	return meeting.Do(ctx, "cluster", "meet", host, port, bus).Err()
}

func (c *Cluster) awaitOK() error {
	deadline := time.Now().Add(startWithin)
	for _, address := range c.Addresses {
		client := redis.NewClient(&redis.Options{Addr: address})
		for {
			info, err := client.ClusterInfo(context.Background()).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(clusterMasters)) {
				break
			}
			if time.Now().After(deadline) {
				return errors.Join(errors.New("the cluster does not come up"), err, client.Close())
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := client.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the cluster for good.
func (c *Cluster) Stop() {
	for _, r := range c.Nodes {
		r.Stop()
	}
}
