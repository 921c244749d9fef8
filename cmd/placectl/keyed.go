package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"slices"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

const keyName = "key"

// keyFlag is a flag of every verb that writes, but for those that say otherwise.
func keyFlag() cli.Flag {
	return &cli.StringFlag{Name: keyName, Usage: "idempotency `KEY`: the same key and request again repeats the first answer, and changes nothing"}
}

// once lets fn run unless it has been run with the key before. Its answer goes into a
// recording, and what was recorded is printed: so the first answer and those that repeat
// it are the same.
func (r *runner) once(c *cli.Context, fn func(*store.Tx) error) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		o := &store.Once{Key: c.String(keyName), Request: r.requested()}
		outer, out := r.rec, r.stdout
		err := tx.Once(o, func() (err error) {
			rec := new(recording)
			r.rec, r.stdout = rec, rec
			defer func() { r.rec, r.stdout = outer, out }()
			if err = fn(tx); err == nil {
				o.Refused = rec.refused
				o.Answer, err = rec.encode()
			}
			return err
		})
		var used *store.UsedKey
		switch {
		case errors.As(err, &used) && r.verb.Used != nil:
			return r.answerUsed(tx, c, used)
		case err != nil:
			return err
		}
		rec, err := decodeRecording(o.Answer)
		if err != nil {
			return err
		}
		r.kept = rec
		return r.repeat(rec)
	}
}

// answerUsed answers for a key that an older version has used, with its jobs as they are.
func (r *runner) answerUsed(tx *store.Tx, c *cli.Context, used *store.UsedKey) error {
	var jobs []*store.Job
	for i := range used.Jobs {
		j, err := tx.Job(used.First + uint64(i))
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	return r.verb.Used(r, tx, c, jobs)
}

// requested is the request that a key is bound to: the verb, its flags in whatever order
// they were given, its arguments, and what it has read of files. How the answer is to
// look is no part of it.
func (r *runner) requested() []byte {
	var flags []string
	for _, g := range r.inv.flags {
		if name := g.name(); name != keyName && name != dryRun {
			flags = append(flags, g.word())
		}
	}
	slices.SortStableFunc(flags, func(a, b string) int { return bytes.Compare(flagName(a), flagName(b)) })
	var b []byte
	for _, list := range [][]string{{r.inv.verb()}, flags, r.inv.args} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	b = binary.AppendVarint(b, int64(r.inv.dash))
	return append(b, r.inputs...)
}

// flagName is what stands before the = of a flag: a flag that is given twice keeps its
// order.
func flagName(word string) []byte {
	name, _, _ := bytes.Cut([]byte(word), []byte("="))
	return name
}

// hashed is an input whose content becomes part of the request when it is closed.
func (r *runner) hashed(in io.ReadCloser) io.ReadCloser {
	if r.verb == nil || r.verb.Access == reads || r.verb.Access == noDatabase {
		return in
	}
	sum := sha256.New()
	return &hashedInput{io.TeeReader(in, sum), in, sum, r}
}

type hashedInput struct {
	io.Reader
	in  io.Closer
	sum hash.Hash
	r   *runner
}

func (h *hashedInput) Close() error {
	if h.r != nil {
		h.r.inputs = h.sum.Sum(h.r.inputs)
		h.r = nil
	}
	return h.in.Close()
}

// repeat prints an answer that was recorded, in the form that is asked for now, or adds
// it to the recording that it is part of.
func (r *runner) repeat(rec *recording) error {
	if r.rec != nil {
		r.rec.Parts = append(r.rec.Parts, rec.Parts...)
		return nil
	}
	var end error
	for _, p := range rec.Parts {
		if p.Not&(1<<r.Output) != 0 {
			continue
		}
		var err error
		switch {
		case p.Rows != nil:
			err = p.Rows.Print(r.printer(p.Rows.Result))
		case p.Line != nil:
			err = r.repeatLine(p.Line)
		case p.Note != "" && p.Verbose:
			r.debugf("%s", p.Note)
		case p.Note != "":
			r.notef("%s", p.Note)
		case p.Failed != "":
			end = errors.New(p.Failed)
		case p.Text != "":
			_, err = io.WriteString(r.stdout, p.Text)
		}
		if err != nil {
			return err
		}
	}
	return end
}

// repeatLine prints the answer of a line of tx.
func (r *runner) repeatLine(line *recording) error {
	var out bytes.Buffer
	sub := *r
	sub.stdout = &out
	if err := sub.repeat(line); err != nil {
		return err
	}
	return r.printLine(out.Bytes())
}
