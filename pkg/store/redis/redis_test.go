package redis_test

import (
	"hash/fnv"
	"strconv"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
	"github.com/palimpsest-context/palimpsest/pkg/store/storetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// prefixOf is where a folder of the suite lies.
func prefixOf(folder string) string {
	h := fnv.New64a()
	h.Write([]byte(folder))
	return "t" + strconv.FormatUint(h.Sum64(), 36) + ":"
}

func open(t testing.TB, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore_Contract(t *testing.T) {
	t.Parallel()
	url := "redis://" + dbtest.SharedRedis(t).Address
	storetest.Run(t, func(t testing.TB, folder string) store.Store {
		return open(t, redis.Options{URL: url, Prefix: prefixOf(folder)})
	})
}

func TestStore_Contract_Cluster(t *testing.T) {
	t.Parallel()
	url := "redis://" + dbtest.SharedCluster(t).Addresses[0]
	storetest.Run(t, func(t testing.TB, folder string) store.Store {
		return open(t, redis.Options{URL: url, Prefix: prefixOf(folder)})
	})
}
