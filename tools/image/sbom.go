package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// Two entries of the licenses' file are not modules of the binary.
const (
	standardLibrary = "std"
	rootsModule     = "golang.org/x/crypto/x509roots/fallback"
)

// document is an SPDX 2.3 document: the bill of what is linked, which no source but the binary's own build information knows for sure.
type document struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []component    `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type component struct {
	ID        string      `json:"SPDXID"`
	Name      string      `json:"name"`
	Version   string      `json:"versionInfo"`
	Location  string      `json:"downloadLocation"`
	Analyzed  bool        `json:"filesAnalyzed"`
	Concluded string      `json:"licenseConcluded"`
	Declared  string      `json:"licenseDeclared"`
	Copyright string      `json:"copyrightText"`
	Source    string      `json:"sourceInfo,omitempty"`
	Refs      []reference `json:"externalRefs,omitempty"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	programID  = "SPDXRef-sidecar"
	unstated   = "NOASSERTION"
)

// bill lists a binary's modules, each with the license that the licenses' file has for exactly its version.
func (b *builder) bill(info *buildinfo.BuildInfo) ([]byte, error) {
	known, err := readLicenses(b.thirdParty())
	if err != nil {
		return nil, err
	}
	program := component{
		ID: programID, Name: "palimpsest", Version: b.version, Location: "git+" + sourceURL, Concluded: licenseNames, Declared: licenseNames, Copyright: unstated,
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + info.Main.Path + "@" + b.version}},
	}
	d := document{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: "palimpsest-" + b.version,
		Creation:      creation{Created: b.created.Format(time.RFC3339), Creators: []string{"Tool: palimpsest-tools-image"}},
		Packages:      []component{program},
		Relationships: []relationship{{documentID, "DESCRIBES", programID}},
	}
	std := component{Name: "Go standard library", Version: strings.TrimPrefix(info.GoVersion, "go"), Refs: purl("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	d.add("DEPENDS_ON", known[standardLibrary], std)
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		license, ok := known[dep.Path]
		if !ok || license.version != dep.Version {
			return nil, fmt.Errorf("%s %s is linked, and %s does not have it: run make gen", dep.Path, dep.Version, b.thirdParty())
		}
		d.add("DEPENDS_ON", license, component{Name: dep.Path, Version: dep.Version, Source: "go.sum: " + dep.Sum, Refs: purl(dep.Path, dep.Version)})
	}
	roots := known[rootsModule]
	d.add("CONTAINS", roots, component{Name: rootsModule, Version: roots.version, Refs: purl(rootsModule, roots.version)})
	return d.encode()
}

func purl(path, version string) []reference {
	return []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}}
}

// add lists a component that the program stands in a relation to.
func (d *document) add(kind string, l license, c component) {
	c.ID = fmt.Sprintf("SPDXRef-%d", len(d.Packages))
	c.Location, c.Copyright, c.Concluded, c.Declared = unstated, unstated, l.id, l.id
	d.Packages = append(d.Packages, c)
	d.Relationships = append(d.Relationships, relationship{programID, kind, c.ID})
}

// encode gives the document a name that no other has: that of its content.
func (d *document) encode() ([]byte, error) {
	content, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	d.Namespace = sourceURL + "/spdx/" + hex.EncodeToString(sum[:])
	content, err = json.MarshalIndent(d, "", " ")
	return append(content, '\n'), err
}

// license is what the licenses' file says of a module.
type license struct{ version, id string }

// readLicenses reads the list at the head of the licenses' file: a module, its version and an SPDX expression on each line.
func readLicenses(path string) (map[string]license, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, _, _ := bytes.Cut(content, []byte("\n=="))
	_, list, _ = bytes.Cut(list, []byte("\n\n"))
	known := map[string]license{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		if fields := strings.SplitN(lines.Text(), " ", 3); len(fields) == 3 {
			known[fields[0]] = license{fields[1], fields[2]}
		}
	}
	for _, must := range []string{standardLibrary, rootsModule} {
		if _, ok := known[must]; !ok {
			return nil, fmt.Errorf("%s does not have %s: run make gen", path, must)
		}
	}
	return known, nil
}

// writeBills writes each architecture's bill beside the archive.
func writeBills(archive string, images []built) error {
	base := strings.TrimSuffix(archive, ".tar")
	for _, i := range images {
		path := base + ".spdx.json"
		if len(images) > 1 {
			path = base + "-" + i.architecture + ".spdx.json"
		}
		if err := os.WriteFile(path, i.bill, 0o644); err != nil { //nolint:gosec // it is for everybody, as the archive
			return err
		}
	}
	return nil
}
