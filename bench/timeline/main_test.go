package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAgreement generates a small stream of every kind and replays it on all implementations. They must give
// the same answers, and add every span.
func TestAgreement(t *testing.T) {
	for _, kind := range []string{"wide", "narrow", "frag", "saw", "stair", "long"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := generate(&b, kind, 1500, 300); err != nil {
				t.Fatal(err)
			}
			st, err := parse(&b)
			if err != nil {
				t.Fatal(err)
			}
			p, err := replay(st, "planner", 16)
			if err != nil {
				t.Fatal(err)
			}
			f, err := replay(st, "flat", 1)
			if err != nil {
				t.Fatal(err)
			}
			if p.digest != f.digest || !slices.Equal(p.answers, f.answers) {
				t.Error("planner and flat give different answers")
			}
			if slices.Contains(p.answers[:1500], 0) {
				t.Error("a span was refused while building")
			}
		})
	}
}

// TestNext covers what the generator does not write.
func TestNext(t *testing.T) {
	const stream = `10 100
A 7 20 10 5
P ask
Q 0 5 6
N
N
N
Q 5 5 5
E 5 5 5
T 25
T 101
D 15 10 6
M 0 100
R 7
R 7
`
	for _, impl := range []string{"planner", "flat"} {
		name := filepath.Join(t.TempDir(), "answers")
		in := filepath.Join(t.TempDir(), "stream")
		if err := os.WriteFile(in, []byte(stream), 0o600); err != nil {
			t.Fatal(err)
		}
		o := options{impls: []string{impl}, answers: name, repeat: 2, group: 4}
		if err := o.file(io.Discard, in); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := "1 0 30 -1 -1 20 5 5 -1 0 5 1 0"; strings.Join(strings.Fields(string(got)), " ") != want {
			t.Errorf("%s answers %q, want %q", impl, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{"", "10", "10 x", "10 100\nA 1 2 3", "10 100\nX 1", "10 100\nT y", "10 100\n\n"} {
		if st, err := parse(strings.NewReader(in)); err == nil {
			t.Errorf("the stream %q is read as %+v, want an error", in, st)
		}
	}
}
