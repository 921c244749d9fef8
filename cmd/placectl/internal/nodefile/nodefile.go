// Package nodefile reads what describes nodes: files of nodes as CSV or as JSON,
// key=value words, lines of loads and files of machines. A file is read whole and
// understood to the end before anything is changed, so that an import can be all or
// nothing without the database being held while a pipe is slow. Every error says line
// and column. It knows no verb and no store: what it reads are nodes of package index,
// given the resources that are declared.
package nodefile

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// maxNodes bounds the nodes of a file.
const maxNodes = 1_000_000

// File is a node file that is being read, and then what it says.
type File struct {
	infile.Text
	Defs     *index.Defs // the resources that it was read with
	Nodes    []Patch
	Computed map[string]bool // columns met that are worked out and not given
	units    *Units
	byName   map[string]int // positions in Nodes
}

// readers are the forms that a node file may have.
var readers = []struct {
	format string
	parse  func(*File) error
	begins string // the characters by which auto knows it; the first takes the rest
}{
	{"csv", (*File).parseCSV, ""},
	{"json", (*File).parseJSON, "{["},
}

// Formats are the words for the format of a file: auto, and those there are.
func Formats() []string {
	words := []string{"auto"}
	for _, r := range readers {
		words = append(words, r.format)
	}
	return words
}

// Parse reads a node file, with the resources that are declared. The format is one
// of Formats; auto goes by how it begins. What is wrong with it is an *infile.Error;
// that it is another tool's is another error.
func Parse(text infile.Text, format string, defs *index.Defs, units *Units) (*File, error) {
	f := &File{Text: text, Defs: defs, units: units, byName: make(map[string]int), Computed: make(map[string]bool)}
	if err := f.Check(); err != nil {
		return nil, err
	}
	if format == "auto" {
		format = f.detect()
	}
	for _, r := range readers {
		if r.format == format {
			return f, r.parse(f)
		}
	}
	return nil, spell.NotOneOf(format, Formats())
}

// detect knows the format by the first character.
func (f *File) detect() string {
	if i := infile.SkipBlanks(f.Data, 0); i < len(f.Data) {
		for _, r := range readers {
			if strings.IndexByte(r.begins, f.Data[i]) >= 0 {
				return r.format
			}
		}
	}
	return readers[0].format
}

// ownListing is the column that shows that a file was printed by `node list`: no
// other has it. Its sizes are in bytes.
const ownListing = "bucket"

// add takes a node that has been read.
func (f *File) add(p Patch) error {
	if first, ok := f.byName[p.Name]; ok {
		return f.Errorf(p.At, "the node %s is in the file already, at line %d", p.Name, f.At(f.Nodes[first].At).Line)
	}
	if len(f.Nodes) == maxNodes {
		return f.Errorf(p.At, "more than %d nodes; import them from several files", maxNodes)
	}
	f.byName[p.Name] = len(f.Nodes)
	f.Nodes = append(f.Nodes, p)
	return nil
}

// CheckName says what a node may not be called.
func CheckName(s string) error {
	if index.ValidNodeName(s) {
		return nil
	}
	return fmt.Errorf("name: %s cannot name a node: at most 255 printable ASCII characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", spell.Quoted(s))
}
