package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// layer is one row of the import table: what packages of this module its files
// may import, and what from outside they must not. Tests are free: they wire
// what they test.
type layer struct {
	name string
	why  string
	// dirs are patterns of path.Match, checked in the order of the table.
	dirs []string
	// allow are folders of this module ("./pkg/x" allows what lies under it
	// only if it ends in "/..."). A package's own subfolders are not implied.
	allow []string
	// deny are import paths; each covers what lies under it.
	deny []string
	// stdlibOnly forbids everything from outside the module but the standard
	// library.
	stdlibOnly bool
	// only are the import paths from outside the module and the standard library that alone are allowed, if it is set; each covers what
	// lies under it.
	only []string
	// noClock forbids reading the time.
	noClock bool
}

const (
	vocabulary = "./pkg/conversation"
	apiGen     = "./gen/..."
	planDir    = "pkg/engine/internal/plan"
)

var (
	transport = []string{"google.golang.org/grpc", "github.com/grpc-ecosystem"}
	databases = []string{"go.etcd.io/bbolt", "github.com/jackc", "github.com/redis"}
	drivers   = append([]string{"github.com/aws"}, databases...)
	outside   = slices.Concat([]string{"context", "os", "net", "go.uber.org/zap"}, drivers, transport)
)

// layers covers every package under pkg/, internal/ and cmd/sidecar/internal/: a new one must be
// placed here, which is a decision.
var layers = []layer{
	{
		name: "vocabulary", why: "everybody imports it, so it imports nobody",
		dirs: []string{"pkg/conversation"}, stdlibOnly: true,
	},
	{
		name: "policies", why: "pure functions from values to decisions: what they decide can be tested and replayed",
		dirs:  []string{"pkg/expiry", "pkg/retention", "pkg/prune"},
		allow: []string{vocabulary, "./pkg/tokens"}, deny: outside, noClock: true,
	},
	{
		name: "contents", why: "one reader of each kind of text for whoever reads it, so it knows none of them",
		dirs: []string{"pkg/content"}, allow: []string{vocabulary, "./pkg/tokens"}, deny: outside, noClock: true,
	},
	{
		name: "readers of contents", why: "pure functions of what they are given: the same content is cited and found alike for ever",
		dirs:  []string{"pkg/citations", "pkg/search"},
		allow: []string{vocabulary, "./pkg/tokens", "./pkg/content"}, deny: outside, noClock: true,
	},
	{
		name: "repeated lines", why: "the same lines are found alike for ever: frozen edits name them",
		dirs: []string{"pkg/dedup"}, allow: []string{vocabulary, "./pkg/facts"}, deny: outside, noClock: true,
	},
	{
		name: "compaction", why: "a policy as the others, which asks what must not be lost, and what of a text is bytes",
		dirs:  []string{"pkg/compaction"},
		allow: []string{vocabulary, "./pkg/tokens", "./pkg/facts", "./pkg/content"}, deny: outside, noClock: true,
	},
	{
		name: "facts", why: "one recognizer each for whoever must not lose them, so it knows none of who asks",
		dirs: []string{"pkg/facts"}, allow: []string{vocabulary, "./pkg/tokens"}, deny: outside, noClock: true,
	},
	{
		name: "provider formats", why: "rendering is pure: the same view gives the same bytes for ever",
		dirs:  []string{"pkg/provider", "pkg/provider/*"},
		allow: []string{vocabulary, "./pkg/tokens", "./pkg/content", "./pkg/provider"}, deny: outside, noClock: true,
	},
	{
		name: "whole lists", why: "a list and a record give the same answer for ever, whoever asks",
		dirs: []string{"pkg/history"}, allow: []string{vocabulary, "./pkg/provider"}, deny: outside, noClock: true,
	},
	{
		name: "extracts", why: "they are chosen by the same rules from one result and from a conversation, without a model, a clock or I/O",
		dirs: []string{"pkg/summarize/extractive", "pkg/summarize/extractive/*"},
		allow: []string{
			vocabulary, "./pkg/tokens", "./pkg/content", "./pkg/facts", "./pkg/summarize", "./pkg/summarize/extractive/choice",
		}, deny: outside, noClock: true,
	},
	{
		name: "summarizers", why: "a port to a model knows nothing of storage, engine or API",
		dirs:  []string{"pkg/summarize", "pkg/summarize/*"},
		allow: []string{vocabulary, "./pkg/summarize", "./pkg/facts", "./internal/endpoint", "./internal/bytecache", "./pkg/content"}, deny: transport,
	},
	{
		name: "token counters", why: "counting is independent of everything that counts",
		dirs:  []string{"pkg/tokens", "pkg/tokens/*"},
		allow: []string{vocabulary, "./pkg/tokens"}, deny: transport,
	},
	{
		name: "store contract", why: "a back end is replaced without a product rule noticing",
		dirs:  []string{"pkg/store"},
		allow: []string{vocabulary}, deny: transport,
	},
	{
		name: "disk format", why: "one codec above all back ends",
		dirs:  []string{"pkg/store/record", "pkg/store/record/*"},
		allow: []string{vocabulary, "./pkg/store", "./pkg/store/record/..."}, deny: transport,
	},
	{
		name: "conformance suite", why: "what it demands it demands of every back end alike",
		dirs: []string{"pkg/store/storetest"},
		// The memory store is the reference model that the others are compared with.
		allow: []string{vocabulary, "./pkg/store", "./pkg/store/record/...", "./pkg/store/memory", "./internal/proptest"}, deny: transport,
	},
	{
		name: "moving", why: "it copies between stores of any kind, so it knows none",
		dirs:  []string{"pkg/store/move"},
		allow: []string{vocabulary, "./pkg/store", "./pkg/store/record"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "store back ends", why: "they do not know each other, nor who calls them",
		dirs:  []string{"pkg/store/*"},
		allow: []string{vocabulary, "./pkg/store", "./pkg/store/record/...", "./pkg/store/bolt/internal/..."}, deny: transport,
	},
	{
		name: "a file's pages", why: "what looks over bbolt's shoulder knows neither records nor the store",
		dirs:  []string{"pkg/store/bolt/internal/*"},
		allow: []string{"./pkg/store", "./pkg/store/bolt/internal/pages"}, deny: append([]string{"context"}, transport...),
	},
	{
		name: "memory contract", why: "a memory is replaced without a product rule noticing",
		dirs: []string{"pkg/memory"}, allow: []string{vocabulary}, deny: slices.Concat([]string{"os", "net", "go.uber.org/zap"}, drivers, transport),
	},
	{
		name: "memory suite", why: "what it demands it demands of every memory alike",
		dirs: []string{"pkg/memory/memorytest"}, allow: []string{vocabulary, "./pkg/memory"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "embedded memory", why: "an index over what is said, in any store",
		dirs: []string{"pkg/memory/embedded"},
		allow: []string{
			vocabulary, "./pkg/memory", "./pkg/store", "./pkg/store/record", "./pkg/search", "./pkg/facts", "./pkg/content", "./pkg/tokens", "./pkg/summarize",
		}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "memory at AWS", why: "it alone knows AWS's library, whose errors tell what was asked",
		dirs:  []string{"pkg/memory/agentcore"},
		allow: []string{vocabulary, "./pkg/memory", "./internal/endpoint"}, deny: slices.Concat(databases, transport),
	},
	{
		name: "memories", why: "they do not know each other, nor who calls them",
		dirs:  []string{"pkg/memory/*"},
		allow: []string{vocabulary, "./pkg/memory", "./internal/endpoint"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "a memory's servers", why: "tests of any package start them, so they know none",
		dirs: []string{"pkg/memory/mem0/mem0test", "pkg/memory/agentcore/agentcoretest"}, deny: slices.Concat(databases, transport),
	},
	{
		name: "plan", why: "what a build does is decided from values: without a context nothing can be read, and nothing can wait",
		dirs: []string{planDir, planDir + "/*"},
		allow: []string{
			vocabulary, "./pkg/expiry", "./pkg/retention", "./pkg/prune", "./pkg/compaction", "./pkg/summarize", "./pkg/tokens", "./pkg/provider",
			"./pkg/store", "./pkg/store/record", "./pkg/engine/internal/txn", "./pkg/engine/internal/view", "./pkg/engine/internal/catalogue",
			"./pkg/engine/internal/contents", "./pkg/memory", "./pkg/dedup", "./pkg/engine/internal/plan/...",
		},
		deny: outside, noClock: true,
	},
	{
		name: "services of the engine", why: "each does a kind of call over what the lower rooms keep; the facade alone knows them all",
		dirs: []string{
			"pkg/engine/internal/builds", "pkg/engine/internal/messages", "pkg/engine/internal/transfer", "pkg/engine/internal/appends",
			"pkg/engine/internal/conversations", "pkg/engine/internal/toolcalls", "pkg/engine/internal/memories",
		},
		allow: []string{
			vocabulary, "./pkg/expiry", "./pkg/retention", "./pkg/compaction", "./pkg/content", "./pkg/citations", "./pkg/search", "./pkg/provider",
			"./pkg/summarize",
			"./pkg/tokens", "./pkg/store", "./pkg/store/record", "./pkg/memory", "./pkg/engine/internal/...",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "whole lists in the record", why: "it reads what lists are compared with, and decides nothing of what is appended",
		dirs: []string{"pkg/engine/internal/histories"},
		allow: []string{
			vocabulary, "./pkg/history", "./pkg/provider", "./pkg/store", "./pkg/store/record", "./pkg/engine/internal/txn", "./pkg/engine/internal/view",
		}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "quotas", why: "they count heads and calls, and know nothing of what is in conversations",
		dirs: []string{"pkg/engine/internal/quota"}, allow: []string{vocabulary, "./pkg/store"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "rooms of the engine", why: "they do not know the facade, nor what a build decides",
		dirs: []string{"pkg/engine/internal/*"},
		allow: []string{
			vocabulary, "./pkg/expiry", "./pkg/compaction", "./pkg/citations", "./pkg/content", "./pkg/search", "./pkg/summarize", "./pkg/tokens",
			"./pkg/provider", "./pkg/store", "./pkg/store/record", "./pkg/engine/internal/txn", "./pkg/engine/internal/view",
			"./pkg/engine/internal/actors", "./pkg/engine/internal/quota", "./pkg/dedup", "./internal/bytecache",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "engine", why: "it is given its implementations; only cmd/sidecar names them",
		dirs: []string{"pkg/engine"},
		allow: []string{
			vocabulary, "./pkg/expiry", "./pkg/retention", "./pkg/prune", "./pkg/compaction", "./pkg/citations", "./pkg/content", "./pkg/search",
			"./pkg/summarize", "./pkg/tokens", "./pkg/provider", "./pkg/store", "./pkg/store/record/...", "./pkg/memory", "./pkg/engine/...", "./internal/bytecache",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "rules of requests", why: "they are a language of their own, which knows no message of the API",
		dirs: []string{"internal/grpcserver/rules", "internal/grpcserver/alias"}, allow: []string{vocabulary, "./internal/grpcserver/alias"}, deny: transport,
	},
	{
		name: "rules and conversion of the API's messages", why: "services share them, so they know no service and no call",
		dirs: []string{"internal/grpcserver/schema", "internal/grpcserver/convert", "internal/grpcserver/paging", "internal/grpcserver/exportformat"},
		allow: []string{
			vocabulary, "./pkg/engine", apiGen, "./internal/access", "./internal/grpcserver/alias", "./internal/grpcserver/rules",
			"./internal/grpcserver/convert",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "admission", why: "it weighs bytes, and knows neither the API nor who answers",
		dirs:  []string{"internal/grpcserver/admission"},
		allow: []string{vocabulary, "./internal/grpcserver/rules", "./internal/grpcserver/paging", "./internal/grpcserver/exportformat"}, deny: drivers,
	},
	{
		name: "services", why: "each answers its own calls and asks the engine; none knows another, nor the server around it",
		dirs: []string{"internal/grpcserver/*service"},
		allow: []string{
			vocabulary, "./pkg/engine", apiGen, "./internal/grpcserver/rules", "./internal/grpcserver/schema", "./internal/grpcserver/convert",
			"./internal/grpcserver/paging", "./internal/grpcserver/admission", "./internal/grpcserver/exportformat",
		},
		deny: drivers,
	},
	{
		name: "gRPC edge", why: "it admits, validates and maps errors; storage is the engine's, and what is answered the services'",
		dirs:  []string{"internal/grpcserver"},
		allow: []string{vocabulary, apiGen, "./internal/access", "./internal/grpcserver/..."},
		deny:  []string{"go.etcd.io/bbolt"},
	},
	{
		name: "operations listener", why: "it tells of a process and knows no part of it: what it cannot read it cannot tell",
		dirs: []string{"internal/ops"}, allow: []string{"./internal/listen"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "metrics", why: "they count what they are told, and read nothing by themselves",
		dirs:  []string{"internal/metrics"},
		allow: []string{vocabulary, "./pkg/engine", "./pkg/summarize"}, deny: drivers,
	},
	{
		name: "traces", why: "they stand around ports, and see of a call how it ended",
		dirs:  []string{"internal/tracing"},
		allow: []string{"./pkg/engine", "./pkg/summarize", "./pkg/store"}, deny: drivers,
	},
	{
		name: "configuration", why: "it says what is wanted, and names nothing that does it",
		dirs: []string{"cmd/sidecar/internal/config"},
		allow: []string{
			vocabulary, "./pkg/engine", "./pkg/summarize", "./internal/access", "./internal/bytesize", "./internal/endpoint", "./internal/listen",
			"./internal/policies", "./internal/grpcserver/policyservice", "./cmd/sidecar/internal/command",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "opening stores", why: "it opens, moves and checks them, whoever serves from them",
		dirs:  []string{"cmd/sidecar/internal/stores"},
		allow: []string{"./pkg/store/...", "./cmd/sidecar/internal/command", "./cmd/sidecar/internal/config"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "security", why: "who may call does not depend on what is kept and where",
		dirs:  []string{"cmd/sidecar/internal/security"},
		allow: []string{"./internal/access", "./internal/listen", "./internal/ops", "./cmd/sidecar/internal/command", "./cmd/sidecar/internal/config"},
		deny:  slices.Concat(drivers, transport),
	},
	{
		name: "observation", why: "it connects what is measured with what measures, and makes neither",
		dirs: []string{"cmd/sidecar/internal/observation"},
		allow: []string{
			vocabulary, "./pkg/engine", "./pkg/summarize", "./pkg/store", "./pkg/store/bolt", "./internal/grpcserver", "./internal/grpcserver/admission",
			"./internal/listen", "./internal/metrics", "./internal/ops", "./internal/tracing", "./cmd/sidecar/internal/config", "./cmd/sidecar/internal/stores",
		},
		deny: slices.Concat(drivers, transport),
	},
	{
		name: "what commands share", why: "each may use it, so it knows none of them",
		dirs: []string{"cmd/sidecar/internal/command", "cmd/sidecar/internal/memorylimit"}, deny: slices.Concat(drivers, transport),
	},
	{
		name: "client commands", why: "they see what any client sees: the API, and no inside to judge itself by",
		dirs:  []string{"internal/replay", "internal/replay/*", "internal/demo", "internal/demo/*", "internal/inspect", "internal/inspect/*"},
		allow: []string{vocabulary, apiGen, "./internal/replay/...", "./internal/demo/...", "./internal/inspect/...", "./internal/validate", "./internal/terminal", "./internal/policies", "./internal/dial", "./pkg/tokens/..."},
		deny:  []string{"go.etcd.io/bbolt"},
	},
	{
		name: "access", why: "who calls does not depend on how the call came",
		dirs: []string{"internal/access"}, allow: []string{vocabulary, "./internal/bytesize"}, deny: transport,
	},
	{
		name: "dialing", why: "it is what every client does, and knows no call",
		dirs: []string{"internal/dial"}, allow: []string{"./internal/listen"}, deny: drivers,
	},
	{
		name: "cache", why: "what is kept does not depend on who keeps it",
		dirs: []string{"internal/bytecache"}, only: []string{"github.com/hashicorp/golang-lru"},
	},
	{
		name: "clients of HTTP services", why: "how they connect does not depend on what is asked",
		dirs: []string{"internal/endpoint"}, stdlibOnly: true,
	},
	{
		name: "listening", why: "who may connect does not depend on what is served",
		dirs: []string{"internal/listen"}, deny: transport,
	},
	{
		name: "sizes", why: "flags and files write them alike",
		dirs: []string{"internal/bytesize"}, deny: outside,
	},
	{
		name: "named policies", why: "the server and its clients read them alike, and they decide nothing",
		dirs: []string{"internal/policies"}, allow: []string{apiGen}, deny: transport,
	},
	{
		name: "known models", why: "they are data about models, which the program hands to the engine",
		dirs: []string{"internal/models"}, allow: []string{vocabulary}, deny: outside,
	},
	{
		name: "tools for models", why: "they are words for a model, which the program prints and anyone can take from a file",
		dirs: []string{"internal/toolset"}, allow: []string{vocabulary}, deny: outside,
	},
	{
		name: "examples", why: "they are copied into other modules, which can import the API alone",
		dirs: []string{"examples/*"}, allow: []string{apiGen, "./clients/go"}, deny: drivers,
	},
	{
		name: "client", why: "it comes into other programs, with all that it imports",
		dirs: []string{"clients/go"}, allow: []string{apiGen, "./clients/tools"},
		only: []string{"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc"},
	},
	{
		name: "tools' definitions", why: "they are files", dirs: []string{"clients/tools"}, stdlibOnly: true,
	},
	{
		name: "terminal", why: "it knows where commands print and nothing of what they print",
		dirs: []string{"internal/terminal"}, deny: transport,
	},
	{
		name: "independent judge", why: "it judges the renderers, so it shares nothing with them but the way tokens are counted",
		dirs: []string{"internal/validate"}, allow: []string{"./pkg/tokens/..."}, deny: transport,
	},
	{
		name: "servers of databases", why: "tests of any package start them, so they know none",
		dirs: []string{"internal/dbtest"}, deny: append([]string{"go.etcd.io/bbolt"}, transport...),
	},
	{
		name: "what tests share", why: "every test may use it, so it knows nothing of what they test",
		dirs: []string{"internal/proptest", "internal/testlane", "internal/recordings"}, deny: transport,
	},
	{
		name: "architecture rules", why: "they read files and run nothing",
		dirs: []string{"internal/archtest"}, stdlibOnly: true,
	},
}

// The API's generated code is for the edge and for clients.
var apiGenImporters = []string{
	"internal/grpcserver", "internal/replay", "internal/demo", "internal/inspect", "internal/policies", "cmd/sidecar", "test", "bench", "clients", "examples", "gen",
}

// layerOf returns the row of a folder, or nil for folders outside the table.
func layerOf(dir string) *layer {
	for i := range layers {
		for _, pattern := range layers[i].dirs {
			if ok, _ := path.Match(pattern, dir); ok {
				return &layers[i]
			}
		}
	}
	return nil
}

func (l *layer) allows(imported string) bool {
	return slices.ContainsFunc(l.allow, func(allowed string) bool {
		if under, ok := strings.CutSuffix(allowed, "/..."); ok {
			return within(imported, under)
		}
		return imported == allowed
	})
}

func (l *layer) check(imported string) string {
	switch {
	case strings.HasPrefix(imported, "./"):
		if !l.allows(imported) {
			return "may not import " + imported
		}
	case l.stdlibOnly && isOutside(imported):
		return "may import the standard library alone, not " + imported
	case len(l.only) > 0 && isOutside(imported) && !withinAny(imported, l.only):
		return "may not import " + imported
	case withinAny(imported, l.deny) && imported != "net/url":
		return "must never import " + imported
	}
	return ""
}

// isOutside says whether a package is of another module.
func isOutside(imported string) bool {
	return strings.Contains(strings.SplitN(imported, "/", 2)[0], ".")
}

func checkImportTable(t *tree) (found []string) {
	for _, f := range t.code() {
		l := layerOf(f.dir)
		if l == nil {
			continue
		}
		for _, imported := range f.imports() {
			if fault := l.check(imported); fault != "" {
				found = append(found, fmt.Sprintf("%s: %s %s (%s)", f.path, l.name, fault, l.why))
			}
		}
	}
	return found
}

func checkEveryPackageHasALayer(t *tree) (found []string) {
	for _, f := range t.code() {
		if withinAny(f.dir, []string{"pkg", "internal", "cmd/sidecar/internal"}) && layerOf(f.dir) == nil {
			found = append(found, f.path+": its folder is in no row of the import table")
		}
	}
	return found
}

// observers are who may know what is measured with: all others say what they do through functions and snapshots of their own.
var observers = map[string][]string{
	"github.com/prometheus": {"internal/metrics", "internal/ops", "cmd/sidecar"},
	"go.opentelemetry.io":   {"internal/tracing", "cmd/sidecar"},
	"./internal/metrics":    {"internal/metrics", "cmd/sidecar"},
	"./internal/tracing":    {"internal/tracing", "cmd/sidecar"},
}

func checkObservers(t *tree) (found []string) {
	for _, f := range t.code() {
		for _, imported := range f.imports() {
			for library, importers := range observers {
				if within(imported, library) && !withinAny(f.dir, importers) && !within(f.dir, "tools/promcheck") {
					found = append(found, f.path+": only who observes may import "+imported)
				}
			}
		}
	}
	return found
}

func checkAPIGenImporters(t *tree) (found []string) {
	for _, f := range t.files {
		for _, imported := range f.imports() {
			if within(imported, "./gen") && !withinAny(f.dir, apiGenImporters) {
				found = append(found, f.path+": only the edge and clients may import "+imported)
			}
		}
	}
	return found
}

// Now and its kind make a decision depend on when it is taken.
var clockNames = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}

func checkNoClock(t *tree) (found []string) {
	for _, f := range t.code() {
		if l := layerOf(f.dir); l == nil || !l.noClock {
			continue
		}
		local := f.localName("time")
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok || local == "" || !slices.Contains(clockNames, selector.Sel.Name) {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == local {
				found = append(found, fmt.Sprintf("%s:%d: time.%s in a pure package: the time is an argument", f.path, t.line(n), selector.Sel.Name))
			}
			return true
		})
	}
	return found
}

// checkPlanTakesNoStore: a plan may know what a store holds, and never the store.
func checkPlanTakesNoStore(t *tree) (found []string) {
	for _, f := range t.code() {
		local := f.localName(module + "pkg/store")
		if f.dir != planDir && !strings.HasPrefix(f.dir, planDir+"/") || local == "" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Store" {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == local {
					found = append(found, fmt.Sprintf("%s:%d: a plan takes no store", f.path, t.line(n)))
				}
			}
			return true
		})
	}
	return found
}

// localName is the name under which f uses a package, or "".
func (f *file) localName(imported string) string {
	for _, spec := range f.syntax.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err != nil || name != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(strings.TrimSuffix(imported, "/v2"))
	}
	return ""
}
