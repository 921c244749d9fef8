package main

import (
	"bytes"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// readLoadLines reads standard input, a load a line. Empty lines say nothing; no
// load at all is refused, because a program that died is a likelier cause of it
// than a cluster without nodes.
func (r *runner) readLoadLines() ([]nodeLoad, *infile.Text, error) {
	f, err := r.readText("-")
	if err != nil {
		return nil, nil, err
	}
	loads, err := parseLoads(&f)
	return loads, &f, err
}

func parseLoads(f *infile.Text) ([]nodeLoad, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if err := f.CheckLines(); err != nil {
		return nil, err
	}
	var loads []nodeLoad
	at := 0
	for line := range bytes.Lines(f.Data) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			l, err := parseLoad(f, string(text), at+bytes.Index(line, text))
			if err != nil {
				return nil, err
			}
			loads = append(loads, l)
		}
		at += len(line)
	}
	if len(loads) == 0 {
		return nil, f.Errorf(0, "there are no loads; write a line such as n1 0.5 for each node")
	}
	return loads, nil
}

// parseLoad understands a line, which begins at at.
func parseLoad(f *infile.Text, line string, at int) (nodeLoad, error) {
	names, value, ok := strings.Cut(line, "=")
	if words := strings.Fields(line); !ok && len(words) == 2 {
		names, value, ok = words[0], words[1], true
	}
	names, value = strings.TrimSpace(names), strings.TrimSpace(value)
	if !ok || names == "" {
		return nodeLoad{}, f.Errorf(at, "the line is not NAME LOAD, such as n1 0.5")
	}
	load, err := loadMeasure.read(value)
	if err != nil {
		return nodeLoad{}, f.Errorf(at+len(line)-len(value), "load: %w", err)
	}
	return nodeLoad{names, load, at}, nil
}
