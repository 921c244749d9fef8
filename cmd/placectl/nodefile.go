package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// A node file lists nodes as CSV or as JSON. It is read whole and understood to
// the end before anything is changed, so that an import can be all or nothing
// without the database being held while a pipe is slow. Every error says line
// and column.

// Bounds of node files.
const (
	maxNodeFile = 1 << 30   // bytes of a file
	maxNodeText = 1 << 20   // bytes of a line of CSV, or of a node in JSON
	maxNodes    = 1_000_000 // nodes of a file
)

// nodeFile is a node file that is being read, and then what it says.
type nodeFile struct {
	name     string // for messages
	data     []byte
	defs     *index.Defs
	nodes    []nodePatch
	byName   map[string]int  // positions in nodes
	computed map[string]bool // columns met that are worked out and not given
}

// fileError says what is wrong in a file, and where.
type fileError struct {
	file      string
	line, col int // from 1; col counts characters
	err       error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("%s, line %d, column %d: %v", e.file, e.line, e.col, e.err)
}

func (e *fileError) Unwrap() []error { return []error{errUsage, e.err} }

// parseNodeFile reads a node file. format is auto, csv or json.
func parseNodeFile(name string, data []byte, format string, defs *index.Defs) (*nodeFile, error) {
	f := &nodeFile{name: name, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), defs: defs,
		byName: make(map[string]int), computed: make(map[string]bool)}
	if err := f.checkText(); err != nil {
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

// readAllCapped reads to the end, and no more than a node file may have.
func readAllCapped(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxNodeFile+1))
	if err == nil && len(data) > maxNodeFile {
		err = fmt.Errorf("%w: the file has more than %d bytes", errUsage, maxNodeFile)
	}
	return data, err
}

// checkText refuses what is no text before anything looks closer.
func (f *nodeFile) checkText() error {
	if bytes.HasPrefix(f.data, []byte("\xff\xfe")) || bytes.HasPrefix(f.data, []byte("\xfe\xff")) {
		return f.errAt(0, "the file is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(f.data, 0); i >= 0 {
		return f.errAt(i, "a NUL byte: this is not a text file")
	}
	if !utf8.Valid(f.data) {
		at := 0
		for c, n := rune(0), 0; c != utf8.RuneError || n > 1; at += n {
			c, n = utf8.DecodeRune(f.data[at:])
			if c == utf8.RuneError && n <= 1 {
				break
			}
		}
		return f.errAt(at, "the byte 0x%02x is not UTF-8; save the file as UTF-8", f.data[at])
	}
	return nil
}

// detect tells JSON from CSV by the first character.
func (f *nodeFile) detect() string {
	if i := skipBlanks(f.data, 0); i < len(f.data) && (f.data[i] == '{' || f.data[i] == '[') {
		return "json"
	}
	return "csv"
}

func skipBlanks(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// add takes a node that has been read.
func (f *nodeFile) add(p nodePatch) error {
	if first, ok := f.byName[p.Name]; ok {
		line, _ := f.position(f.nodes[first].at)
		return f.errAt(p.at, "the node %s is in the file already, at line %d", p.Name, line)
	}
	if len(f.nodes) == maxNodes {
		return f.errAt(p.at, "more than %d nodes; import them from several files", maxNodes)
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
	return fmt.Errorf("name: %s cannot name a node: at most 255 printable ASCII characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", quoted(s))
}

// position is the line and column of an offset.
func (f *nodeFile) position(at int) (line, col int) {
	at = min(at, len(f.data))
	start := bytes.LastIndexByte(f.data[:at], '\n') + 1
	return 1 + bytes.Count(f.data[:start], []byte{'\n'}), 1 + utf8.RuneCount(f.data[start:at])
}

// errAt is an error at an offset.
func (f *nodeFile) errAt(at int, format string, args ...any) error {
	line, col := f.position(at)
	return &fileError{f.name, line, col, fmt.Errorf(format, args...)}
}
