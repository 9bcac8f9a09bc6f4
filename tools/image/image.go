package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Who runs in the container: the number that images without a root user share.
const userID = 65532

// Where things lie in the image.
const (
	programPath  = "sidecar"
	dataDir      = "data"
	socketDir    = "run/palimpsest"
	licensesDir  = "licenses"
	billPath     = "licenses/sbom.spdx.json"
	rootsPath    = "etc/ssl/certs/ca-certificates.crt"
	sourceURL    = "https://github.com/palimpsest-context/palimpsest"
	licenseNames = "Apache-2.0"
)

// builder makes images that differ in their binaries alone.
type builder struct {
	version    string
	created    time.Time
	repository string
}

// built is an image of one architecture.
type built struct {
	architecture string
	image        v1.Image
	bill         []byte
}

func (b *builder) buildAll(binaries []string) (images []built, err error) {
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		one, err := b.build(info, program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		images = append(images, one)
	}
	return images, nil
}

func (b *builder) build(info *buildinfo.BuildInfo, program []byte) (built, error) {
	architecture, err := platformOf(info)
	if err != nil {
		return built{}, err
	}
	bill, err := b.bill(info)
	if err != nil {
		return built{}, err
	}
	files, err := b.files(program, bill)
	if err != nil {
		return built{}, err
	}
	layer, err := b.layer(files)
	if err != nil {
		return built{}, err
	}
	image, err := b.image(architecture, layer)
	return built{architecture, image, bill}, err
}

// platformOf is the architecture that a binary was built for, if it can run in an image that holds nothing else.
func platformOf(info *buildinfo.BuildInfo) (architecture string, err error) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case settings["GOOS"] != "linux":
		return "", fmt.Errorf("it is for %q, not for linux", settings["GOOS"])
	case settings["CGO_ENABLED"] != "0":
		return "", errors.New("it was built with cgo: there is no libc in the image")
	case settings["-trimpath"] != "true":
		return "", errors.New("it was built without -trimpath: it would hold the folder that it was built in")
	}
	return settings["GOARCH"], nil
}

// file is an entry of the layer; a folder has no content.
type file struct {
	path    string
	mode    int64
	owner   int
	content []byte
}

// files are the entries of the layer, each folder before what lies in it.
func (b *builder) files(program, bill []byte) ([]file, error) {
	own, err := os.ReadFile(filepath.Join(b.repository, "LICENSE"))
	if err != nil {
		return nil, err
	}
	others, err := os.ReadFile(b.thirdParty())
	if err != nil {
		return nil, err
	}
	roots, err := rootCertificates()
	if err != nil {
		return nil, err
	}
	return []file{
		{path: dataDir + "/", mode: 0o700, owner: userID},
		{path: "etc/", mode: 0o755},
		{path: "etc/ssl/", mode: 0o755},
		{path: "etc/ssl/certs/", mode: 0o755},
		{path: rootsPath, mode: 0o644, content: roots},
		{path: licensesDir + "/", mode: 0o755},
		{path: licensesDir + "/LICENSE", mode: 0o644, content: own},
		{path: licensesDir + "/THIRD_PARTY_LICENSES", mode: 0o644, content: others},
		{path: billPath, mode: 0o644, content: bill},
		{path: "run/", mode: 0o755},
		{path: socketDir + "/", mode: 0o700, owner: userID},
		{path: programPath, mode: 0o755, content: program},
	}, nil
}

// thirdParty is the file that tools/licenses writes.
func (b *builder) thirdParty() string {
	return filepath.Join(b.repository, "cmd", "sidecar", "THIRD_PARTY_LICENSES")
}

// layer is one compressed layer: what changes with every release is nearly all of it. It is compressed here, once: a layer of plain
// bytes would be compressed anew for each of its digest, its size and its writing.
func (b *builder) layer(files []file) (v1.Layer, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		if err := w.WriteHeader(b.header(f)); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer))
}

func (b *builder) header(f file) *tar.Header {
	kind := byte(tar.TypeReg)
	if strings.HasSuffix(f.path, "/") {
		kind = tar.TypeDir
	}
	return &tar.Header{
		Typeflag: kind, Name: f.path, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: b.created, Format: tar.FormatPAX,
	}
}

func (b *builder) image(architecture string, layer v1.Layer) (v1.Image, error) {
	base := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: b.created}, CreatedBy: "make image", Comment: "the sidecar, its licenses, root certificates"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: b.created}
	config.Config = v1.Config{
		User:       fmt.Sprintf("%d:%d", userID, userID),
		Entrypoint: []string{"/" + programPath},
		Cmd:        []string{"serve"},
		Env:        []string{"PALIMPSEST_DATA_DIR=/" + dataDir},
		WorkingDir: "/",
		Labels:     b.labels(),
	}
	return mutate.ConfigFile(image, config)
}

func (b *builder) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       "Palimpsest",
		prefix + "description": "A sidecar that owns an agent's conversation and says what its model should see",
		prefix + "version":     b.version,
		prefix + "licenses":    licenseNames,
		prefix + "source":      sourceURL,
		prefix + "created":     b.created.Format(time.RFC3339),
	}
}
