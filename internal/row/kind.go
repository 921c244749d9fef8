package row

import (
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
)

// Kind is a kind of row: its table, and the list of its fields. Rows of jobs, nodes, attempts,
// events and ranges are many: these have functions of their own, too, in which the call of the
// list is a static one.
type Kind[T any] struct {
	table  Table
	fields func(*Fields, *T)
}

// Encode returns the row of a value.
func (k *Kind[T]) Encode(v *T) []byte {
	f := Fields{b: make([]byte, 0, 128)}
	k.fields(&f, v)
	return f.written()
}

// Decode reads what Encode returns.
func (k *Kind[T]) Decode(key, payload []byte) (*T, error) {
	v := new(T)
	return v, k.Read(v, key, payload)
}

// Read is Decode into an existing value.
func (k *Kind[T]) Read(v *T, key, payload []byte) error {
	return k.read(Fields{dir: reading, b: payload, key: key}, v)
}

// Borrow decodes the parts of a row that its indexes use. Its texts share the memory of the
// payload.
func (k *Kind[T]) Borrow(v *T, key, payload []byte) error {
	return k.read(Fields{dir: reading, borrow: true, b: payload, key: key}, v)
}

func (k *Kind[T]) read(f Fields, v *T) error {
	*v = *new(T)
	k.fields(&f, v)
	return f.done(k.table)
}

// kind is a Kind of any type.
type kind interface {
	blank() visit // of a new value
}

// visit calls the list of the fields of a value.
type visit func(*Fields)

func (k *Kind[T]) blank() visit {
	v := new(T)
	return func(f *Fields) { k.fields(f, v) }
}

// decode reads a row into a new value.
func decode(t Table, k kind, key, payload []byte) (visit, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, k.blank()
	v(&f)
	return v, f.done(t)
}

// written returns the row of the value.
func (v visit) written() []byte {
	var f Fields
	v(&f)
	return f.written()
}

// textFields is the text of a setting.
func textFields(f *Fields, s *string) {
	f.Version(linkVersion)
	switch f.dir {
	case writing:
		f.b = append(f.b, *s...)
	case reading:
		*s = string(f.take(len(f.b)))
	default:
		f.Text("", s)
	}
}

// kinds holds the kinds of the tables with one kind of row each.
var kinds = [TableCount]kind{
	Config:       &Kind[string]{Config, textFields},
	Resources:    &ResourceRow,
	Queues:       &QueueRow,
	Nodes:        &Kind[index.Node]{Nodes, nodeFields},
	Jobs:         &Kind[Job]{Jobs, jobFields},
	Stops:        &Kind[Job]{Stops, jobFields},
	Reservations: &ReservationRow,
	Standings:    &StandingRow,
	Usage:        &UsageRow,
	Events:       &Kind[Event]{Events, eventFields},
	Batches:      &BatchRow,
	BatchFiles:   &BatchFilesRow,
	BatchJobs:    &BatchJobsRow,
	BatchTasks:   &BatchTasksRow,
	BatchHosts:   &MemberRow,
	BatchRanges:  &Kind[locality.Cursor]{BatchRanges, rangeFields},
	Answers:      &AnswerRow,
	Payloads:     &PayloadRow,
	Attempts:     &attemptRow,
	Counters:     &CounterRow,
	Preempts:     &PreemptRow,
	Gone:         &Kind[Total]{Gone, totalFields},
	Decays:       &DecayedRow,
	NodePasts:    &NodePastRow,
	Numbers:      &NumberRow,
	Accounts:     &AccountRow,
	Tallies:      &TallyRow,
	Views:        &ViewRow,
	Limits:       &LimitRow,
	Claims:       &ClaimRow,
	PastRuns:     &PastRunRow,
	Roles:        &Kind[string]{Roles, textFields},
	Hosts:        &HostRow,
}

// special holds the kinds of rows that share a table with others, by the prefix of their keys,
// or the whole key.
var special = []struct {
	table Table
	key   string
	whole bool
	kind  kind
}{
	{Meta, string(KeyState), true, &StateRow},
	{Meta, string(KeyIdentity), true, &Kind[Identity]{Meta, identityDocument}},
	{Meta, string(KeyHook), true, &HookRow},
	{Meta, string(KeyPostponed), true, &PostponedRow},
	{Meta, string(KeyItself), true, &ItselfRow},
	{Meta, string(KeyReplica), true, &ReplicaRow},
	{Meta, string(KeyForecasts), true, &ForecastsRow},
	{Meta, refusedPrefix, false, &RefusedRow},
	{Meta, beatPrefix, false, &BeatRow},
	{Tallies, string(KeyLastCycle), true, &LastCycleRow},
	{Shares, string(KeyShareSettings), true, &ShareSettingsRow},
	{Shares, string(KeyShareState), true, &ShareTimerRow},
	{Invalidations, string(KeyFreed), true, &FreedRow},
}

// kindAt returns the kind of a key's row, or nil if there is none.
func kindAt(t Table, key []byte) kind {
	for i := range special {
		if x := &special[i]; x.table == t && (string(key) == x.key || !x.whole && strings.HasPrefix(string(key),
			x.key)) {
			return x.kind
		}
	}
	return kinds[t]
}
