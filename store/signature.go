package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// In a file that others may write, a row proves nothing: anyone may have written a job's command
// and user. So the submitter signs, with a key that no other user can read, what is executed and
// for which job. The executor verifies the signature with its own key. Package store keeps
// signatures and knows no key.

// Signer signs a text for the user of this process; nil without an error: it has no key.
type Signer func(text []byte) ([]byte, error)

// signed is the text to sign: the database, the job or its array, the command and everything that
// the job carries, including its submitter's uid. The number makes the signature valid for one job
// or array only, because numbers are never reused.
func (ps payloads) signed(j *row.Job) ([]byte, error) {
	id, err := ps.file.Identity()
	if err != nil {
		return nil, err
	}
	var carried []byte
	if j.Payload != (row.PayloadKey{}) {
		if carried, err = ps.sum(j.Payload); err != nil {
			return nil, err
		}
	}
	return signedText(id.String(), j, carried), nil
}

// sum is the hash of a payload.
func (ps payloads) sum(key row.PayloadKey) ([]byte, error) {
	payload, err := ps.row(key)
	if err != nil {
		return nil, err
	}
	sum, err := row.SumPayload(payload)
	return sum[:], err
}

// signedText is the text to sign. Each job of an array with a line per job is signed by itself,
// because the line is part of what it executes.
func signedText(id string, j *row.Job, carried []byte) []byte {
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
func (tx *Tx) Signed(id uint64) (text, signature []byte, err error) {
	j, err := tx.job(id)
	if err != nil {
		return nil, nil, err
	}
	text, err = tx.payloads().signed(j)
	return text, j.Signature, err
}

// Sign signs again what a job executes. It is for the user whose processes execute it.
func (tx *Tx) Sign(id uint64, sign Signer) error {
	j, err := tx.forChange(id, "signed", JobHeld, JobQueued, JobReserved, JobRunning)
	if err == nil {
		err = RolesOf(tx).executes(j)
	}
	if err == nil {
		err = tx.payloads().sign(sign, j)
	}
	if err != nil {
		return err
	}
	return tx.spoil(tx.putJob(j, j.State))
}

// sign signs what a job executes.
func (ps payloads) sign(sign Signer, j *row.Job) error { return ps.signing(sign)(j) }

// signing signs jobs that carry the same, one after the other. Jobs of an array that execute
// the same have one signature.
func (ps payloads) signing(sign Signer) func(*row.Job) error {
	var id string
	var carried, text, signature []byte
	return func(j *row.Job) error {
		if sign == nil || !j.HasCommand() {
			return nil
		}
		if id == "" {
			is, err := ps.file.Identity()
			if err != nil {
				return err
			}
			if id = is.String(); j.Payload != (row.PayloadKey{}) {
				if carried, err = ps.sum(j.Payload); err != nil {
					return err
				}
			}
		}
		var err error
		if next := signedText(id, j, carried); !bytes.Equal(next, text) {
			text = next
			signature, err = sign(text)
		}
		j.Signature = signature
		return err
	}
}

// HoldUnsigned takes an unclaimed attempt off its nodes and holds its job, because its user has not
// signed what it executes. It fails with a Conflict if the attempt is not waiting for a claim.
func (tx *Tx) HoldUnsigned(id uint64, number int) (*Job, error) {
	j, err := tx.forExecution(id)
	if err != nil {
		return nil, err
	}
	a, err := tx.attempts().of(j, number)
	if err != nil {
		return nil, err
	}
	if j.State != JobRunning || number != j.CurrentAttempt() || a.State != row.AttemptStarted {
		return nil, row.Clash(fmt.Sprintf("attempt %d.%d", id, number), "nothing waits for it to be claimed")
	}
	why, err := tx.unsigned(j)
	if err != nil {
		return nil, err
	}
	return jobResult(j, tx.machine().do(j, step{to: JobHeld, reason: row.Because(row.CauseUnsigned, why), leaving: exited}))
}

// forExecution finds a job that the actor's processes execute.
func (tx *Tx) forExecution(id uint64) (*row.Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	j, err := tx.job(id)
	if err == nil {
		err = RolesOf(tx).executes(j)
	}
	return j, err
}

// unsigned is why a job is held that its user has not signed.
func (tx *Tx) unsigned(j *row.Job) (string, error) {
	p, err := tx.payloads().of(j)
	name := j.User
	if p != nil && p.Owner != nil {
		if name = p.Owner.Name; name == "" {
			name = UnnamedUser(p.Owner.UID)
		}
	}
	return "not signed by " + name, err
}
