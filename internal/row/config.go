package row

import (
	"math"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

const resourceVersion = 1

func resourceFields(f *Fields, def *index.Def) {
	f.Version(resourceVersion)
	KeyPart(f, "id", 0, 2, 2, &def.ID)
	Byte(f, "type", &def.Type)
	f.Bits(Fact{"consumable", &def.Consumable}, Fact{"unique", &def.Unique}) // their bits must not change
	f.Text("name", &def.Name)
}

// ResourceRow is the row of a declared resource.
var ResourceRow = Kind[index.Def]{Resources, resourceFields}

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

// QueueRow is the row of a queue.
var QueueRow = Kind[Queue]{Queues, queueFields}

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

// ViewRow is the row of a view.
var ViewRow = Kind[View]{Views, viewFields}

// NumberKey returns the key of the number of a subject.
func NumberKey(s subject.Subject) []byte { return []byte(s.String()) }

func numberFields(f *Fields, n *int64) {
	f.Version(1)
	Int(f, "", n)
}

// NumberRow is the row of a number.
var NumberRow = Kind[int64]{Numbers, numberFields}

// Stamp formats an instant, in Unix seconds, for messages.
func Stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// Account is an account, which pays for jobs or stands for a project. Accounts form trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of its parent's share, relative to its siblings
	Members []AccountMember
	Allow   []string // permitted users and groups, as user=ann or group=lab; empty: all
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

// AccountRow is the row of an account.
var AccountRow = Kind[Account]{Accounts, accountFields}

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
		keyFields(f, "over", &r.Over)
		keyFields(f, "under", &r.Under)
		f.fact("soft", &r.Soft)
	}
	Byte(f, "how", &r.How)
	Int(f, "grace", &r.Grace)
	Int(f, "minRun", &r.MinRun)
	Int(f, "atMost", &r.AtMost)
	f.Bound(r.How <= preempt.Cancel && r.Grace >= preempt.OwnGrace && r.MinRun >= 0 && r.AtMost >= 0 &&
		r.AtMost <= math.MaxInt32)
}

// PreemptRow is the row of a preemption rule. Its key is the rule as text.
var PreemptRow = Kind[preempt.Rule]{Preempts, preemptFields}
