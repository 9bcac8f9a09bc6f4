package archtest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

type rule struct {
	name  string
	check func(*tree) []string
	// bad are small repositories in which the rule must find something, by what
	// is wrong with them. Each is one file: its path, then its content.
	bad map[string][2]string
	// good are the nearest things that are allowed.
	good map[string][2]string
}

func imports(paths ...string) string {
	body := "package p\n"
	for _, path := range paths {
		body += "\nimport _ \"" + strings.Replace(path, "./", module, 1) + "\"\n"
	}
	return body
}

var rules = []rule{
	{
		name: "import table", check: checkImportTable,
		bad: map[string][2]string{
			"vocabulary with a dependency":     {"pkg/conversation/a.go", imports("go.uber.org/zap")},
			"vocabulary with a sibling":        {"pkg/conversation/a.go", imports("./pkg/tokens")},
			"policy with a context":            {"pkg/expiry/a.go", imports("context")},
			"policy with files":                {"pkg/prune/a.go", imports("os")},
			"policy with a network":            {"pkg/citations/a.go", imports("net/http")},
			"policy with a store":              {"pkg/retention/a.go", imports("./pkg/store")},
			"content with who reads it":        {"pkg/content/a.go", imports("./pkg/search")},
			"content with files":               {"pkg/content/a.go", imports("os")},
			"search with citations":            {"pkg/search/a.go", imports("./pkg/citations")},
			"citations with facts":             {"pkg/citations/a.go", imports("./pkg/facts")},
			"facts with a content":             {"pkg/facts/a.go", imports("./pkg/content")},
			"repeated lines with a content":    {"pkg/dedup/a.go", imports("./pkg/content")},
			"extracts with a network":          {"pkg/summarize/extractive/span/a.go", imports("net/http")},
			"extracts with a context":          {"pkg/summarize/extractive/a.go", imports("context")},
			"policy with the API":              {"pkg/compaction/a.go", imports("./gen/palimpsest/v1")},
			"format with a logger":             {"pkg/provider/gemini/a.go", imports("go.uber.org/zap")},
			"format with another format":       {"pkg/provider/gemini/a.go", imports("./pkg/provider/anthropic")},
			"summarizer with a store":          {"pkg/summarize/openai/a.go", imports("./pkg/store")},
			"counter with the engine":          {"pkg/tokens/bpe/a.go", imports("./pkg/engine")},
			"store with the engine":            {"pkg/store/a.go", imports("./pkg/engine")},
			"store with gRPC":                  {"pkg/store/a.go", imports("google.golang.org/grpc/codes")},
			"record with the API":              {"pkg/store/record/a.go", imports("./gen/palimpsest/v1")},
			"pages with records":               {"pkg/store/bolt/internal/pages/a.go", imports("./pkg/store/record")},
			"back end with another":            {"pkg/store/bolt/a.go", imports("./pkg/store/memory")},
			"memory with another":              {"pkg/memory/mem0/a.go", imports("./pkg/memory/embedded")},
			"memory with a store":              {"pkg/memory/mem0/a.go", imports("./pkg/store")},
			"memory with the suite, shipped":   {"pkg/memory/mem0/a.go", imports("./pkg/memory/memorytest")},
			"memory with AWS":                  {"pkg/memory/mem0/a.go", imports("github.com/aws/aws-sdk-go-v2/aws")},
			"memory at AWS with the other":     {"pkg/memory/agentcore/a.go", imports("./pkg/memory/mem0")},
			"engine with AWS":                  {"pkg/engine/a.go", imports("github.com/aws/smithy-go")},
			"cache that knows a store":         {"internal/bytecache/a.go", imports("./pkg/store")},
			"HTTP client with a package":       {"internal/endpoint/a.go", imports("go.uber.org/zap")},
			"back end with the suite, shipped": {"pkg/store/bolt/a.go", imports("./pkg/store/storetest")},
			"a plan with a context":            {"pkg/engine/internal/plan/a.go", imports("context")},
			"a plan's room with a context":     {"pkg/engine/internal/plan/copies/a.go", imports("context")},
			"a plan's settings with a store":   {"pkg/engine/internal/plan/settings/a.go", imports("./pkg/store/bolt")},
			"a plan's spans with a memory":     {"pkg/engine/internal/plan/spans/a.go", imports("./pkg/engine/internal/memories")},
			"a plan's room with who runs it":   {"pkg/engine/internal/plan/copies/a.go", imports("./pkg/engine/internal/builds")},
			"a room with the facade":           {"pkg/engine/internal/view/a.go", imports("./pkg/engine")},
			"quotas with a room":               {"pkg/engine/internal/quota/a.go", imports("./pkg/engine/internal/txn")},
			"a room with the plan":             {"pkg/engine/internal/contents/a.go", imports("./pkg/engine/internal/plan")},
			"engine with gRPC":                 {"pkg/engine/a.go", imports("google.golang.org/grpc/status")},
			"engine with a back end":           {"pkg/engine/a.go", imports("./pkg/store/bolt")},
			"engine with a counter":            {"pkg/engine/a.go", imports("./pkg/tokens/bpe")},
			"engine with bbolt":                {"pkg/engine/a.go", imports("go.etcd.io/bbolt")},
			"engine with the API":              {"pkg/engine/a.go", imports("./gen/palimpsest/v1")},
			"edge with a store":                {"internal/grpcserver/a.go", imports("./pkg/store")},
			"edge with bbolt":                  {"internal/grpcserver/a.go", imports("go.etcd.io/bbolt")},
			"edge with the engine":             {"internal/grpcserver/a.go", imports("./pkg/engine")},
			"service with a store":             {"internal/grpcserver/policyservice/a.go", imports("./pkg/store")},
			"service with another":             {"internal/grpcserver/policyservice/a.go", imports("./internal/grpcserver/contextservice")},
			"service with the edge":            {"internal/grpcserver/policyservice/a.go", imports("./internal/grpcserver")},
			"access with gRPC":                 {"internal/access/a.go", imports("google.golang.org/grpc/metadata")},
			"rules with the API":               {"internal/grpcserver/rules/a.go", imports("./gen/palimpsest/v1")},
			"conversion with gRPC":             {"internal/grpcserver/convert/a.go", imports("google.golang.org/grpc/status")},
			"admission with the API":           {"internal/grpcserver/admission/a.go", imports("./gen/palimpsest/v1")},
			"client command with the engine":   {"internal/replay/a.go", imports("./pkg/engine")},
			"client command with a format":     {"internal/replay/a.go", imports("./pkg/provider/gemini")},
			"tools for models with the API":    {"internal/toolset/a.go", imports("./gen/palimpsest/v1")},
			"operations with the engine":       {"internal/ops/a.go", imports("./pkg/engine")},
			"operations with gRPC":             {"internal/ops/a.go", imports("google.golang.org/grpc")},
			"metrics with a store":             {"internal/metrics/a.go", imports("./pkg/store")},
			"metrics with the edge":            {"internal/metrics/a.go", imports("./internal/grpcserver")},
			"traces with the API":              {"internal/tracing/a.go", imports("./gen/palimpsest/v1")},
			"traces with a back end":           {"internal/tracing/a.go", imports("./pkg/store/bolt")},
			"configuration with a back end":    {"cmd/sidecar/internal/config/a.go", imports("./pkg/store/bolt")},
			"configuration with who opens":     {"cmd/sidecar/internal/config/a.go", imports("./cmd/sidecar/internal/stores")},
			"opening stores with the engine":   {"cmd/sidecar/internal/stores/a.go", imports("./pkg/engine")},
			"security with a store":            {"cmd/sidecar/internal/security/a.go", imports("./pkg/store")},
			"observation with a service":       {"cmd/sidecar/internal/observation/a.go", imports("./internal/grpcserver/policyservice")},
			"a shared command with the rest":   {"cmd/sidecar/internal/command/a.go", imports("./cmd/sidecar/internal/config")},
			"example with an inside":           {"examples/loop/a.go", imports("./pkg/conversation")},
			"client with an inside":            {"clients/go/a.go", imports("./pkg/conversation")},
			"client with a library":            {"clients/go/a.go", imports("go.uber.org/zap")},
			"tools' definitions with the API":  {"clients/tools/a.go", imports("./gen/palimpsest/v1")},
		},
		good: map[string][2]string{
			"policy":                {"pkg/expiry/a.go", imports("sort", "net/url", "./pkg/conversation", "./pkg/tokens")},
			"repeated lines":        {"pkg/dedup/a.go", imports("./pkg/conversation", "./pkg/facts")},
			"citations":             {"pkg/citations/a.go", imports("net/url", "./pkg/content")},
			"search":                {"pkg/search/a.go", imports("./pkg/content", "./pkg/conversation", "./pkg/tokens")},
			"extracts":              {"pkg/summarize/extractive/span/a.go", imports("./pkg/content", "./pkg/facts", "./pkg/summarize")},
			"policy's test":         {"pkg/expiry/a_test.go", imports("os", "./pkg/store")},
			"back end":              {"pkg/store/bolt/a.go", imports("go.etcd.io/bbolt", "./pkg/store", "./pkg/store/record/recordpb")},
			"back end's test":       {"pkg/store/bolt/a_test.go", imports("./pkg/store/storetest")},
			"memory":                {"pkg/memory/mem0/a.go", imports("net/http", "./pkg/memory", "./pkg/conversation", "./internal/endpoint")},
			"memory at AWS":         {"pkg/memory/agentcore/a.go", imports("./pkg/memory", "./internal/endpoint", "github.com/aws/smithy-go")},
			"memory's test":         {"pkg/memory/mem0/a_test.go", imports("./pkg/memory/memorytest", "./pkg/memory/mem0/mem0test")},
			"engine":                {"pkg/engine/a.go", imports("./pkg/store", "./pkg/compaction", "./pkg/provider")},
			"edge":                  {"internal/grpcserver/a.go", imports("./internal/grpcserver/policyservice", "./gen/palimpsest/v1", "google.golang.org/grpc")},
			"service":               {"internal/grpcserver/policyservice/a.go", imports("./pkg/engine", "./gen/palimpsest/v1", "google.golang.org/grpc")},
			"opening stores":        {"cmd/sidecar/internal/stores/a.go", imports("./pkg/store/redis", "./cmd/sidecar/internal/config")},
			"wiring":                {"cmd/sidecar/a.go", imports("./pkg/store/bolt", "./pkg/engine")},
			"format, its parent":    {"pkg/provider/gemini/a.go", imports("./pkg/provider")},
			"example":               {"examples/loop/a.go", imports("./gen/palimpsest/v1", "./clients/go", "google.golang.org/grpc")},
			"client":                {"clients/go/a.go", imports("os/exec", "./gen/palimpsest/v1", "./clients/tools", "google.golang.org/grpc/codes")},
			"a longer package name": {"pkg/expiry/a.go", imports("network.example/net", "example.com/context")},
		},
	},
	{
		name: "every package has a layer", check: checkEveryPackageHasALayer,
		bad: map[string][2]string{
			"new package":          {"pkg/memories/a.go", imports()},
			"new internal package": {"internal/helpers/a.go", imports()},
			"new room of main":     {"cmd/sidecar/internal/rest/a.go", imports()},
			"deep back end":        {"pkg/store/bolt/inner/a.go", imports()},
		},
		good: map[string][2]string{
			"back end": {"pkg/store/postgres/a.go", imports()},
			"command":  {"cmd/other/a.go", imports()},
		},
	},
	{
		name: "who imports the API", check: checkAPIGenImporters,
		bad: map[string][2]string{
			"engine's test": {"pkg/engine/a_test.go", imports("./gen/palimpsest/v1")},
			"another tool":  {"tools/x/main.go", imports("./gen/palimpsest/v1")},
		},
		good: map[string][2]string{
			"edge":          {"internal/grpcserver/a.go", imports("./gen/palimpsest/v1")},
			"command":       {"cmd/sidecar/a.go", imports("./gen/palimpsest/v1")},
			"whole process": {"test/e2e/a_test.go", imports("./gen/palimpsest/v1")},
		},
	},
	{
		name: "who measures", check: checkObservers,
		bad: map[string][2]string{
			"a policy":            {"pkg/prune/a.go", imports("github.com/prometheus/client_golang/prometheus")},
			"the engine":          {"pkg/engine/a.go", imports("go.opentelemetry.io/otel/trace")},
			"a store":             {"pkg/store/bolt/a.go", imports("./internal/metrics")},
			"the edge":            {"internal/grpcserver/a.go", imports("github.com/prometheus/client_golang/prometheus/promhttp")},
			"the edge, by traces": {"internal/grpcserver/a.go", imports("./internal/tracing")},
			"metrics with traces": {"internal/metrics/a.go", imports("go.opentelemetry.io/otel")},
		},
		good: map[string][2]string{
			"metrics":      {"internal/metrics/a.go", imports("github.com/prometheus/client_golang/prometheus", "./pkg/engine")},
			"traces":       {"internal/tracing/a.go", imports("go.opentelemetry.io/otel/trace", "./pkg/store")},
			"the program":  {"cmd/sidecar/a.go", imports("./internal/metrics", "./internal/tracing", "./internal/ops")},
			"a test of it": {"test/operations/a_test.go", imports("github.com/prometheus/common/expfmt")},
			"a like name":  {"pkg/engine/a.go", imports("github.com/prometheusx/y")},
		},
	},
	{
		name: "a plan takes no store", check: checkPlanTakesNoStore,
		bad: map[string][2]string{
			"a field":      {"pkg/engine/internal/plan/a.go", storeImport + "\ntype t struct{ s store.Store }\n"},
			"in a room":    {"pkg/engine/internal/plan/copies/a.go", storeImport + "\ntype t struct{ s store.Store }\n"},
			"another name": {"pkg/engine/internal/plan/a.go", strings.Replace(storeImport, "import ", "import s ", 1) + "\nfunc f(s.Store) {}\n"},
		},
		good: map[string][2]string{
			"what it holds": {"pkg/engine/internal/plan/a.go", storeImport + "\ntype t struct{ h store.Head }\n"},
			"a room":        {"pkg/engine/internal/view/a.go", storeImport + "\ntype t struct{ s store.Store }\n"},
		},
	},
	{
		name: "passes apart", check: checkPassesApart,
		bad: map[string][2]string{
			"another pass": {planDir + "/fit/a.go", imports("./" + planDir + "/compact")},
			"the driver":   {planDir + "/fit/a.go", imports("./" + planDir)},
		},
		good: map[string][2]string{
			"a room":     {planDir + "/fit/a.go", imports("./"+planDir+"/claims", "./"+passDir)},
			"the driver": {planDir + "/a.go", imports("./"+planDir+"/compact", "./"+planDir+"/fit")},
		},
	},
	{
		name: "one writer of the draft", check: checkDraftWriter,
		bad: map[string][2]string{
			"a pass":           {planDir + "/fit/a.go", draftImport + "\nfunc f(d pass.Draft, r pass.Result) pass.Draft { return d.With(&r) }\n"},
			"a pointer":        {planDir + "/fit/a.go", draftImport + "\nfunc f(d *pass.Draft) {}\n"},
			"a method":         {passDir + "/a.go", "package pass\n\nfunc (d *Draft) set() {}\n"},
			"a second in plan": {planDir + "/a.go", draftImport + "\nfunc f(d pass.Draft, r pass.Result) { d.With(&r); d.With(&r) }\n"},
		},
		good: map[string][2]string{
			"the driver": {planDir + "/a.go", draftImport + "\nfunc f(d pass.Draft, r pass.Result) { d.With(&r) }\n"},
			"a reader":   {planDir + "/fit/a.go", draftImport + "\nfunc f(d pass.Draft) {}\n"},
		},
	},
	{
		name: "methods of the draft", check: checkDraftMethods,
		bad:  map[string][2]string{"functions": {planDir + "/claims/a.go", draftImport + strings.Repeat("\nfunc f(d pass.Draft) {}\n", maxMethods+1)}},
		good: map[string][2]string{"passes": {planDir + "/fit/a.go", draftImport + strings.Repeat("\nfunc F(d pass.Draft) {}\n", maxMethods+1)}},
	},
	{
		name: "file length in a plan", check: checkPlanFileLength,
		bad:  map[string][2]string{"301 lines": {planDir + "/fit/a.go", "package p\n" + strings.Repeat("//\n", maxPlanLines)}},
		good: map[string][2]string{"elsewhere": {"pkg/engine/internal/view/a.go", "package p\n" + strings.Repeat("//\n", maxPlanLines)}},
	},
	{
		name: "methods", check: checkMethods,
		bad: map[string][2]string{
			"its own":  {"pkg/engine/a.go", "package p\n" + strings.Repeat("\nfunc (t *T) F() {}\n", maxMethods+1)},
			"embedded": {"pkg/engine/a.go", "package p\n\ntype t struct{ *T }\n\nfunc (t) f() {}\n" + strings.Repeat("\nfunc (t *T) F() {}\n", maxMethods)},
		},
		good: map[string][2]string{
			"few":        {"pkg/engine/a.go", "package p\n\ntype t struct{ T *T }\n\nfunc (t) f() {}\n" + strings.Repeat("\nfunc (t *T) F() {}\n", maxMethods)},
			"the facade": {"pkg/engine/a.go", "package p\n" + strings.Repeat("\nfunc (e *Engine) F() {}\n", maxMethods+1)},
		},
	},
	{
		name: "no clock", check: checkNoClock,
		bad: map[string][2]string{
			"now":          {"pkg/expiry/a.go", "package p\n\nimport \"time\"\n\nvar x = time.Now()\n"},
			"another name": {"pkg/provider/openai/a.go", "package p\n\nimport clock \"time\"\n\nvar x = clock.Since\n"},
		},
		good: map[string][2]string{
			"a duration": {"pkg/expiry/a.go", "package p\n\nimport \"time\"\n\nvar x = time.Second\n"},
			"in a store": {"pkg/store/bolt/a.go", "package p\n\nimport \"time\"\n\nvar x = time.Now()\n"},
		},
	},
	{
		name: "file length", check: checkFileLength,
		bad: map[string][2]string{"501 lines": {"pkg/engine/a.go", "package p\n" + strings.Repeat("//\n", 500)}},
		good: map[string][2]string{
			"500 lines": {"pkg/engine/a.go", "package p\n" + strings.Repeat("//\n", 499)},
			"a test":    {"pkg/engine/a_test.go", "package p\n" + strings.Repeat("//\n", 600)},
			"generated": {"gen/a.pb.go", "// Code generated by x. DO NOT EDIT.\n\npackage p\n" + strings.Repeat("//\n", 600)},
		},
	},
	{
		name: "function length", check: checkFunctionLength,
		bad:  map[string][2]string{"81 lines": {"cmd/sidecar/a.go", "package p\n\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", 79) + "}\n"}},
		good: map[string][2]string{"80 lines": {"cmd/sidecar/a.go", "package p\n\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", 78) + "}\n"}},
	},
	{
		name: "formatted", check: checkFormatted,
		bad:  map[string][2]string{"spaces": {"cmd/sidecar/a.go", "package p\n\nfunc f() {\n  _ = 0\n}\n"}},
		good: map[string][2]string{"tabs": {"cmd/sidecar/a.go", "package p\n\nfunc f() {\n\t_ = 0\n}\n"}},
	},
	{
		name: "no init", check: checkNoInit,
		bad:  map[string][2]string{"init": {"cmd/sidecar/a.go", "package p\n\nfunc init() {}\n"}},
		good: map[string][2]string{"a method of that name": {"cmd/sidecar/a.go", "package p\n\nfunc (t T) init() {}\n"}},
	},
	{
		name: "skips say why", check: checkSkipReasons,
		bad: map[string][2]string{
			"nothing": {"pkg/engine/a_test.go", "package p\n\nfunc TestA(t *testing.T) { t.Skip() }\n"},
			"empty":   {"pkg/engine/a_test.go", "package p\n\nfunc TestA(t *testing.T) { t.Skip(\"\") }\n"},
			"now":     {"pkg/engine/a_test.go", "package p\n\nfunc TestA(t *testing.T) { t.SkipNow() }\n"},
		},
		good: map[string][2]string{"a reason": {"pkg/engine/a_test.go", "package p\n\nfunc TestA(t *testing.T) { t.Skip(\"no data\") }\n"}},
	},
	{
		name: "no machine paths", check: checkMachinePaths,
		bad: map[string][2]string{
			"in code":   {"cmd/sidecar/a.go", "package p\n\nvar x = \"/" + "work/x\"\n"},
			"in a text": {"README.md", "run /" + "root/x"},
		},
		good: map[string][2]string{"a part of a path": {"README.md", "see test/work/x and https://example.com/root/x"}},
	},
	{
		name: "documented", check: checkDocs,
		bad: map[string][2]string{
			"package":         {"pkg/engine/a.go", "package p\n"},
			"function":        {"pkg/engine/a.go", "// Package p is.\npackage p\n\nfunc F() {}\n"},
			"method":          {"pkg/engine/a.go", "// Package p is.\npackage p\n\nfunc (t *T[K]) F() {}\n"},
			"type":            {"pkg/engine/a.go", "// Package p is.\npackage p\n\ntype T int\n"},
			"type in a group": {"pkg/engine/a.go", "// Package p is.\npackage p\n\n// Types.\ntype (\n\tT int\n\tU int\n)\n"},
			"constant":        {"pkg/engine/a.go", "// Package p is.\npackage p\n\nconst C = 1\n"},
		},
		good: map[string][2]string{
			"all of it":          {"pkg/engine/a.go", "// Package p is.\npackage p\n\n// F is.\nfunc F() {}\n"},
			"a group's comment":  {"pkg/engine/a.go", "// Package p is.\npackage p\n\n// All.\nconst (\n\tC = 1\n\tD = 2\n)\n"},
			"a private receiver": {"pkg/engine/a.go", "// Package p is.\npackage p\n\nfunc (t *t) F() {}\n"},
			"not public":         {"internal/grpcserver/a.go", "package p\n\nfunc F() {}\n"},
		},
	},
	{
		name: "tests are seeded", check: checkTestsAreSeeded,
		bad: map[string][2]string{
			"a property":          {"pkg/engine/a_test.go", "package p\n\nimport \"pgregory.net/rapid\"\n\nvar x = rapid.Check\n"},
			"a property, shipped": {"pkg/store/storetest/a.go", "package p\n\nimport \"pgregory.net/rapid\"\n\nvar x = rapid.MakeCheck\n"},
			"no seed":             {"test/faults/a_test.go", "package p\n\nimport \"math/rand/v2\"\n\nvar x = rand.Uint64()\n"},
			"the old package":     {"test/faults/a_test.go", imports("math/rand")},
		},
		good: map[string][2]string{
			"a seed":          {"test/faults/a_test.go", "package p\n\nimport \"math/rand/v2\"\n\nvar x = rand.New(rand.NewPCG(1, 2)).Uint64()\n"},
			"a generator":     {"pkg/engine/a_test.go", "package p\n\nimport \"pgregory.net/rapid\"\n\nvar x = rapid.Int()\n"},
			"what runs them":  {"internal/proptest/a.go", "package p\n\nimport \"pgregory.net/rapid\"\n\nvar x = rapid.Check\n"},
			"not in a test":   {"cmd/sidecar/a.go", "package p\n\nimport \"math/rand/v2\"\n\nvar x = rand.Uint64()\n"},
			"another's Check": {"pkg/engine/a_test.go", "package p\n\nvar x = proptest.Check\n"},
		},
	},
	{
		name: "back ends conform", check: checkBackEndsConform,
		bad: map[string][2]string{
			"no test":        {"pkg/store/redis/a.go", imports()},
			"only a mention": {"pkg/store/redis/a_test.go", "package p\n\n// storetest.Run(t)\n"},
			"not in a test":  {"pkg/store/redis/a.go", "package p\n\nfunc f() { storetest.Run() }\n"},
			"another suite":  {"pkg/memory/mem0/a_test.go", "package p\n\nfunc TestTarget(t *testing.T) { storetest.Run(t, open) }\n"},
			"a memory":       {"pkg/memory/mem0/a.go", imports()},
		},
		good: map[string][2]string{
			"a call":       {"pkg/store/redis/a_test.go", "package p\n\nfunc TestStore(t *testing.T) { storetest.Run(t, open) }\n"},
			"fewer draws":  {"pkg/store/redis/a_test.go", "package p\n\nfunc TestStore(t *testing.T) { storetest.RunCases(t, open, 9) }\n"},
			"a memory":     {"pkg/memory/mem0/a_test.go", "package p\n\nfunc TestTarget(t *testing.T) { memorytest.Run(t, open, o) }\n"},
			"a server":     {"pkg/memory/mem0/mem0test/a.go", imports()},
			"the codec":    {"pkg/store/record/a.go", imports()},
			"generated":    {"pkg/store/record/recordpb/a.go", imports()},
			"the suite":    {"pkg/store/storetest/a.go", imports()},
			"the contract": {"pkg/store/a.go", imports()},
		},
	},
	{
		name: "behavior", check: checkBehavior,
		bad: map[string][2]string{
			"a section without a test": {behaviorPage, "# B\n\n## 1. Words\n\n- **1.1** A rule.\n"},
			"a test that is not there": {behaviorPage, "# B\n\n## 1. Words\n\nHeld by: `TestGone_Test`\n"},
			"a citation of no page":    {"pkg/engine/a.go", "package p\n\n// " + "behaviour " + "§1\n"},
		},
		good: map[string][2]string{"a word": {"pkg/engine/a.go", "package p\n\n// The behavior of §1 of an RFC.\n"}},
	},
	{
		name: "named files", check: checkNamedFiles,
		bad: map[string][2]string{
			"a folder": {"CONTRIBUTING.md", "see `pkg/gone`"},
			"a file":   {"docs/architecture.md", "see `gone.go`"},
			"a path":   {"docs/architecture.md", "see `pkg/engine/gone.go`"},
		},
		good: map[string][2]string{
			"another page": {"docs/window.md", "see `pkg/gone`"},
			"a command":    {"CONTRIBUTING.md", "run `go test ./pkg/gone`"},
		},
	},
	{
		name: "nothing left open", check: checkNothingLeftOpen,
		bad:  map[string][2]string{"a note": {"cmd/sidecar/a.go", "package p\n\n// TO" + "DO: later\n"}},
		good: map[string][2]string{"a word": {"cmd/sidecar/a.go", "package p\n\n// A todo list.\n"}},
	},
}

