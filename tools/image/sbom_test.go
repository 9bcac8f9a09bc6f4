package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestBill_ShippedBinary_ListsAllThatIsLinked(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t, imageOf(t))
	info, err := buildinfo.Read(bytes.NewReader(entries[programPath].content))
	if err != nil {
		t.Fatal(err)
	}
	var bill document
	if err := json.Unmarshal(entries[billPath].content, &bill); err != nil {
		t.Fatal(err)
	}
	listed := map[string]component{}
	for _, p := range bill.Packages {
		listed[p.Name] = p
	}
	for _, dep := range info.Deps {
		if p := listed[dep.Path]; p.Version != dep.Version || p.Declared == "" || p.Declared == unstated {
			t.Errorf("%s %s is listed as %+v", dep.Path, dep.Version, p)
		}
	}
	// The program, Go's own library, and the root certificates.
	if want := len(info.Deps) + 3; len(bill.Packages) != want || len(bill.Relationships) != want {
		t.Errorf("%d packages and %d relationships, want %d of each", len(bill.Packages), len(bill.Relationships), want)
	}
	if bill.Version != "SPDX-2.3" || bill.Namespace == "" || bill.Creation.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("the document is %q, named %q, of %q", bill.Version, bill.Namespace, bill.Creation.Created)
	}
}

func TestBill_BesideTheArchive_IsThatOfTheImage(t *testing.T) {
	t.Parallel()
	beside, err := os.ReadFile(filepath.Join(filepath.Dir(archiveOf(t)), "palimpsest.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(beside, entriesOf(t, imageOf(t))[billPath].content) {
		t.Error("the bill beside the archive is another one")
	}
}

func TestBill_ModuleWithoutALicense_Refused(t *testing.T) {
	t.Parallel()
	b := &builder{version: testVersion, created: time.Unix(0, 0).UTC(), repository: repository}
	known, err := readLicenses(b.thirdParty())
	if err != nil {
		t.Fatal(err)
	}
	const linked = "google.golang.org/grpc"
	for what, c := range map[string]struct {
		path, version string
		taken         bool
	}{
		"as the file says":  {linked, known[linked].version, true},
		"another version":   {linked, "v0.0.1", false},
		"an unknown module": {"example.com/new", "v1.0.0", false},
	} {
		info := infoOf(nil)
		info.Deps = append(info.Deps, &debug.Module{Path: c.path, Version: c.version})
		_, err := b.bill(info)
		if (err == nil) != c.taken || (err != nil && !strings.Contains(err.Error(), c.path)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
