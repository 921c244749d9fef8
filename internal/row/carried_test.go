package row

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestPayloadCodec: what is written reads back, also as a document. The key depends on all of
// it except the number of jobs, and a truncated row is damaged.
func TestPayloadCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Make[Payload]().Draw(t, "payload")
		encoded := PayloadRow.Encode(&p)
		key, err := HashPayload(encoded)
		if err != nil {
			t.Fatal(err)
		}
		back, err := PayloadRow.Decode(key[:], encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&p, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-written +read\n%s", diff)
		}
		jobs := rapid.Uint64().Draw(t, "jobs")
		counted, err := RecountPayload(encoded, jobs)
		if err != nil {
			t.Fatal(err)
		}
		p.Jobs = jobs
		if want := PayloadRow.Encode(&p); !bytes.Equal(counted, want) {
			t.Fatalf("counted anew it is %x, not %x", counted, want)
		}
		if again, err := HashPayload(counted); err != nil || again != key {
			t.Fatalf("another count makes another key: %s, %s, %v", key, again, err)
		}
		other := p
		other.Dir += "x"
		if hash, _ := HashPayload(PayloadRow.Encode(&other)); hash == key {
			t.Fatal("another directory has the same key")
		}
		line, err := AppendDocument(nil, Payloads, key[:], counted)
		if err != nil {
			t.Fatal(err)
		}
		if table, k, row, err := ReadDocument(line); err != nil || table != Payloads || !bytes.Equal(k, key[:]) ||
			!bytes.Equal(row, counted) {
			t.Fatalf("%s is read as %v %x %x, %v", line, table, k, row, err)
		}
		cut := rapid.IntRange(0, len(counted)-1).Draw(t, "cut")
		old := p
		old.Input, old.Owner, old.Ending = "", nil, Ending{}
		plain := p
		plain.Ending.RetryMem, plain.Ending.RetryMax = 0, 0
		before := len(counted) - len(PayloadRow.Encode(&p)) + len(PayloadRow.Encode(&plain)) // retries asked for memory
		older := before - len(binary.AppendUvarint(nil, uint64(len(p.Input)))) - len(p.Input) - 1
		if cut == len(PayloadRow.Encode(&old)) || cut == older || cut == before {
			return // as versions wrote it that knew no more
		}
		if _, err := PayloadRow.Decode(key[:], counted[:cut]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: %v", cut, len(counted), err)
		}
	})
}

// TestJobNamesItsPayload: a job's row only gets longer by the key if the job has a payload.
func TestJobNamesItsPayload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := Job{
			JobFacts: JobFacts{ID: 7, State: JobQueued,
				JobTerms: JobTerms{Command: rapid.SliceOf(rapid.String()).Draw(t, "command")}}}
		bare := EncodeJob(&j)
		j.Payload = rapid.Make[PayloadKey]().Draw(t, "key")
		encoded := EncodeJob(&j)
		want := len(bare)
		if j.Payload != (PayloadKey{}) {
			want += len(j.Payload) + 1
		}
		if len(encoded) != want {
			t.Fatalf("%d bytes, not %d", len(encoded), want)
		}
		back, err := DecodeJob(Key64(7), encoded)
		if err != nil || back.Payload != j.Payload {
			t.Fatalf("%v is read as %v, %v", j.Payload, back.Payload, err)
		}
	})
}
