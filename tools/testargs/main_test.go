package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// properties are the functions that are looked for.
var properties = []string{"internal/proptest.Check", "internal/proptest.CheckN"}

const imports = "package p\n\nimport \"" + module + "internal/proptest\"\n\n"

func printed(t *testing.T, files map[string]string) string {
	t.Helper()
	module := fstest.MapFS{}
	for name, content := range files {
		module[name] = &fstest.MapFile{Data: []byte(content)}
	}
	var out bytes.Buffer
	if err := run(module, properties, &out); err != nil {
		return err.Error()
	}
	return out.String()
}

func TestRun_Calls_AreFoundThroughOthers(t *testing.T) {
	got := printed(t, map[string]string{
		"pkg/a/a_test.go": imports + "func TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) { proptest.Check(t, nil) }) }\n" +
			"func TestSeeded(t *testing.T) { proptest.Seed(t) }\n",
		"pkg/b/b_test.go": imports + "func TestB(t *testing.T) { t.Run(\"x\", trip) }\nfunc trip(t *testing.T) { turn(t) }\n" +
			"func turn(t *testing.T) { proptest.CheckN(t, 7, nil); trip(t) }\nfunc TestNone(t *testing.T) {}\n",
		"pkg/suite/suite.go": imports + "func Run(t *testing.T) { machine{}.check(t) }\nfunc (m machine) check(t *testing.T) { proptest.Check(t, nil) }\n",
		"pkg/c/c_test.go":    "package p\n\nimport named \"" + module + "pkg/suite\"\n\nfunc TestC(t *testing.T) { named.Run(t) }\n",
		"pkg/e/e_test.go":    "package p\n\nimport \"" + module + "pkg/suite\"\n\nfunc Run() { suite.Run(nil) }\nfunc TestE(t *testing.T) { t.Run(\"x\", nil) }\n",
		"pkg/d/d_test.go":    "package p\n\nfunc TestD(t *testing.T) { proptest.Check(t, nil); Check(t) }\n", // another's
	})
	if want := "-run\n^(TestA|TestB|TestC)$\n./pkg/a\n./pkg/b\n./pkg/c\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestRun_NoCalls_Fails(t *testing.T) {
	if got := printed(t, map[string]string{"pkg/a/a_test.go": "package p\n"}); !strings.HasPrefix(got, "no test") {
		t.Error(got)
	}
}

func TestRun_ThisModule_HasTheSuiteOfStores(t *testing.T) {
	var out bytes.Buffer
	if err := run(os.DirFS("../.."), properties, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"|TestStore_Contract|", "|TestCodec_Records_RoundTrip|", "\n./pkg/store/memory\n", "\n./test/property"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q: %s", want, out.String())
		}
	}
}
