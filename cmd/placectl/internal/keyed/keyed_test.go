package keyed

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"pgregory.net/rapid"
)

// TestRequestBytes: requests are equal as bytes only if they ask for the same. The order of different flags
// does not count, everything else does.
func TestRequestBytes(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "ab", "a=b", "--x=1", "--x=2", "--y"}), 0, 3)
	request := rapid.Custom(func(t *rapid.T) Request {
		q := Request{Verb: rapid.SampledFrom([]string{"", "a", "node import"}).Draw(t, "verb"),
			Flags: words.Draw(t, "flags"),
			Args:  words.Draw(t, "args"), Dash: rapid.IntRange(-1, 1).Draw(t, "dash"), Inputs: new(Inputs)}
		for _, text := range words.Draw(t, "inputs") {
			q.Inputs.Add(text)
		}
		return q
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := request.Draw(t, "a"), request.Draw(t, "b")
		byName := func(flags []string) []string {
			return slices.SortedStableFunc(slices.Values(flags), func(a, b string) int {
				return strings.Compare(nameOf(a), nameOf(b))
			})
		}
		same := a.Verb == b.Verb && slices.Equal(byName(a.Flags), byName(b.Flags)) && slices.Equal(a.Args, b.Args) &&
			a.Dash == b.Dash && bytes.Equal(a.Inputs.sums, b.Inputs.sums)
		if got := bytes.Equal(a.Encode(), b.Encode()); got != same {
			t.Fatalf("%+v and %+v: equal bytes %t, equal requests %t", a, b, got, same)
		}
	})
}

func nameOf(flag string) string { name, _, _ := strings.Cut(flag, "="); return name }

// TestInputs: what is read through Inputs counts like text that is added, once, however often the input is
// closed.
func TestInputs(t *testing.T) {
	var read, added Inputs
	in := read.Reader(io.NopCloser(strings.NewReader("nodes")))
	if b, err := io.ReadAll(in); err != nil || string(b) != "nodes" {
		t.Fatalf("Reader reads %q, %v, want nodes", b, err)
	}
	in.Close()
	in.Close()
	if added.Add("nodes"); !bytes.Equal(read.sums, added.sums) {
		t.Errorf("an input read has the hashes %x, added as text %x", read.sums, added.sums)
	}
}

// printed is an audience that records all parts of an answer.
type printed struct{ strings.Builder }

func (p *printed) Rows(rows *output.Recording) error { p.WriteString("rows\n"); return nil }
func (p *printed) Lines(lines []Part) error {
	for _, line := range lines {
		p.WriteString("line: ")
		if err := line.Line.Print(p, output.Table); err != nil {
			return err
		}
	}
	return nil
}
func (p *printed) Failed(part Part) error { return errors.New(part.Failed) }
func (p *printed) Note(note Part)         { p.WriteString("note " + note.Note + "\n") }

// TestRecording: a stored recording is printed as it was recorded, with only the parts of the requested form.
func TestRecording(t *testing.T) {
	rec, line := new(Recording), new(Recording)
	io.WriteString(line, "one\n")
	rec.Add(Part{Note: "first"})
	rec.Add(Part{Line: line})
	rec.Answer(output.Options{}, output.Result{}).Close()
	rec.InForms(func(f output.Format) bool { return f == output.JSON }, func() error {
		_, err := io.WriteString(rec, "json alone\n")
		return err
	})
	kept, err := rec.Launched(Part{}, io.ErrUnexpectedEOF).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if rec, err = Decode(kept); err != nil {
		t.Fatal(err)
	}
	const all = "note first\nrows\n"
	for form, want := range map[output.Format]string{output.Table: all + "line: one\n",
		output.JSON: all + "json alone\nline: one\n"} {
		p := new(printed)
		if err := rec.Print(p, form); err == nil || err.Error() != io.ErrUnexpectedEOF.Error() {
			t.Errorf("Print returns %v, want the recorded error", err)
		}
		if p.String() != want {
			t.Errorf("Print as %v writes %q, want %q", form, p.String(), want)
		}
	}
}
