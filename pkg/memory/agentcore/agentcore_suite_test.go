package agentcore_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore/agentcoretest"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a target on a server.
func open(t testing.TB, s *agentcoretest.Server, change ...func(*agentcore.Options)) *agentcore.Target {
	t.Helper()
	o := agentcore.Options{
		MemoryID: agentcoretest.MemoryID, Region: agentcoretest.Region, BaseEndpoint: s.URL, Credentials: agentcoretest.Credentials(),
		Interval: time.Nanosecond,
	}
	for _, c := range change {
		c(&o)
	}
	target, err := agentcore.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

const withSessions = "/actors/{actorId}/sessions/{sessionId}/"

// suite holds the target to the contract, on both kinds of namespaces.
func suite(t *testing.T, model *agentcoretest.Model) {
	t.Helper()
	for name, namespace := range map[string]string{"actors": agentcore.DefaultNamespace, "sessions": withSessions} {
		t.Run(name, func(t *testing.T) {
			server := agentcoretest.Start(t, agentcoretest.Options{Namespace: namespace, Extraction: 20 * time.Millisecond, Model: model})
			target := open(t, server, func(o *agentcore.Options) { o.Namespace = namespace })
			memorytest.Run(t, func(testing.TB) memory.Target { return target }, memorytest.Options{
				Patience: 5 * time.Second,
				Lose:     func(testing.TB, memory.Target) { server.Next(agentcoretest.Fault{Lose: true}) },
			})
		})
	}
}

func TestTarget_Contract(t *testing.T) {
	t.Parallel()
	suite(t, nil)
}

func TestTarget_Contract_HeldToTheModelOfAWS(t *testing.T) {
	t.Parallel()
	suite(t, agentcoretest.StartModel(t))
}
