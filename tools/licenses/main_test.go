package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mitText    = "Permission is hereby granted, free of charge, to any person obtaining a copy\n"
	apacheText = "                                 Apache License\n                           Version 2.0, January 2004\n"
	bsd2Text   = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted\n"
	bsd3Text   = bsd2Text + "Neither the name of the owner nor\n"
)

func TestIdentify_Texts_AreKnownByTheirWords(t *testing.T) {
	t.Parallel()
	for want, contents := range map[string][]string{
		"MIT":                {mitText},
		"Apache-2.0":         {apacheText},
		"BSD-2-Clause":       {bsd2Text},
		"BSD-3-Clause":       {bsd3Text},
		"Apache-2.0 AND MIT": {mitText, "under the Apache License, Version 2.0 (the \"License\")", mitText},
		"":                   {"All rights reserved."},
	} {
		var texts []text
		for _, c := range contents {
			texts = append(texts, text{"LICENSE", c})
		}
		if got := identify(texts); got != want {
			t.Errorf("%q is %q, want %q", contents, got, want)
		}
	}
}

func TestWrite_ModuleThatNobodyLookedAt_Refused(t *testing.T) {
	t.Parallel()
	good := module{"example.com/a", "v1.0.0", []text{{"LICENSE", mitText}}}
	for what, c := range map[string]struct {
		linked []module
		says   string
	}{
		"no text":         {[]module{good, {"example.com/b", "v1.0.0", nil}}, "example.com/b v1.0.0 has no license text"},
		"unknown license": {[]module{good, {"example.com/b", "v1.0.0", []text{{"LICENSE", "Mine.\n"}}}}, "not known"},
		"two versions":    {[]module{good, {"example.com/a", "v2.0.0", good.texts}}, "two versions"},
	} {
		merged, err := merge(c.linked)
		if err == nil {
			err = write(&strings.Builder{}, merged)
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWrite_SameTextTwice_StandsOnce(t *testing.T) {
	t.Parallel()
	merged, err := merge([]module{
		{"example.com/b", "v1.1.0", []text{{"COPYING", mitText}}},
		{"example.com/a", "v1.0.0", []text{{"LICENSE", mitText}}},
		{"example.com/a", "v1.0.0", []text{{"LICENSE", mitText}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := write(&out, merged); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), mitText) != 1 || !strings.Contains(out.String(), "example.com/a: LICENSE\nexample.com/b: COPYING\n\n"+mitText) {
		t.Errorf("wrote:\n%s", &out)
	}
	if !strings.Contains(out.String(), "\nexample.com/a v1.0.0 MIT\nexample.com/b v1.1.0 MIT\n") {
		t.Errorf("the list at the head is missing:\n%s", &out)
	}
}

func TestTextsBetween_FolderWithItsOwnLicense_HasBoth(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	deep := filepath.Join(top, "internal", "copied")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		filepath.Join(top, "LICENSE.md"):    mitText + "\r\n\r\n",
		filepath.Join(deep, "copying"):      bsd3Text,
		filepath.Join(deep, "license.go"):   "package copied",
		filepath.Join(top, "NOTICES-of-us"): "A notice.",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := textsBetween(deep, top)
	if err != nil {
		t.Fatal(err)
	}
	want := []text{{"internal/copied/copying", bsd3Text}, {"LICENSE.md", mitText}, {"NOTICES-of-us", "A notice.\n"}}
	if len(texts) != len(want) || texts[0] != want[0] || texts[1] != want[1] || texts[2] != want[2] {
		t.Errorf("found %q", texts)
	}
}
