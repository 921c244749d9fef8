package nodefile

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// What other tools print that describes nodes.
const (
	fromPBS   = "pbsnodes -av -F json"
	fromSlurm = "scontrol show nodes --json"
	fromFlux  = "Flux (R or JGF)"
)

// foreigners are the members of the first object that tell whose output it is; name
// is in ours.
var foreigners = []struct {
	member string
	object bool // its value has to be an object; any will do otherwise
	tool   string
}{
	{"name", false, ""},
	{"nodes", true, fromPBS},
	{"nodes", false, fromSlurm},
	{"execution", true, fromFlux},
	{"graph", true, fromFlux},
}

// refuseForeign recognises what other tools print, so that it is not taken for
// a faulty file of our own.
func (f *File) refuseForeign() error {
	if tool := f.foreign(); tool != "" {
		return fmt.Errorf("%s: this is the output of %s, which cannot be imported; turn it into CSV or JSON, which placectl help node import describes", f.Name, tool)
	}
	return nil
}

// foreign tells by the members of the first object whose output this is, "" for
// ours. It looks no further than the first member that decides.
func (f *File) foreign() string {
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return ""
	}
	for {
		tok, err := dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return ""
		}
		at := infile.SkipBlanks(f.Data, int(dec.InputOffset()))
		at = infile.SkipBlanks(f.Data, min(at+1, len(f.Data))) // past the colon
		opens := at < len(f.Data) && f.Data[at] == '{'
		for _, known := range foreigners {
			if key == known.member && (opens || !known.object) {
				return known.tool
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
}
