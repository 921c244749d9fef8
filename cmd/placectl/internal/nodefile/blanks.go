package nodefile

import (
	"bytes"
	"io"
	"strings"
)

// blankRows are rows of words separated by blanks. The last word takes the rest of the line.
type blankRows struct {
	data    []byte
	columns int
	offset  int // bytes read
	line    int // the last line read
	cells   []blankCell
}

// blankCell is a word of a line.
type blankCell struct {
	text string
	at   int // its place in the line
}

// blankCells splits a line into at most most words.
func blankCells(line string, most int) (cells []blankCell) {
	line = strings.TrimRight(line, " \t\r\n")
	for at := 0; len(cells) < most; {
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
		if at >= len(line) {
			break
		}
		end := strings.IndexAny(line[at:], " \t")
		if end < 0 || len(cells) == most-1 {
			end = len(line) - at
		}
		cells = append(cells, blankCell{line[at : at+end], at})
		at += end
	}
	return cells
}

// Read returns the words of the next line that is not empty.
func (b *blankRows) Read() ([]string, error) {
	for b.offset < len(b.data) {
		line, _, _ := bytes.Cut(b.data[b.offset:], []byte{'\n'})
		b.offset = min(b.offset+len(line)+1, len(b.data))
		b.line++
		if b.cells = blankCells(string(line), b.columns); len(b.cells) > 0 {
			out := make([]string, len(b.cells))
			for i, c := range b.cells {
				out[i] = c.text
			}
			return out, nil
		}
	}
	return nil, io.EOF
}

// FieldPos returns the place of a word of the last line.
func (b *blankRows) FieldPos(i int) (line, column int) { return b.line, b.cells[i].at + 1 }

// InputOffset returns the number of bytes read.
func (b *blankRows) InputOffset() int64 { return int64(b.offset) }