// storeImport is a file that imports the store contract.
const storeImport = "package p\n\nimport \"" + module + "pkg/store\"\n"

// draftImport is a file that imports what passes share.
const draftImport = "package p\n\nimport \"" + module + passDir + "\"\n"

// TestRepository_AllRules_Hold checks this repository.
func TestRepository_AllRules_Hold(t *testing.T) {
	repository, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(repository.files) == 0 {
		t.Fatal("no Go file found: the rules would hold of nothing")
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, fault := range rule.check(repository) {
				t.Error(fault)
			}
		})
	}
}

// TestRule_Counterexample_GoesRed proves of each rule that it can fail.
func TestRule_Counterexample_GoesRed(t *testing.T) {
	for _, rule := range rules {
		if len(rule.bad) == 0 || len(rule.good) == 0 {
			t.Errorf("%s: no counterexample, or no example", rule.name)
		}
		for name, example := range rule.bad {
			t.Run(rule.name+"/bad/"+name, func(t *testing.T) {
				if found := rule.check(treeOf(t, example)); len(found) == 0 {
					t.Errorf("nothing found in %s:\n%s", example[0], example[1])
				}
			})
		}
		for name, example := range rule.good {
			t.Run(rule.name+"/good/"+name, func(t *testing.T) {
				if found := rule.check(treeOf(t, example)); len(found) != 0 {
					t.Errorf("found %q in %s:\n%s", found, example[0], example[1])
				}
			})
		}
	}
}

func treeOf(t *testing.T, example [2]string) *tree {
	t.Helper()
	parsed, err := load(fstest.MapFS{example[0]: {Data: []byte(example[1])}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
