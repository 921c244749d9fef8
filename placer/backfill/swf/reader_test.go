package swf

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `; Version: 2.2
; MaxProcs: 100
;; Note: the first
; Note: the second
; 2013: no label, or one that nobody asks for
;

 1 10 5 60 4 -1 -1 8 3600 1024 1 3 2 1 0 1 -1 -1
2 20 0.4 59.5 4 1e1 -1 8 3600 1024 1 3 2 1 0 1 1 30 {7,7,8} q_1d 2:ppn=4#excl
`

func TestReader(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, strings.ReplaceAll(sample, "\n", "\r\n"))
	w.Close()
	want := []Job{
		{Line: 8, Number: 1, Submit: 10, Wait: 5, Run: 60, Procs: 4, CPU: -1, Memory: -1, WantProcs: 8, WantTime: 3600,
			WantMemory: 1024,
			Status:     Completed, User: 3, Group: 2, App: 1, Partition: 1, Predecessor: -1, ThinkSeconds: -1},
		{Line: 9, Number: 2, Submit: 20, Wait: 0, Run: 60, Procs: 4, CPU: 10, Memory: -1, WantProcs: 8, WantTime: 3600,
			WantMemory: 1024,
			Status:     Completed, User: 3, Group: 2, App: 1, Partition: 1, Predecessor: 1, ThinkSeconds: 30,
			Extra: []string{"{7,7,8}", "q_1d", "2:ppn=4#excl"}},
	}
	for name, text := range map[string]string{"plain": sample, "packed": packed.String()} {
		r, err := NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		jobs, err := readAll(r)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, jobs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := r.Label("maxprocs") + "," + r.Label("Note") + "," + r.Label(
			"UnixStartTime"); got != "100,the first," {
			t.Errorf("%s: labels %q", name, got)
		}
	}
}

func readAll(r *Reader) (jobs []Job, err error) {
	for {
		job, err := r.Next()
		if err == io.EOF {
			return jobs, nil
		}
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
}

// line returns a good line with one field changed.
func line(field int, value string) string {
	words := strings.Fields("1 10 5 60 4 -1 -1 8 3600 1024 1 3 2 1 0 1 -1 -1")
	words[field-1] = value
	return strings.Join(words, " ")
}

func TestReaderRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1 2 3", "line 2: 3 fields; a job has 18"},
		{line(4, "x"), `line 2, field 4 (run time): "x" is not a number`},
		{line(4, "NaN"), `line 2, field 4 (run time): "NaN" is not a number`},
		{line(4, "1e400"), `line 2, field 4 (run time): "1e400" is too large`},
		{line(4, "1e17"), `line 2, field 4 (run time): "1e17" is too large`},
		{line(4, "0x10"), `line 2, field 4 (run time): "0x10" is not a number`},
		{line(4, "1.2.3"), `line 2, field 4 (run time): "1.2.3" is not a number`},
		{line(5, "1.5"), `line 2, field 5 (processors): "1.5" is not a whole number`},
		{line(12, "99999999999999999999"), `line 2, field 12 (user): "99999999999999999999" is too large`},
		{strings.Repeat("1 ", maxLine), fmt.Sprintf("line 2: it is longer than %d bytes", maxLine)},
	} {
		r, err := NewReader(strings.NewReader(line(1, "1") + "\n" + c.text + "\n" + line(1, "3") + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := readAll(r)
		var at *LineError
		if len(jobs) != 1 || !errors.As(err, &at) || err.Error() != c.want {
			t.Errorf("%.40q: %d jobs, %v; want %s", c.text, len(jobs), err, c.want)
		}
		if _, again := r.Next(); again != err {
			t.Errorf("%.40q: then %v", c.text, again)
		}
	}
}

// A truncated file is not a shorter log.
func TestReaderCutOff(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, sample)
	w.Close()
	for n := 2; n < packed.Len(); n++ {
		r, err := NewReader(bytes.NewReader(packed.Bytes()[:n]))
		if err == nil {
			_, err = readAll(r)
		}
		if err == nil {
			t.Fatalf("the first %d of %d bytes read like a whole log", n, packed.Len())
		}
	}
}

// FuzzReader: with any text it only fails with an error, and what it reads reads back.
func FuzzReader(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(line(4, "-461.5e2") + " x"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := NewReader(bytes.NewReader(text))
		if err != nil {
			return
		}
		jobs, _ := readAll(r)
		var again strings.Builder
		for _, job := range jobs {
			for i := range fields {
				fmt.Fprintf(&again, "%d ", *fields[i].of(&job))
			}
			again.WriteString(strings.Join(job.Extra, " ") + "\n")
		}
		if r, err = NewReader(strings.NewReader(again.String())); err != nil {
			t.Fatal(err)
		}
		same, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			jobs[i].Line = i + 1
		}
		if diff := cmp.Diff(jobs, same); diff != "" {
			t.Fatal(diff)
		}
	})
}
