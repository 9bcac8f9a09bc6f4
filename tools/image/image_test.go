package main

import (
	"bytes"
	"crypto/x509"
	"debug/buildinfo"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// maxImageBytes is what the image may weigh in a registry.
const maxImageBytes = 20_000_000

func TestImage_TwoFolders_SameBytes(t *testing.T) {
	t.Parallel()
	other, err := makeImage(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"palimpsest.tar", "palimpsest.spdx.json"} {
		one, err := os.ReadFile(filepath.Join(filepath.Dir(archiveOf(t)), name))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(filepath.Dir(other), name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s: two builds of the same sources differ", name)
		}
	}
}

func TestImage_Archive_IsValidAndSmall(t *testing.T) {
	t.Parallel()
	image := imageOf(t)
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	size, err := compressedSize(image)
	if err != nil || size > maxImageBytes {
		t.Errorf("%d bytes (%v), at most %d", size, err, maxImageBytes)
	}
}

func TestImage_Config_RunsTheSidecarAsNobody(t *testing.T) {
	t.Parallel()
	file, err := imageOf(t).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/sidecar"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("user %q, entrypoint %q, arguments %q", c.User, c.Entrypoint, c.Cmd)
	}
	if !file.Created.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("created %s, not when SOURCE_DATE_EPOCH says", file.Created)
	}
	labels := map[string]string{
		"title": "Palimpsest", "version": testVersion, "licenses": "Apache-2.0", "source": "https://github.com/palimpsest-context/palimpsest",
	}
	for name, want := range labels {
		if got := c.Labels["org.opencontainers.image."+name]; got != want {
			t.Errorf("label %s is %q, want %q", name, got, want)
		}
	}
}

func TestImage_Files_AreNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t, imageOf(t))
	want := []string{
		"data/", "etc/", "etc/ssl/", "etc/ssl/certs/", "etc/ssl/certs/ca-certificates.crt", "licenses/", "licenses/LICENSE",
		"licenses/THIRD_PARTY_LICENSES", "licenses/sbom.spdx.json", "run/", "run/palimpsest/", "sidecar",
	}
	if got := slices.Sorted(maps.Keys(entries)); !slices.Equal(got, want) {
		t.Errorf("the image holds %q", got)
	}
	for name, e := range entries {
		if own := name == "data/" || name == "run/palimpsest/"; own != (e.header.Uid == userID) || e.header.Mode&0o6022 != 0 {
			t.Errorf("%s belongs to %d, mode %o", name, e.header.Uid, e.header.Mode)
		}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(entries[rootsPath].content) {
		t.Error("no root certificate can be read")
	}
}

func TestPlatformOf_BinaryThatCannotRun_Refused(t *testing.T) {
	t.Parallel()
	good := map[string]string{"GOOS": "linux", "GOARCH": "arm64", "CGO_ENABLED": "0", "-trimpath": "true"}
	if got, err := platformOf(infoOf(good)); got != "arm64" || err != nil {
		t.Errorf("architecture %q, %v", got, err)
	}
	for key, value := range map[string]string{"GOOS": "darwin", "CGO_ENABLED": "1", "-trimpath": ""} {
		bad := maps.Clone(good)
		bad[key] = value
		if _, err := platformOf(infoOf(bad)); err == nil {
			t.Errorf("%s=%q was taken", key, value)
		}
	}
}

func infoOf(settings map[string]string) *buildinfo.BuildInfo {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "github.com/palimpsest-context/palimpsest"}}
	for key, value := range settings {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
	}
	return info
}

func TestWriteArchive_TwoArchitectures_AnIndexOfBoth(t *testing.T) {
	t.Parallel()
	b := &builder{version: testVersion, created: time.Unix(0, 0).UTC(), repository: repository}
	var images []built
	for _, architecture := range []string{"amd64", "arm64"} {
		one, err := b.build(infoOf(map[string]string{"GOOS": "linux", "GOARCH": architecture, "CGO_ENABLED": "0", "-trimpath": "true"}), []byte(architecture))
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, one)
	}
	folder := t.TempDir()
	digest, err := writeIndex(folder, "palimpsest:test", images)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Error(err)
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		t.Fatal(err)
	}
	index, err := outer.ImageIndex(hash)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range manifest.Manifests {
		got = append(got, m.Platform.String())
	}
	if strings.Join(got, " ") != "linux/amd64 linux/arm64" {
		t.Errorf("the index has %q", got)
	}
}
