package store

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
)

// A row proves nothing in a file that others may write: what it says of a job's command and
// its user anybody may have written there. So a submitter signs, with a key that no other user
// can read, what is executed and for which job. Whoever executes it verifies the signature with
// its own key; package store keeps signatures and knows no key.

// Signer signs a text for the user of this process; nil without an error: it has no key.
type Signer func(text []byte) ([]byte, error)

// signed is what a signature is of: the database, the job or its array, the command and all
// that the job carries, its submitter's uid included. The number makes it good for one job or
// array, as a nonce would: numbers are not used again.
func (ps payloads) signed(j *row.Job) ([]byte, error) {
	id, err := ps.file.Identity()
	if err != nil {
		return nil, err
	}
	number := j.ID
	if j.Array != 0 {
		number = j.Array
	}
	b := fmt.Appendf(nil, "placectl job 1\n%s\n%d\n", id, number)
	if j.Payload != (row.PayloadKey{}) {
		payload, err := ps.row(j.Payload)
		if err != nil {
			return nil, err
		}
		sum, err := row.SumPayload(payload)
		if err != nil {
			return nil, err
		}
		b = append(b, sum[:]...)
	}
	for _, word := range j.Command {
		b = append(binary.AppendUvarint(b, uint64(len(word))), word...)
	}
	return b, nil
}

// Signed is what the signature of a job has to be of, and the signature, empty for none.
func (tx *Tx) Signed(id uint64) (text, signature []byte, err error) {
	j, err := tx.job(id)
	if err != nil {
		return nil, nil, err
	}
	text, err = tx.payloads().signed(j)
	return text, j.Signature, err
}

// Sign signs anew what a job executes. It is for the user whose processes execute it.
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

// sign signs what jobs execute, all of one array.
func (ps payloads) sign(sign Signer, jobs ...*row.Job) error {
	if sign == nil || !jobs[0].HasCommand() {
		return nil
	}
	text, err := ps.signed(jobs[0])
	if err != nil {
		return err
	}
	signature, err := sign(text)
	for _, j := range jobs {
		j.Signature = signature
	}
	return err
}

// HoldUnsigned takes an attempt that nobody has claimed off its nodes and holds its job, since
// its user has not signed what it executes. It fails with a Conflict if the attempt is not
// waiting to be claimed.
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
	return jobResult(j, tx.machine().do(j, step{to: JobHeld, reason: why, leaving: exited}))
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
