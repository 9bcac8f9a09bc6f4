// Command image packs binaries of the sidecar into a container image, without a daemon and without a registry.
//
//	image -o FILE -version VERSION -created SECONDS -repository FOLDER BINARY...
//
// The file is an OCI archive; with one binary it is also what `docker load` takes. Several binaries, each of another architecture,
// become an index. The same inputs give the same bytes. Beside it lies FILE's name with .spdx.json: what is linked into the binary.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "the archive to write")
	version := flags.String("version", "dev", "the version of the sidecar")
	created := flags.Int64("created", 0, "when the image was created, in seconds since 1970")
	repository := flags.String("repository", "../..", "the repository's folder, which has the licenses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || flags.NArg() == 0 {
		return errors.New("an archive (-o) and at least one binary are needed")
	}
	b := &builder{version: *version, created: time.Unix(*created, 0).UTC(), repository: *repository}
	images, err := b.buildAll(flags.Args())
	if err != nil {
		return err
	}
	digest, err := writeArchive(*out, b.version, images)
	if err != nil {
		return err
	}
	if err := writeBills(*out, images); err != nil {
		return err
	}
	return report(stdout, *out, digest, images)
}

// compressedSize is what a registry would keep and a node would fetch.
func compressedSize(image v1.Image) (int64, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return 0, err
	}
	size := manifest.Config.Size
	for _, l := range manifest.Layers {
		size += l.Size
	}
	return size, nil
}

// report says what a person who loads the image needs, and what its size is held to.
func report(w io.Writer, path, digest string, images []built) error {
	fmt.Fprintf(w, "archive  %s\n", path)
	fmt.Fprintf(w, "digest   %s\n", digest)
	for _, i := range images {
		size, err := compressedSize(i.image)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-8s %.1f MB compressed\n", i.architecture, float64(size)/1e6)
	}
	return nil
}
