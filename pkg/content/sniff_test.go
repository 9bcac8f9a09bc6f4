package content

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
)

func TestKindOf_MediaTypeFirst(t *testing.T) {
	for media, want := range map[string]Kind{
		"text/html": KindHTML, "Text/HTML; charset=utf-8": KindHTML, "application/json; charset=utf-8": KindJSON, "application/problem+json": KindJSON,
		"text/markdown": KindMarkdown, "text/csv": KindLines, "application/x-ndjson": KindLines, "text/x-python": KindCode, "application/javascript": KindCode,
		"text/plain": KindText, "": KindText, "application/octet-stream": KindText, "; ;": KindText, "text/html; charset=\"": KindHTML,
	} {
		if got := KindOf(media, "Just some words."); got != want {
			t.Errorf("%q is of kind %d, want %d", media, got, want)
		}
	}
}

func TestKindOf_Looks(t *testing.T) {
	repeat := strings.Repeat
	for name, c := range map[string]struct {
		content string
		want    Kind
	}{
		"array":            {` [1, {"a": 2}]`, KindJSON},
		"object":           {"{\"a\": [1]}\n", KindJSON},
		"head of JSON":     {`{"a": [` + repeat(`{"b": 1}, `, 10_000), KindJSON},
		"broken JSON":      {`{"a": [` + repeat(`{"b": 1}, `, 10), KindText},
		"scalar":           {`"a string"`, KindText},
		"JSON lines":       {`{"a": 1}` + "\n" + `{"a": 2}` + "\n" + `{"a": 3`, KindLines},
		"page":             {"<!-- saved -->\n<!DOCTYPE html><html><p>x</html>", KindHTML},
		"fragment":         {"<div><p>one</p><p>two</p></div>", KindHTML},
		"output with tags": {"<returncode>0</returncode>\n<output>\n<html>\n<p>x</p><p>y</p>\n</output>", KindLines},
		"markdown":         {"# Title\n\nSome text with [a link](x).\n\n## More\n\n- a\n- b\n", KindMarkdown},
		"shell":            {"#!/bin/sh\n# install it\n\n# first\n\nset -e\nif [ -f x ]; then\n  rm x;\nfi\n", KindText},
		"log":              {repeat("2024-05-01 10:00:00 INFO something has happened here again\n", 20), KindLines},
		"syslog":           {repeat("Jul  1 09:00:55 host kernel[0]: something has happened here again\n", 20), KindLines},
		"table":            {repeat("name,12,0.5,x\n", 20), KindLines},
		"code":             {"package main\n\nimport \"fmt\"\n\nfunc main() {\n\tx := 1\n\tfmt.Println(x)\n}\n", KindCode},
		"python":           {"import os\n\ndef f(a, b):\n    return a + b\n\nclass C:\n    def g(self):\n        x = 1\n        return x\n", KindCode},
		"prose":            {repeat("It was the best of times, it was the worst of times, it was\nthe age of wisdom, it was the age of foolishness, it was the\n", 9), KindText},
		"paragraphs":       {repeat("It was the best of times. "+repeat("It was the worst of times. ", 20)+"\n\n", 9), KindText},
		"Chinese":          {repeat("黑豹队的防守只丢了分，在联赛中排名第六。", 50), KindText},
		"base64":           {repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=", 100), KindText},
		"empty":            {"", KindText},
		"blank":            {" \n\n\t", KindText},
	} {
		t.Run(name, func(t *testing.T) {
			if got := KindOf("", c.content); got != c.want {
				t.Errorf("is of kind %d, want %d: %+v", got, c.want, statsOf(c.content))
			}
		})
	}
}

func TestKindOf_RealLogsAreLines(t *testing.T) {
	for _, name := range []string{"BGL", "HDFS", "HealthApp", "Mac", "OpenSSH", "OpenStack", "Thunderbird", "Windows", "Zookeeper"} {
		if got := KindOf("", recordings.Text(t, "loghub", name+"_2k.log")); got != KindLines {
			t.Errorf("%s is of kind %d", name, got)
		}
	}
}
