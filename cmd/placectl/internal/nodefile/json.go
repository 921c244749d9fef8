package nodefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/internal/text"
)

// jsonNodes reads a node file in JSON: an array of objects, or one object after the other.
type jsonNodes struct {
	*File
	dec      *json.Decoder
	shift    int   // where the decoder began
	at       int   // where the last token begins
	nameAt   int   // where the node's name is
	own      bool  // the node has a column that only our lists have
	unitless error // the first size of the node without a unit
}

func (f *File) parseJSON() error {
	if from := f.foreignJSON(); from != "" {
		return fmt.Errorf("%s: this is %s; import it with --from %s", f.Name, fromWords[from], from)
	}
	j := jsonNodes{File: f, dec: json.NewDecoder(bytes.NewReader(f.Data))}
	j.dec.UseNumber() // 2 and "2" are read alike, and no digit is lost
	tok, err := j.token()
	if err == io.EOF {
		return f.Errorf(0, "the file is empty; write an array of nodes, or one node per line")
	}
	if err != nil {
		return err
	}
	if tok == json.Delim('[') {
		return j.array()
	}
	for {
		if err := j.node(tok); err != nil {
			return err
		}
		if tok, err = j.token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// array reads nodes to the end of the array, which must be the end of the file.
func (j *jsonNodes) array() error {
	for {
		tok, err := j.inside()
		if err != nil {
			return err
		}
		if tok == json.Delim(']') {
			break
		}
		if err := j.node(tok); err != nil {
			return err
		}
	}
	switch _, err := j.token(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	return j.Errorf(j.at, "something follows the end of the array")
}

// token reads the next token and notes where it begins. It returns io.EOF only between values.
func (j *jsonNodes) token() (json.Token, error) {
	j.at = j.shift + int(j.dec.InputOffset())
	for j.at = infile.SkipBlanks(j.Data, j.at); j.at < len(j.Data) && (j.Data[j.at] == ',' || j.Data[j.at] == ':'); {
		j.at = infile.SkipBlanks(j.Data, j.at+1)
	}
	tok, err := j.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil || err == io.EOF:
		return tok, err
	case errors.Is(err, io.ErrUnexpectedEOF) || j.at >= len(j.Data):
		return nil, j.cutOff()
	case errors.As(err, &syntax):
		return nil, j.Errorf(j.at, "this is not JSON: %s", syntax.Error())
	}
	return nil, j.Errorf(j.at, "this is not JSON: %w", err)
}

func (j *jsonNodes) cutOff() error {
	return j.Errorf(len(j.Data), "the file ends in the middle of its JSON; it may have been cut off")
}

// inside is token, except that the file must not end here.
func (j *jsonNodes) inside() (json.Token, error) {
	tok, err := j.token()
	if err == io.EOF {
		err = j.cutOff()
	}
	return tok, err
}

const jsonNodeHelp = `a node is an object such as {"name":"n1","resources":{"ncpus":8}}`

// node reads one node, whose first token is tok.
func (j *jsonNodes) node(tok json.Token) error {
	if tok != json.Delim('{') {
		return j.Errorf(j.at, "%s where a node belongs; %s", describeToken(tok), jsonNodeHelp)
	}
	p := Patch{At: j.at}
	j.own, j.unitless = false, nil
	if err := j.members(&p, true); err != nil {
		return err
	}
	if p.Name == "" {
		return j.Errorf(p.At, "the node has no name; %s", jsonNodeHelp)
	}
	if j.unitless != nil && !j.own {
		return j.unitless
	}
	if n := int(j.dec.InputOffset()) - p.At; n > infile.MaxLine {
		return j.Errorf(p.At, "the node has %d bytes; at most %d are read", n, infile.MaxLine)
	}
	err := j.addEach(p)
	var told *infile.Error
	if err != nil && !errors.As(err, &told) {
		err = j.Errorf(j.nameAt, "%w", err)
	}
	return err
}

// members reads the members of a node, or of its resources, up to the closing brace. Resources may be
// among the fields, as our lists print them.
func (j *jsonNodes) members(p *Patch, outer bool) error {
	var nested bool
	for {
		tok, err := j.inside()
		if err != nil {
			return err
		}
		word, ok := tok.(string)
		if !ok {
			return nil // the closing brace: the decoder allows nothing else
		}
		if !outer || word != "resources" {
			if err := j.member(p, word, outer); err != nil {
				return err
			}
			continue
		}
		at := j.at
		if tok, err = j.inside(); err != nil {
			return err
		}
		switch {
		case nested:
			return j.Errorf(at, "resources appears twice")
		case tok != json.Delim('{'):
			return j.Errorf(j.at, `resources: %s where an object such as {"ncpus":8} belongs`, describeToken(tok))
		}
		nested = true
		if err := j.members(p, false); err != nil {
			return err
		}
	}
}

// member reads one value into the patch.
func (j *jsonNodes) member(p *Patch, word string, outer bool) error {
	at := j.at
	v, err := j.valueOf(word, outer)
	if err != nil {
		return err
	}
	k, err := findKey(j.Defs, word, v.text)
	switch {
	case err != nil:
		return j.Errorf(at, "%w", err)
	case k.computed:
		j.Computed[k.name] = true
		j.own = j.own || k.name == ownListing
		return nil
	case !outer && (k.isName || k.devices || k.field >= 0):
		return j.Errorf(at, "%s is a field of the node, not one of its resources", k.name)
	case k.isName && p.Name != "" || !k.isName && p.has(k):
		return j.Errorf(at, "%s is there twice", k.name)
	case v.list && !k.takesList():
		return j.Errorf(v.at, "%s: a list where one value belongs", k.name)
	}
	if k.isName {
		p.Name, j.nameAt = v.text, v.at
		return nil
	}
	if err := j.set(p, k, v); err != nil {
		return j.Errorf(v.at, "%w", err)
	}
	return nil
}

// set reads a value into the patch. Only at the node's end is it clear whether the file is one of our
// lists, which have sizes in bytes.
func (j *jsonNodes) set(p *Patch, k key, v jsonValue) error {
	text, err := j.opt.Units.complete(k, k.unlisted(v.text))
	if err != nil && j.unitless == nil {
		j.unitless = j.Errorf(v.at, "%s: %w", k.name, err)
	}
	if err = p.set(j.Defs, k, text); err != nil {
		err = fmt.Errorf("%s: %w", k.name, err)
	}
	return err
}

// jsonValue is a value as the text that it would be in CSV; null is "".
type jsonValue struct {
	text string
	list bool
	at   int
}

// valueOf reads the value of a member. Only devices are an object.
func (j *jsonNodes) valueOf(word string, outer bool) (jsonValue, error) {
	if !outer || word != "devices" {
		return j.value()
	}
	v := jsonValue{at: infile.SkipBlanks(j.Data, int(j.dec.InputOffset()))}
	v.at = infile.SkipBlanks(j.Data, min(v.at+1, len(j.Data))) // after the colon
	var raw json.RawMessage
	if err := j.dec.Decode(&raw); err != nil {
		return v, j.Errorf(v.at, "this is not JSON: %w", err)
	}
	var text string
	switch {
	case string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
		v.text = text
	case raw[0] == '{':
		v.text = string(raw)
	default:
		return v, j.Errorf(v.at, `devices: an object such as {"ngpus":[{"id":0,"group":0}]} belongs here`)
	}
	return v, nil
}

func (j *jsonNodes) value() (jsonValue, error) {
	tok, err := j.inside()
	v := jsonValue{at: j.at}
	if err != nil {
		return v, err
	}
	if tok != json.Delim('[') {
		v.text, err = j.scalar(tok)
		return v, err
	}
	v.list = true
	var members []string
	for {
		tok, err := j.inside()
		if err != nil {
			return v, err
		}
		if tok == json.Delim(']') {
			v.text = strings.Join(members, ",")
			return v, nil
		}
		words, err := j.scalar(tok)
		if err != nil {
			return v, err
		}
		if strings.Contains(words, ",") {
			return v, j.Errorf(j.at, "%s has a comma, which separates the members of lists", text.Quoted(words))
		}
		members = append(members, words)
	}
}

// scalar returns the text of a value that is not a list.
func (j *jsonNodes) scalar(tok json.Token) (string, error) {
	switch tok := tok.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(tok), nil
	case bool:
		return strconv.FormatBool(tok), nil
	case json.Number:
		return plainNumber(tok.String()), nil
	}
	return "", j.Errorf(j.at, "%s where a number, a string or a boolean belongs", describeToken(tok))
}

// plainNumber writes 1e3 as 1000, because values have no exponents.
func plainNumber(s string) string {
	if !strings.ContainsAny(s, "eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func describeToken(tok json.Token) string {
	switch tok := tok.(type) {
	case nil:
		return "null"
	case string:
		return "the string " + text.Quoted(tok)
	case bool:
		return strconv.FormatBool(tok)
	case json.Number:
		return "the number " + tok.String()
	case json.Delim:
		if tok == '[' {
			return "a list"
		}
		return "an object"
	}
	return "something else"
}
