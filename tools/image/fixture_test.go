package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	repository  = "../.."
	testVersion = "v0.0.0-test"
)

// sources are what an image is made from.
var sources = []string{"Makefile", "LICENSE", "go.mod", "go.sum", "cmd", "pkg", "internal", "gen", "scripts", "tools/image"}

// shipped is the image as `make image` writes it, built once.
var shipped = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "palimpsest-image-test-")
	if err != nil {
		return "", err
	}
	return makeImage(folder)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if archive, err := shipped(); err == nil {
		_ = os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(archive))))
	}
	os.Exit(code)
}

// archiveOf is the path of the shipped image's archive.
func archiveOf(t *testing.T) string {
	t.Helper()
	archive, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// makeImage builds the image in a copy of the sources.
func makeImage(folder string) (archive string, err error) {
	for _, name := range sources {
		if err := copyTree(filepath.Join(repository, name), filepath.Join(folder, name)); err != nil {
			return "", err
		}
	}
	build := exec.Command("make", "-C", folder, "image", "VERSION="+testVersion)
	build.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if output, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(output))
	}
	return filepath.Join(folder, "bin", "image", "palimpsest.tar"), nil
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, content, info.Mode().Perm()))
	})
}

func imageOf(t *testing.T) v1.Image {
	t.Helper()
	image, err := tarball.ImageFromPath(archiveOf(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// entry is what a layer holds under a name.
type entry struct {
	header  tar.Header
	content []byte
}

func entriesOf(t *testing.T, image v1.Image) map[string]entry {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]entry{}
	for _, l := range layers {
		content, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(content); ; {
			header, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := io.Copy(&out, r); err != nil {
				t.Fatal(err)
			}
			all[header.Name] = entry{*header, out.Bytes()}
		}
	}
	return all
}

// extract writes what the image holds into a folder, as a container runtime does.
func extract(t *testing.T, entries map[string]entry, folder string) {
	t.Helper()
	for name, e := range entries {
		path := filepath.Join(folder, filepath.FromSlash(name))
		mode := fs.FileMode(e.header.Mode)
		var err error
		if e.header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, e.content, mode))
		}
		if err := errors.Join(err, os.Chmod(path, mode), os.Chown(path, e.header.Uid, e.header.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}
