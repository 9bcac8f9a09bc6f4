package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// kind is a license, and what its text says that no other does.
type kind struct {
	id    string
	says  string
	never string // a text with these words is another license
}

var kinds = []kind{
	{id: "Apache-2.0", says: "apache license version 2.0"},
	{id: "BSD-2-Clause", says: "redistribution and use in source and binary forms", never: "neither the name"},
	{id: "BSD-3-Clause", says: "neither the name"},
	{id: "ISC", says: "permission to use, copy, modify, and/or distribute"},
	{id: "MIT", says: "permission is hereby granted, free of charge"},
	{id: "MPL-2.0", says: "mozilla public license version 2.0"},
}

// identify is the SPDX expression for the licenses that texts hold; empty if none is known.
func identify(texts []text) string {
	var ids []string
	for _, t := range texts {
		words := strings.ToLower(strings.Join(strings.Fields(t.content), " "))
		words = strings.ReplaceAll(words, "license, version", "license version")
		for _, k := range kinds {
			if strings.Contains(words, k.says) && (k.never == "" || !strings.Contains(words, k.never)) {
				ids = append(ids, k.id)
			}
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}

const head = `Palimpsest is licensed under the Apache License 2.0. These are linked into its program, or lie beside it in its image, each with
its version and its licenses. Their texts follow. This file is written by tools/licenses.

`

func write(out io.Writer, modules []module) error {
	var b strings.Builder
	b.WriteString(head)
	for _, m := range modules {
		id := identify(m.texts)
		if id == "" {
			return fmt.Errorf("%s %s: its license is not known: look at it, and add it to tools/licenses", m.path, m.version)
		}
		fmt.Fprintf(&b, "%s %s %s\n", m.path, cmp.Or(m.version, "-"), id)
	}
	for _, s := range sections(modules) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(s.names, "\n"), s.content)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// section is a text, and the files that have it word for word.
type section struct {
	names   []string
	content string
}

func sections(modules []module) (all []section) {
	for _, m := range modules {
		for _, t := range m.texts {
			name := m.path + ": " + t.name
			i := slices.IndexFunc(all, func(s section) bool { return s.content == t.content })
			if i < 0 {
				all = append(all, section{[]string{name}, t.content})
				continue
			}
			all[i].names = append(all[i].names, name)
		}
	}
	return all
}
