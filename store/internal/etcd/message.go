//go:build etcd

package etcd

// The gateway's messages are those of etcd's API as JSON. Bytes are base64, as in
// encoding/json. Numbers of 64 bits are strings. Fields that are false, 0 or empty are left
// out.

// pair is a key with its value and revisions.
type pair struct {
	Key     []byte `json:"key"`
	Value   []byte `json:"value"`
	Created int64  `json:"create_revision,string"`
	Changed int64  `json:"mod_revision,string"`
}

// ranged is a query for the keys from Key up to but excluding End, or for Key only if End is
// nil.
type ranged struct {
	Key          []byte `json:"key"`
	End          []byte `json:"range_end,omitempty"`
	Limit        int64  `json:"limit,omitempty,string"`
	MaxCreated   int64  `json:"max_create_revision,omitempty,string"`
	Order        string `json:"sort_order,omitempty"`
	By           string `json:"sort_target,omitempty"`
	KeysOnly     bool   `json:"keys_only,omitempty"`
	Serializable bool   `json:"serializable,omitempty"` // the member's own state suffices
}

type rangedAnswer struct {
	Pairs []pair `json:"kvs"`
	More  bool   `json:"more"`
}

// value returns the value of the first key, or nil.
func (r rangedAnswer) value() []byte {
	if len(r.Pairs) == 0 {
		return nil
	}
	return r.Pairs[0].Value
}

type put struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value,omitempty"`
	Lease int64  `json:"lease,omitempty,string"` // 0 detaches the key from its lease
	Keep  bool   `json:"ignore_value,omitempty"` // change only the lease
}

type deleted struct {
	Key []byte `json:"key"`
	End []byte `json:"range_end,omitempty"`
}

// operation is one step of a transaction. One of its fields is set.
type operation struct {
	Put    *put     `json:"request_put,omitempty"`
	Range  *ranged  `json:"request_range,omitempty"`
	Delete *deleted `json:"request_delete_range,omitempty"`
}

// Targets and results of comparisons.
const (
	targetValue   = "VALUE"
	targetVersion = "VERSION"
	targetCreated = "CREATE"
	targetChanged = "MOD"

	equal   = "EQUAL"
	greater = "GREATER"
	less    = "LESS"
)

// comparison holds if it holds for every key of its range. A range without keys counts as one
// key with version and revisions 0, and without a value.
type comparison struct {
	Key     []byte  `json:"key"`
	End     []byte  `json:"range_end,omitempty"`
	Result  string  `json:"result"`
	Target  string  `json:"target"`
	Value   *[]byte `json:"value,omitempty"`
	Version *int64  `json:"version,omitempty,string"`
	Created *int64  `json:"create_revision,omitempty,string"`
	Changed *int64  `json:"mod_revision,omitempty,string"`
}

// valueIs compares a key's value.
func valueIs(key, value []byte) comparison {
	return comparison{Key: key, Result: equal, Target: targetValue, Value: &value}
}

// absent holds if there is no such key, or no key in a range.
func absent(key, end []byte) comparison {
	return comparison{Key: key, End: end, Result: equal, Target: targetVersion, Version: new(int64)}
}

// unchanged holds if a key has not been put since a revision; with 0, if it does not exist.
func unchanged(key []byte, revision int64) comparison {
	return comparison{Key: key, Result: equal, Target: targetChanged, Changed: &revision}
}

// noneBefore holds if a range has keys, and none was created before a revision.
func noneBefore(key, end []byte, revision int64) comparison {
	revision--
	return comparison{Key: key, End: end, Result: greater, Target: targetCreated, Created: &revision}
}

// transaction performs Then if all comparisons hold, and Else otherwise, atomically.
type transaction struct {
	If   []comparison `json:"compare,omitempty"`
	Then []operation  `json:"success,omitempty"`
	Else []operation  `json:"failure,omitempty"`
}

// serializable returns an unconditional reading transaction that accepts the state of its member.
func (t transaction) serializable() transaction {
	var own transaction
	for _, o := range t.Then {
		r := *o.Range
		r.Serializable = true
		own.Then = append(own.Then, reading(r))
	}
	return own
}

// revised is the head of an answer: its revision, and its etcd cluster.
type revised struct {
	Cluster  uint64 `json:"cluster_id,string"`
	Revision int64  `json:"revision,string"`
}

type transactionAnswer struct {
	Header    revised `json:"header"`
	Succeeded bool    `json:"succeeded"`
	Answers   []struct {
		Range rangedAnswer `json:"response_range"`
	} `json:"responses"`
}

// answered reports whether there is an answer at all.
func (a transactionAnswer) answered() bool { return a.Header.Revision > 0 }

// ranges returns the result of a reading operation of the branch taken, by position.
func (a transactionAnswer) ranges(i int) rangedAnswer {
	if i >= len(a.Answers) {
		return rangedAnswer{}
	}
	return a.Answers[i].Range
}

func putting(key, value []byte) operation { return operation{Put: &put{Key: key, Value: value}} }

func reading(r ranged) operation { return operation{Range: &r} }

func deleting(key, end []byte) operation { return operation{Delete: &deleted{Key: key, End: end}} }
