package jobs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// In a file that others may write, a row proves nothing: anyone may have written a job's
// command and user. So the submitter signs the command and the job, with a key that no other
// user can read. The executor verifies the signature with its own key. Package store keeps
// signatures and knows no key.

// Signer signs a text for the user of this process. It returns nil and no error if the user
// has no key.
type Signer func(text []byte) ([]byte, error)

// signed returns the text to sign: the database, the job or its array, the command and everything
// that the job carries, including its submitter's uid. The number makes the signature valid for one
// job or array only, because numbers are never reused.
func signed(tx *kernel.Tx, j *row.Job) ([]byte, error) {
	id, err := tx.File.Identity()
	if err != nil {
		return nil, err
	}
	var carried []byte
	if j.Payload != (row.PayloadKey{}) {
		if carried, err = sum(tx, j.Payload); err != nil {
			return nil, err
		}
	}
	return SignedText(id.String(), j, carried), nil
}

// sum returns the hash of a payload.
func sum(tx *kernel.Tx, key row.PayloadKey) ([]byte, error) {
	payload, err := tx.Payloads().Row(key)
	if err != nil {
		return nil, err
	}
	sum, err := row.SumPayload(payload)
	return sum[:], err
}

// SignedText returns the text to sign. Each job of an array with a line per job is signed by
// itself, because the line is part of what it executes.
func SignedText(id string, j *row.Job, carried []byte) []byte {
	form, number, words := "job", j.ID, j.Command
	switch {
	case j.Line != "":
		form, words = "line", append(slices.Clone(words), j.Line)
	case j.Array != 0:
		number = j.Array
	}
	b := fmt.Appendf(nil, "placectl %s 1\n%s\n%d\n", form, id, number)
	b = append(b, carried...)
	for _, word := range words {
		b = append(binary.AppendUvarint(b, uint64(len(word))), word...)
	}
	return b
}

// Signed returns the text to sign for a job, and its signature, empty if there is none.
func (js Jobs) Signed(id uint64) (text, signature []byte, err error) {
	j, err := js.tx.Job(id)
	if err != nil {
		return nil, nil, err
	}
	text, err = signed(js.tx, j)
	return text, j.Signature, err
}

// Sign signs again what a job executes. The user whose processes execute it calls it.
func (js Jobs) Sign(id uint64, sign Signer) error {
	j, err := forChange(js.tx, id, "signed", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
	if err == nil {
		err = users.RolesOf(js.tx).Executes(j)
	}
	if err == nil {
		err = signPayload(js.tx, sign, j)
	}
	if err != nil {
		return err
	}
	return js.tx.Spoil(PutJob(js.tx, j, j.State))
}

// signPayload signs what a job executes.
func signPayload(tx *kernel.Tx, sign Signer, j *row.Job) error { return signing(tx, sign)(j) }

// signing signs jobs that carry the same payload, one after the other. Jobs of an array with
// the same command share one signature.
func signing(tx *kernel.Tx, sign Signer) func(*row.Job) error {
	var id string
	var carried, text, signature []byte
	if sign == nil {
		sign = tx.Opt.Sign
	}
	return func(j *row.Job) error {
		if sign == nil || !j.HasCommand() {
			return nil
		}
		if id == "" {
			is, err := tx.File.Identity()
			if err != nil {
				return err
			}
			if id = is.String(); j.Payload != (row.PayloadKey{}) {
				if carried, err = sum(tx, j.Payload); err != nil {
					return err
				}
			}
		}
		var err error
		if next := SignedText(id, j, carried); !bytes.Equal(next, text) {
			text = next
			signature, err = sign(text)
		}
		j.Signature = signature
		return err
	}
}

// HoldUnsigned takes an unclaimed attempt off its nodes and holds its job, because its user
// has not signed its command. It fails with a Conflict if the attempt is not waiting for a
// claim.
func (as Attempts) HoldUnsigned(id uint64, number int) (*kernel.Job, error) {
	j, err := forExecution(as.tx, id)
	if err != nil {
		return nil, err
	}
	a, err := as.tx.Attempts().Of(j, number)
	if err != nil {
		return nil, err
	}
	if j.State != row.JobRunning || number != j.CurrentAttempt() || a.State != row.AttemptStarted {
		return nil, row.Clash(fmt.Sprintf("attempt %d.%d", id, number), "nothing waits for it to be claimed")
	}
	why, err := unsigned(as.tx, j)
	if err != nil {
		return nil, err
	}
	return kernel.JobResult(j, MachineOf(as.tx).Do(j, Step{To: row.JobHeld, Reason: row.Because(row.CauseUnsigned, why),
		Leaving: Exited}))
}

// forExecution returns a job that the actor's processes execute.
func forExecution(tx *kernel.Tx, id uint64) (*row.Job, error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	j, err := tx.Job(id)
	if err == nil {
		err = users.RolesOf(tx).Executes(j)
	}
	return j, err
}

// unsigned returns the reason to hold a job that its user has not signed.
func unsigned(tx *kernel.Tx, j *row.Job) (string, error) {
	p, err := tx.Payloads().Of(j)
	name := j.User
	if p != nil && p.Owner != nil {
		if name = p.Owner.Name; name == "" {
			name = kernel.UnnamedUser(p.Owner.UID)
		}
	}
	return "not signed by " + name, err
}
