package main

import (
	"bytes"
	"fmt"
	"strings"
)

// readLoadLines reads standard input, a load a line. Empty lines say nothing; no
// load at all is refused, because a program that died is a likelier cause of it
// than a cluster without nodes.
func (r *runner) readLoadLines() ([]nodeLoad, *textFile, error) {
	in, err := r.input("-")
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	data, err := readAllCapped(in)
	if err != nil {
		return nil, nil, err
	}
	f := newTextFile(shownFile("-"), data)
	loads, err := f.parseLoads()
	return loads, &f, err
}

func (f *textFile) parseLoads() ([]nodeLoad, error) {
	if err := f.checkText(); err != nil {
		return nil, err
	}
	if err := f.checkLines(); err != nil {
		return nil, err
	}
	var loads []nodeLoad
	at := 0
	for line := range bytes.Lines(f.data) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			l, err := f.parseLoad(string(text), at+bytes.Index(line, text))
			if err != nil {
				return nil, err
			}
			loads = append(loads, l)
		}
		at += len(line)
	}
	if len(loads) == 0 {
		return nil, f.errAt(0, "there are no loads; write a line such as n1 0.5 for each node")
	}
	return loads, nil
}

// parseLoad understands a line, which begins at at.
func (f *textFile) parseLoad(line string, at int) (nodeLoad, error) {
	names, value, ok := strings.Cut(line, "=")
	if words := strings.Fields(line); !ok && len(words) == 2 {
		names, value, ok = words[0], words[1], true
	}
	names, value = strings.TrimSpace(names), strings.TrimSpace(value)
	if !ok || names == "" {
		return nodeLoad{}, f.errAt(at, "the line is not NAME LOAD, such as n1 0.5")
	}
	load, err := loadMeasure.read(value)
	if err != nil {
		return nodeLoad{}, f.errAt(at+len(line)-len(value), "load: %w", err)
	}
	return nodeLoad{names, load, at}, nil
}

// placed adds to an error of the store where in the file its cause is. The
// error keeps its kind: a node that is not there is no malformed line.
func (f *textFile) placed(at int, err error) error {
	if f == nil {
		return err
	}
	line, col := f.position(at)
	return fmt.Errorf("%s, line %d, column %d: %w", f.name, line, col, err)
}
