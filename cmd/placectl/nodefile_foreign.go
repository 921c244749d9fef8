package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// foreignTools says whose output each format of --from is that cannot be read
// yet.
var foreignTools = map[string]string{
	"pbs":   "pbsnodes -av -F json",
	"slurm": "scontrol show nodes --json",
	"flux":  "Flux (R or JGF)",
}

// foreignError says that a format is known, and not read yet.
func foreignError(file, format string) error {
	return fmt.Errorf("%s: the output of %s (--from %s) cannot be imported yet; turn it into CSV or JSON, which placectl help node import describes",
		file, foreignTools[format], format)
}

// refuseForeign recognises what other tools print, so that it is not taken for
// a faulty file of our own.
func (f *nodeFile) refuseForeign() error {
	if format := f.foreign(); format != "" {
		return foreignError(f.name, format)
	}
	return nil
}

// foreign tells by the members of the first object whose format this is, "" for
// ours. It looks no further than the first member that decides.
func (f *nodeFile) foreign() string {
	dec := json.NewDecoder(bytes.NewReader(f.data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return ""
	}
	for {
		tok, err := dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return ""
		}
		at := skipBlanks(f.data, int(dec.InputOffset()))
		at = skipBlanks(f.data, min(at+1, len(f.data))) // past the colon
		switch opens := at < len(f.data) && f.data[at] == '{'; {
		case key == "name":
			return ""
		case key == "nodes" && opens:
			return "pbs"
		case key == "nodes":
			return "slurm"
		case key == "execution" && opens, key == "graph" && opens:
			return "flux"
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
}
