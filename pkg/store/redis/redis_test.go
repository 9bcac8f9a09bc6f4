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

// some is how many sequences of the model run on servers beside the first: it is the same store.
const some = 25

func factory(url string) storetest.Factory {
	return func(t testing.TB, folder string) store.Store {
		return open(t, redis.Options{URL: url, Prefix: prefixOf(folder)})
	}
}

func TestStore_Contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, factory("redis://"+dbtest.SharedRedis(t).Address))
}

func TestStore_Contract_Cluster(t *testing.T) {
	t.Parallel()
	storetest.RunCases(t, factory("redis://"+dbtest.SharedCluster(t).Addresses[0]), some)
}

func TestStore_Contract_Valkey(t *testing.T) {
	t.Parallel()
	storetest.RunCases(t, factory("redis://"+dbtest.StartValkey(t).Address), some)
}

func BenchmarkRedis(b *testing.B) {
	storetest.Bench(b, factory("redis://"+dbtest.SharedRedis(b).Address))
}
