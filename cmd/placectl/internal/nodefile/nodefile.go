// Package nodefile reads what describes nodes: files of nodes as CSV or as JSON, and as other
// tools print them (a reader a file, and one table of them all), key=value words, lines of
// loads and files of machines. A file is read whole and
// understood to the end before anything is changed, so that an import can be all or
// nothing without the database being held while a pipe is slow. Every error says line
// and column. It knows no verb and no store: what it reads are nodes of package index,
// given the resources that are declared.
package nodefile

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// maxNodes bounds the nodes of a file.
const maxNodes = 1_000_000

// File is a node file that is being read, and then what it says.
type File struct {
	infile.Text
	Base     *index.Defs // the resources that were declared before
	Defs     *index.Defs // those, and what the file needs besides
	Made     []index.Def // of them those that the file needs besides
	Nodes    []Patch
	Computed map[string]bool // columns met that are worked out and not given
	Unmapped []*Unmapped     // fields of another tool that are not imported
	opt      Options
	byName   map[string]int  // positions in Nodes
	seen     map[string]bool // fields of another tool, or columns, that were met
	met      map[string]bool // of them those that are mapped or skipped
}

// readers are the forms that a node file may have.
var readers = []struct {
	format string
	parse  func(*File) error
}{
	{"csv", (*File).parseCSV},
	{"json", (*File).parseJSON},
	{"pbs", (*File).parsePBS},
	{"slurm", (*File).parseSlurm},
}

// Formats are the words for the format of a file: auto, and those there are.
func Formats() []string {
	words := []string{"auto"}
	for _, r := range readers {
		words = append(words, r.format)
	}
	return words
}

// Parse reads a node file, with the resources that are declared. Of files of ours a resource
// that is not declared is an error; what other tools say makes it, with the type that its
// values show. What is wrong with the file is an *infile.Error; that it is another tool's
// than the format says is another error.
func Parse(in infile.Text, defs *index.Defs, opt Options) (*File, error) {
	f := &File{Text: in, Base: defs, Defs: defs, opt: opt, byName: make(map[string]int), Computed: make(map[string]bool),
		seen: make(map[string]bool), met: make(map[string]bool)}
	if f.opt.Units == nil {
		f.opt.Units = new(Units)
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	format := opt.Format
	if format == "" || format == "auto" {
		format = f.detect()
	}
	for _, r := range readers {
		if r.format != format {
			continue
		}
		if format == "json" && len(opt.Columns) > 0 {
			return nil, f.Errorf(0, "--map and --skip are not for JSON of ours, whose fields have our names")
		}
		if err := r.parse(f); err != nil {
			return nil, err
		}
		return f, f.unmet()
	}
	return nil, text.NotOneOf(format, Formats())
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

// Names reports whether the file has a node of a name.
func (f *File) Names(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// CheckName says what a node may not be called.
func CheckName(s string) error {
	if index.ValidNodeName(s) {
		return nil
	}
	return fmt.Errorf("name: %s cannot name a node: at most 255 printable ASCII characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", text.Quoted(s))
}
