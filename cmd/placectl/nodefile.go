package main

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// A node file lists nodes as CSV or as JSON. It is read whole and understood to
// the end before anything is changed, so that an import can be all or nothing
// without the database being held while a pipe is slow. Every error says line
// and column.

// maxNodes bounds the nodes of a file.
const maxNodes = 1_000_000

// nodeFile is a node file that is being read, and then what it says.
type nodeFile struct {
	infile.Text
	defs     *index.Defs
	units    *sizeUnits
	nodes    []nodePatch
	byName   map[string]int  // positions in nodes
	computed map[string]bool // columns met that are worked out and not given
}

// parseNodeFile reads a node file. format is auto, csv or json.
func parseNodeFile(text infile.Text, format string, defs *index.Defs, units *sizeUnits) (*nodeFile, error) {
	f := &nodeFile{Text: text, defs: defs, units: units,
		byName: make(map[string]int), computed: make(map[string]bool)}
	if err := f.Check(); err != nil {
		return nil, err
	}
	if format == "auto" {
		format = f.detect()
	}
	if format == "csv" {
		return f, f.parseCSV()
	}
	if err := f.refuseForeign(); err != nil {
		return nil, err
	}
	return f, f.parseJSON()
}

// detect tells JSON from CSV by the first character.
func (f *nodeFile) detect() string {
	if i := infile.SkipBlanks(f.Data, 0); i < len(f.Data) && (f.Data[i] == '{' || f.Data[i] == '[') {
		return "json"
	}
	return "csv"
}

// ownListing is the column that shows that a file was printed by `node list`: no
// other has it. Its sizes are in bytes.
const ownListing = "bucket"

// add takes a node that has been read.
func (f *nodeFile) add(p nodePatch) error {
	if first, ok := f.byName[p.Name]; ok {
		return f.Errorf(p.at, "the node %s is in the file already, at line %d", p.Name, f.At(f.nodes[first].at).Line)
	}
	if len(f.nodes) == maxNodes {
		return f.Errorf(p.at, "more than %d nodes; import them from several files", maxNodes)
	}
	f.byName[p.Name] = len(f.nodes)
	f.nodes = append(f.nodes, p)
	return nil
}

// checkNodeName says what a node may not be called.
func checkNodeName(s string) error {
	if index.ValidNodeName(s) {
		return nil
	}
	return fmt.Errorf("name: %s cannot name a node: at most 255 printable ASCII characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", spell.Quoted(s))
}
