package nodefile

import (
	"bytes"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// Load is the load of nodes, as given.
type Load struct {
	Names string // a node list
	Load  float64
	At    int // offset of its line
}

// ParseLoads reads one load per line, and skips empty lines. It refuses a file without loads, because a
// program that died is a likelier cause than a cluster without nodes.
func ParseLoads(f *infile.Text) ([]Load, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if err := f.CheckLines(); err != nil {
		return nil, err
	}
	var loads []Load
	at := 0
	for line := range bytes.Lines(f.Data) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			l, err := parseLoadLine(f, string(text), at+bytes.Index(line, text))
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

// parseLoadLine reads the line at an offset.
func parseLoadLine(f *infile.Text, line string, at int) (Load, error) {
	names, value, ok := strings.Cut(line, "=")
	if words := strings.Fields(line); !ok && len(words) == 2 {
		names, value, ok = words[0], words[1], true
	}
	names, value = strings.TrimSpace(names), strings.TrimSpace(value)
	if !ok || names == "" {
		return Load{}, f.Errorf(at, "the line must be NAME LOAD, such as n1 0.5")
	}
	load, err := ParseLoad(value)
	if err != nil {
		return Load{}, f.Errorf(at+len(line)-len(value), "load: %w", err)
	}
	return Load{names, load, at}, nil
}

// ParseLoad reads the number of busy processors.
func ParseLoad(s string) (float64, error) { return loadMeasure.read(s) }
