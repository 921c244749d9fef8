package row

import (
	"math"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/preempt"
)

const resourceVersion = 1

func resourceFields(f *Fields, def *index.Def) {
	f.Version(resourceVersion)
	KeyPart(f, "id", 0, 2, 2, &def.ID)
	Byte(f, "type", &def.Type)
	f.Bits(Fact{"consumable", &def.Consumable}, Fact{"unique", &def.Unique}) // their bits must not change
	f.Text("name", &def.Name)
}

// EncodeResource returns the row of a declared resource.
func EncodeResource(def index.Def) []byte { return encode(resourceFields, &def) }

// DecodeResource decodes what EncodeResource returns.
func DecodeResource(key, payload []byte) (index.Def, error) {
	f, def := Fields{dir: reading, b: payload, key: key}, *new(index.Def)
	resourceFields(&f, &def)
	return def, f.done(Resources)
}

// Queue is a queue. It has the same fields as store.Queue, in the same order.
type Queue struct {
	Name     string
	GroupKey []string
	Policy   string
	Allow    []string
}

const queueVersion = 1

func queueFields(f *Fields, q *Queue) {
	f.Version(queueVersion)
	f.KeyText("name", &q.Name)
	f.Texts("groupKey", &q.GroupKey)
	if f.More(true) { // version 1 had none at first
		f.Text("policy", &q.Policy)
	}
	if f.More(len(q.Allow) > 0) {
		f.Texts("allow", &q.Allow)
	}
}

// EncodeQueue returns the row of a queue.
func EncodeQueue(q Queue) []byte { return encode(queueFields, &q) }

// DecodeQueue decodes what EncodeQueue returns.
func DecodeQueue(key, payload []byte) (Queue, error) {
	f, q := Fields{dir: reading, b: payload, key: key}, *new(Queue)
	queueFields(&f, &q)
	return q, f.done(Queues)
}

// View is a named query to use as a table.
type View struct {
	Name   string // in lower case
	Select string // in SQL
}

const viewVersion = 1

func viewFields(f *Fields, v *View) {
	f.Version(viewVersion)
	f.KeyText("name", &v.Name)
	f.Text("select", &v.Select)
}

// EncodeView returns the row of a view.
func EncodeView(v *View) []byte { return encode(viewFields, v) }

// DecodeView decodes what EncodeView returns.
func DecodeView(key, payload []byte) (*View, error) {
	return decode(Views, viewFields, key, payload)
}

// NumberKey returns the key of the number of a subject: user:ann.
func NumberKey(kind, name string) []byte { return []byte(kind + ":" + name) }

func numberFields(f *Fields, n *int64) {
	f.Version(1)
	Int(f, "", n)
}

// EncodeNumber returns the row of a number.
func EncodeNumber(n int64) []byte { return encode(numberFields, &n) }

// DecodeNumber decodes what EncodeNumber returns.
func DecodeNumber(key, payload []byte) (*int64, error) {
	return decode(Numbers, numberFields, key, payload)
}

// Stamp formats an instant, in Unix seconds, for messages.
func Stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// Account is an account, which pays for jobs or stands for a project. Accounts form trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of its parent's share, relative to its siblings
	Members []AccountMember
	Allow   []string // permitted users and groups, as user:ann or group:lab; empty: all
}

// AccountMember is a user of an account.
type AccountMember struct {
	User   string
	Shares int64 // of the account's share, relative to the other members
}

const accountVersion = 1

func accountFields(f *Fields, a *Account) {
	f.Version(accountVersion)
	f.KeyText("name", &a.Name)
	f.Text("parent", &a.Parent)
	Int(f, "shares", &a.Shares)
	for i := range Items(f, "members", &a.Members) {
		m := &a.Members[i]
		f.Text("user", &m.User)
		Int(f, "shares", &m.Shares)
		f.Next()
	}
	f.Texts("allow", &a.Allow)
}

// EncodeAccount returns the row of an account.
func EncodeAccount(a *Account) []byte { return encode(accountFields, a) }

// DecodeAccount decodes what EncodeAccount returns.
func DecodeAccount(key, payload []byte) (*Account, error) {
	return decode(Accounts, accountFields, key, payload)
}

const preemptVersion = 1

func preemptFields(f *Fields, r *preempt.Rule) {
	f.Version(preemptVersion)
	switch f.dir {
	case writing:
	case reading:
		said, err := preempt.Parse(string(f.key))
		if err != nil || said.String() != string(f.key) {
			f.bad, said = true, new(preempt.Rule)
		}
		*r = *said
	default: // its key as fields
		termFields(f, "over", &r.Over)
		termFields(f, "under", &r.Under)
		f.fact("soft", &r.Soft)
	}
	Byte(f, "how", &r.How)
	Int(f, "grace", &r.Grace)
	Int(f, "minRun", &r.MinRun)
	Int(f, "atMost", &r.AtMost)
	f.Bound(r.How <= preempt.Cancel && r.Grace >= preempt.OwnGrace && r.MinRun >= 0 && r.AtMost >= 0 &&
		r.AtMost <= math.MaxInt32)
}

func termFields(f *Fields, name string, key *preempt.Key) {
	for i := range Items(f, name, (*[]preempt.Term)(key)) {
		f.Text("kind", &(*key)[i].Kind)
		f.Text("name", &(*key)[i].Name)
		f.Next()
	}
}

// EncodePreempt returns the row of a preemption rule. Its key is the rule as text.
func EncodePreempt(r *preempt.Rule) []byte { return encode(preemptFields, r) }

// DecodePreempt decodes what EncodePreempt returns.
func DecodePreempt(key, payload []byte) (*preempt.Rule, error) {
	return decode(Preempts, preemptFields, key, payload)
}
