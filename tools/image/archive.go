package main

import (
	"archive/tar"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// repositoryName is what the image is called once it is loaded.
const repositoryName = "palimpsest"

// writeArchive writes images as an OCI archive, and returns the digest that a registry would know the image by.
func writeArchive(path, version string, images []built) (digest string, err error) {
	folder, err := os.MkdirTemp("", "palimpsest-image-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	name := repositoryName + ":" + version
	if len(images) == 1 {
		digest, err = writeSingle(folder, name, images[0])
	} else {
		digest, err = writeIndex(folder, name, images)
	}
	if err != nil {
		return "", err
	}
	return digest, pack(path, folder)
}

func descriptor(name string, one built) v1.Descriptor {
	d := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: one.architecture}}
	if name != "" {
		d.Annotations = annotations(name)
	}
	return d
}

// annotations are how containerd and podman learn what a loaded image is called.
func annotations(name string) map[string]string {
	return map[string]string{"io.containerd.image.name": "docker.io/library/" + name, "org.opencontainers.image.ref.name": name}
}

func writeSingle(folder, name string, one built) (digest string, err error) {
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: one.image, Descriptor: descriptor(name, one)})
	if _, err := layout.Write(folder, index); err != nil {
		return "", err
	}
	hash, err := one.image.Digest()
	if err != nil {
		return "", err
	}
	return hash.String(), writeDockerManifest(folder, name, one.image)
}

// writeDockerManifest adds what docker reads of an archive if it does not know OCI's.
func writeDockerManifest(folder, name string, image v1.Image) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	entry := map[string]any{"Config": blob(manifest.Config.Digest), "RepoTags": []string{name}, "Layers": []string{blob(manifest.Layers[0].Digest)}}
	content, err := json.Marshal([]any{entry})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "manifest.json"), content, 0o600)
}

func writeIndex(folder, name string, images []built) (digest string, err error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, one := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one.image, Descriptor: descriptor("", one)})
	}
	outer := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{Annotations: annotations(name)}})
	if _, err := layout.Write(folder, outer); err != nil {
		return "", err
	}
	hash, err := index.Digest()
	return hash.String(), err
}

// pack writes a folder as a tar file that is the same whenever and wherever it is written.
func pack(path, folder string) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return addFile(w, folder, name)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func addFile(w *tar.Writer, folder, name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(folder, name)
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(relative), Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
