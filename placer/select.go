package placer

import (
	"math"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax"
)

// ParseSelect reads a select: chunks joined by +. Each chunk is a count, resources name=value, or
// both, joined by colons: "2:ncpus=4:mem=8gb+1:ngpus=1". Quotes of either kind protect their
// contents. Spaces are allowed only in front. The error is a *syntax.Error.
func ParseSelect(defs *index.Defs, s string) ([]Chunk, error) {
	p, err := newReader(defs, "select", s)
	if err != nil {
		return nil, err
	}
	return p.chunks()
}

// chunks reads a select up to the end of the part.
func (p *reader) chunks() ([]Chunk, error) {
	p.SkipSpace()
	start := p.At
	if p.At == p.End {
		return nil, p.Fail(p.At, "it is empty: expected chunks such as 2:ncpus=4:mem=8gb")
	}
	// All wants share one array, sized by the most that the text can hold.
	part := p.Text[p.At:p.End]
	chunks := make([]Chunk, 0, min(strings.Count(part, "+")+1, MaxChunks))
	p.wants = make([]Want, 0, strings.Count(part, "=")+cap(chunks))
	for {
		if len(chunks) == MaxChunks {
			return nil, p.Fail(p.At, "more than %d chunks", MaxChunks)
		}
		c, err := p.chunk()
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
		if p.At == p.End {
			return chunks, p.checkSums(start, chunks)
		}
		p.At++ // the + at which chunk stopped
	}
}

// chunk reads one chunk and stops at the end or at a +.
func (p *reader) chunk() (Chunk, error) {
	c := Chunk{Count: 1}
	from := len(p.wants)
	more := true
	if syntax.IsDigit(p.Peek()) {
		var err error
		if c.Count, err = p.count("a chunk"); err != nil {
			return c, err
		}
		if more = p.Peek() == ':'; more {
			p.At++
		} else if p.At < p.End && p.Text[p.At] != '+' {
			return c, p.Fail(p.At, "expected : and a resource, + and another chunk, or the end after the count %d",
				c.Count)
		}
	}
	for more {
		if err := p.want(from); err != nil {
			return c, err
		}
		if more = p.Peek() == ':'; more {
			p.At++
		}
	}
	if !names(p.wants[from:], index.NCPUs) {
		p.wants = append(p.wants, oneCPU)
		c.Implied = true
	}
	c.Wants = p.wants[from:len(p.wants):len(p.wants)]
	return c, nil
}

// want reads name=value and adds it to the chunk whose wants begin at from.
func (p *reader) want(from int) error {
	at := p.At
	name := p.Name()
	switch {
	case name == "":
		return p.Fail(at, "expected a resource such as ncpus=4")
	case p.Peek() != '=':
		return p.Fail(p.At, "expected = and a value after %s", name)
	}
	def, ok := p.Defs.Lookup(name)
	if !ok {
		return p.noResource(at, name)
	}
	p.At++
	valueAt := p.At
	text, err := p.value()
	if err != nil {
		return err
	}
	value, err := p.typed(def, valueAt, text)
	if err != nil {
		return err
	}
	p.wants, err = p.add(p.wants, from, def, value, at)
	return err
}

// add appends a want to those that begin at from. A resource may come only once. Features may come
// several times, but a repeated feature is dropped.
func (p *reader) add(wants []Want, from int, def index.Def, value index.Value, at int) ([]Want, error) {
	for _, w := range wants[from:] {
		if w.Res != def.ID {
			continue
		}
		if def.ID != index.Feature {
			return nil, p.Fail(at, "%s is named twice in one chunk", def.Name)
		}
		if w.Value == value {
			return wants, nil
		}
	}
	if len(wants)-from >= MaxWants {
		return nil, p.Fail(at, "more than %d resources in one chunk", MaxWants)
	}
	return append(wants, Want{Res: def.ID, Value: value}), nil
}

// typed reads a value by its resource's type.
func (p *reader) typed(def index.Def, at int, text string) (index.Value, error) {
	if text == "" {
		return index.Value{}, p.Fail(at, "%s needs a value", def.Name)
	}
	if def.Type == index.StringArray && strings.Contains(text, ",") {
		return index.Value{}, p.Fail(at, "%s asks for one member of a string_array, not for a list", def.Name)
	}
	value, err := def.ParseValue(text)
	if err != nil && isPart(def, text) {
		return index.Value{}, p.Fail(at, "%s: %v; for a part of a device ask for a slice of one: gslices=1 (placectl "+
			"node set NODE --device %s=0 --slices 4 cuts one)", def.Name, err, def.Name)
	}
	if err != nil {
		return index.Value{}, p.Fail(at, "%s: %v", def.Name, err)
	}
	if !def.Type.Numeric() && def.Type != index.Boolean && value.Str == "" {
		return index.Value{}, p.Fail(at, "%s needs a value", def.Name)
	}
	return value, nil
}

// isPart reports whether the text asks for a part of a device, such as half a GPU. The number of
// free devices does not tell whether one has that much left.
func isPart(def index.Def, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	return def.Type == index.Long && def.Consumable && def.ID != index.NCPUs && err == nil && f > 0 &&
		f != math.Trunc(f)
}

// checkSums refuses chunks whose totals overflow.
func (p *reader) checkSums(at int, chunks []Chunk) error {
	count := 0
	for _, c := range chunks {
		if count += c.Count; count > MaxCount {
			return p.Fail(at, "the counts add up to more than %d chunks", MaxCount)
		}
	}
	var room [8]Want
	if _, def, ok := sumChunks(room[:0], p.Defs, chunks); !ok {
		return p.Fail(at, "all chunks together ask for more %s than can be counted", def.Name)
	}
	return nil
}

func names(wants []Want, id index.ResID) bool {
	for _, w := range wants {
		if w.Res == id {
			return true
		}
	}
	return false
}

// value reads up to a : or + outside quotes, and removes the quotes. It allocates only if the value
// has quotes.
func (p *reader) value() (string, error) {
	var unquoted []byte
	from := p.At
	for p.At < p.End {
		c := p.Text[p.At]
		if c == ':' || c == '+' {
			break
		}
		if c == '"' || c == '\'' {
			unquoted = append(unquoted, p.Text[from:p.At]...)
			inside, err := p.Quoted(c)
			if err != nil {
				return "", err
			}
			unquoted, from = append(unquoted, inside...), p.At
			continue
		}
		if err := p.plain(c); err != nil {
			return "", err
		}
	}
	if unquoted == nil {
		return p.Text[from:p.At], nil
	}
	return string(append(unquoted, p.Text[from:p.At]...)), nil
}

// plain moves past one character of a value outside quotes.
func (p *reader) plain(c byte) error {
	switch c {
	case ' ':
		return p.Fail(p.At, "a space: nothing may follow it; a value that holds one needs quotes")
	case ',':
		return p.Fail(p.At, "a comma: the parts of a select are joined by : and +; a value that holds a comma "+
			"needs quotes")
	}
	return p.Step()
}
