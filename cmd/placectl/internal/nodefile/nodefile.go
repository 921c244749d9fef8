// Package nodefile reads descriptions of nodes: node files in CSV, JSON and the formats of other tools,
// key=value words, lines of loads, and machine files. A file is read and understood to its end before
// anything changes. So an import is all or nothing, and a slow pipe does not hold the database. Every
// error has a line and a column. The package knows no verbs and no store. It returns nodes of package
// index, given the declared resources.
package nodefile

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// maxNodes bounds the number of nodes in a file.
const maxNodes = 1_000_000

// File is a node file while it is read, and then its content.
type File struct {
	infile.Text
	Base     *index.Defs // the resources declared before
	Defs     *index.Defs // these, and those that the file needs besides
	Made     []index.Def // only the latter
	Nodes    []Patch
	Computed map[string]bool // columns of the file that are computed and cannot be set
	Unmapped []*Unmapped     // fields of another tool that are not imported
	opt      Options
	byName   map[string]int  // positions in Nodes
	seen     map[string]bool // fields of another tool, or columns, in the file
	met      map[string]bool // the mapped or skipped ones
}

// readers are the formats of node files.
var readers = []struct {
	format string
	parse  func(*File) error
}{
	{"csv", (*File).parseCSV},
	{"json", (*File).parseJSON},
	{"pbs", (*File).parsePBS},
	{"slurm", (*File).parseSlurm},
}

// Formats lists the names of formats, auto first.
func Formats() []string {
	words := []string{"auto"}
	for _, r := range readers {
		words = append(words, r.format)
	}
	return words
}

// Parse reads a node file. In our own formats an undeclared resource is an error. In those of other
// tools it is declared with a type that fits its values. An error in the file is an *infile.Error. If
// the file is not in the requested format, it is another error.
func Parse(in infile.Text, defs *index.Defs, opt Options) (*File, error) {
	f := &File{Text: in, Base: defs, Defs: defs, opt: opt, byName: make(map[string]int),
		Computed: make(map[string]bool),
		seen:     make(map[string]bool), met: make(map[string]bool)}
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
			return nil, f.Errorf(0, "--map and --skip do not apply to placectl's own JSON")
		}
		if format == "slurm" && slurmOther().Match(f.Data) {
			return nil, f.Errorf(0, "this is a table of sinfo or a gres.conf, which do not say all about nodes: "+
				"import the output of scontrol show nodes")
		}
		if format == "slurm" && slurmConf().Match(f.Data) {
			return nil, f.Errorf(0, "this is a slurm.conf, which says nothing of the nodes' state: where Slurm runs, "+
				"write the output of scontrol show nodes into a file, and import that")
		}
		if err := r.parse(f); err != nil {
			return nil, err
		}
		return f, f.unmet()
	}
	return nil, text.NotOneOf(format, Formats())
}

// ownListing is a column that only `node list` prints. Sizes in its output are in bytes.
const ownListing = "bucket"

// add adds a node.
func (f *File) add(p Patch) error {
	if first, ok := f.byName[p.Name]; ok {
		return f.Errorf(p.At, "the node %s is already in the file, at line %d", p.Name, f.At(f.Nodes[first].At).Line)
	}
	if len(f.Nodes) == maxNodes {
		return f.Errorf(p.At, "more than %d nodes; import them from several files", maxNodes)
	}
	f.byName[p.Name] = len(f.Nodes)
	f.Nodes = append(f.Nodes, p)
	return nil
}

// addEach adds a node for each name that the patch's stands for, such as n[1-3],n7. A single number in brackets is part
// of the name, as of a vnode of PBS.
func (f *File) addEach(p Patch) error {
	names := []string{p.Name}
	if _, _, part := Part(p.Name); strings.ContainsAny(p.Name, "[,") && !part {
		var err error
		if names, err = index.ExpandNodeList(p.Name); err != nil {
			return fmt.Errorf("name: %w", err)
		}
	}
	for _, name := range names {
		p.Name = name
		if err := CheckName(name); err != nil {
			return err
		}
		if err := f.add(p); err != nil {
			return err
		}
	}
	return nil
}

// aPart matches an item of a node list that ends in a single number in brackets.
var aPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^[",]*)\[([0-9]+)\]$`) })

// Part splits g1[0], which PBS means as a part of the node g1, and which is g10 as a node list.
func Part(item string) (node, number string, is bool) {
	m := aPart().FindStringSubmatch(item)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// Names reports whether the file has a node of this name.
func (f *File) Names(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// CheckName refuses an invalid name of a node.
func CheckName(s string) error {
	switch {
	case s == index.EveryNode:
		return fmt.Errorf("name: %s means every node, so no node has this name", s)
	case index.ValidNodeName(s):
		return nil
	}
	return fmt.Errorf("name: %s cannot name a node: at most 255 printable ASCII characters, without blanks, commas, "+
		"quotes and ()+:=*?\\$;&|<>#", text.Quoted(s))
}
