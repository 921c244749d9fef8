package store

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// Format is the file format this version writes. Older ones are migrated in one
// transaction when first written to; newer ones are refused.
const Format = 3

// magic begins the format row. On disk; must not change.
const magic = "placectl"

// table numbers the tables of the file.
type table int

const (
	tableMeta table = iota
	tableConfig
	tableResources
	tableQueues
	tableNodes
	tableNodeNames
	tableBuckets
	tableBitmaps
	tableCalendar
	tableReaches
	tableJobs
	tableJobStates
	tableEndings
	tableReservations
	tableReservationIDs
	tableChanges
	tableKeys
	tableRooms
	tableAccess
	tableStandings
	tableUsage
	tableEvents
	tableWaiting
	tableLaunches
	tableStops
	tableWakes
	tableDecided
	tableShares
	tableBatches
	tableBatchFiles
	tableBatchJobs
	tableBatchTasks
	tableBatchHosts
	tableBatchRanges
	tableBatchLongest
	tableBatchBacks
	tableBatchDues
	tableHosts
	tableHostNames
	tableCount
)

// tables is the registry: every bucket of the file, what its keys and values
// are, the format that brought it, and whether it can be rebuilt from the
// others. Numbers in keys are big-endian. A value is a row: a version byte,
// the fields, and a CRC32C over key, version and fields.
var tables = [tableCount]struct {
	name, key, value string
	since            uint32
	derived          bool
}{
	tableMeta:           {"meta", "format | state", "the magic and the format; clock and counters", 1, false},
	tableConfig:         {"config", "setting", "its value as text", 1, false},
	tableResources:      {"resources", "resource number (2 bytes)", "definition", 1, false},
	tableQueues:         {"queues", "name", "settings of the queue", 1, false},
	tableNodes:          {"nodes", "node number (4)", "node", 1, false},
	tableNodeNames:      {"node_names", "name", "node number", 1, true},
	tableBuckets:        {"buckets", "bucket number (4)", "signature, queue, priority, counts", 1, true},
	tableBitmaps:        {"bitmaps", "family (1), bucket or resource number (4), value", "roaring bitmap, portable format", 1, true},
	tableCalendar:       {"calendar", "node number / 64 (4)", "what is planned for those 64 nodes", 1, true},
	tableReaches:        {"reaches", "node number / 4096 (4)", "for 64 calendar blocks, until when their later nodes stay free", 1, true},
	tableJobs:           {"jobs", "job number (8)", "job", 1, false},
	tableJobStates:      {"job_states", "state (1), job number (8)", "nothing", 1, true},
	tableEndings:        {"endings", "expected end (8), owner (8)", "nothing", 1, true},
	tableReservations:   {"reservations", "name", "reservation", 1, false},
	tableReservationIDs: {"reservation_ids", "reservation number (8)", "name", 1, true},
	tableChanges:        {"changes", "instant (8), owner (8)", "nothing: the owner begins or ends then by the clock", 1, true},
	tableKeys:           {"keys", "idempotency key", "job number", 1, false},
	tableRooms:          {"rooms", "node number / 64 (4)", "what is left of those of the 64 nodes that are shared now", 2, true},
	tableAccess:         {"access", "kind of entry (1), value, 0, reservation number (8)", "nothing: the reservation lets them in", 2, true},
	tableStandings:      {"standings", "name", "a reservation that repeats", 2, false},
	tableUsage:          {"usage", "node number / 64 (4)", "cpu-seconds that jobs which have ended had of each of those nodes", 2, false},
	tableEvents:         {"events", "event number (8)", "what became of a job, node or reservation, when and why", 3, false},
	tableWaiting:        {"waiting", "priority, highest first (8), job number (8)", "nothing: the job waits for its turn", 3, true},
	tableLaunches:       {"launches", "job number (8)", "nothing: the queue started the job and nobody was told to launch it yet", 3, true},
	tableStops:          {"stops", "job number (8)", "the job as it ran: it was launched, taken off its nodes, and nobody was told to stop it yet", 3, false},
	tableWakes:          {"wakes", "bucket number (4), or nothing for all", "the waking in which nodes of it were last given back", 3, false},
	tableDecided:        {"decided", "a request, as a hash (8)", "the waking up to which it is known that it does not fit now, until when time changes nothing of that, and the job it was decided for", 3, false},
	tableShares:         {"shares", "settings | state", "classes, what maps jobs to them, rebalancing; since when shares are out of balance", 3, false},
	tableBatches:        {"batches", "name", "batch: its number, settings and sums", 3, false},
	tableBatchFiles:     {"batch_files", "batch number (4), file number / 128 (4)", "names and sizes of those files", 3, false},
	tableBatchJobs:      {"batch_jobs", "batch number (4), job number / 128 (4)", "those jobs as they were created", 3, false},
	tableBatchTasks:     {"batch_tasks", "batch number (4), job number / 128 (4)", "what became of those jobs", 3, false},
	tableBatchHosts:     {"batch_hosts", "batch number (4), host number (4)", "the host's part in the batch", 3, false},
	tableBatchRanges:    {"batch_ranges", "batch number (4), first slot (8)", "a range of slots and its cursors", 3, false},
	tableBatchLongest:   {"batch_longest", "batch number (4), time left, longest first (8), first slot (8)", "nothing", 3, true},
	tableBatchBacks:     {"batch_backs", "batch number (4), slot (8)", "nothing: the slot waits behind its cursor", 3, true},
	tableBatchDues:      {"batch_dues", "batch number (4), instant (8), host number (4), slot + 1 (8)", "nothing: a lease ends, or a host is looked for", 3, true},
	tableHosts:          {"hosts", "host number (4)", "a host that works in batches, and how fast it is", 3, false},
	tableHostNames:      {"host_names", "name", "host number", 3, true},
}

var (
	keyFormat = []byte("format")
	keyState  = []byte("state")
)

// createTables lays out an empty file.
func createTables(b *bbolt.Tx) error {
	r := &recorder{bolt: b}
	for t := range tableCount {
		if err := r.create(t); err != nil {
			return err
		}
	}
	return writeFormat(r, Format)
}

func writeFormat(r *recorder, format uint32) error {
	return r.put(tableMeta, keyFormat, binary.BigEndian.AppendUint32([]byte(magic), format))
}

// readFormat tells the format of a file, ErrNotOurs when it has none.
func readFormat(r *recorder) (uint32, error) {
	meta := r.table(tableMeta)
	if meta == nil {
		return 0, fmt.Errorf("%w: it has no table %q", ErrNotOurs, tables[tableMeta].name)
	}
	v := meta.Get(keyFormat)
	if len(v) != len(magic)+4 || string(v[:len(magic)]) != magic {
		return 0, fmt.Errorf("%w: it has no format row", ErrNotOurs)
	}
	return binary.BigEndian.Uint32(v[len(magic):]), nil
}

// migrations holds, by the format they lead from, the steps to the next one. A
// step makes room; what is derived is rebuilt from the rows when all are taken.
var migrations = map[uint32]func(*recorder) error{1: addTables(2), 2: addTables(3)}

// addTables makes the tables that a format brought.
func addTables(format uint32) func(*recorder) error {
	return func(r *recorder) error {
		for t := range tableCount {
			if tables[t].since != format {
				continue
			}
			if err := r.create(t); err != nil {
				return err
			}
		}
		return nil
	}
}

// migrate brings an older file to Format, inside the transaction that will
// write to it. Readers of an older file that they understand leave it alone.
func migrate(r *recorder, from uint32) error {
	for ; from < Format; from++ {
		step := migrations[from]
		if step == nil {
			return fmt.Errorf("%w: no way from format %d to %d", ErrDamaged, from, from+1)
		}
		if err := step(r); err != nil {
			return fmt.Errorf("migrating from format %d: %w", from, err)
		}
		if err := writeFormat(r, from+1); err != nil {
			return err
		}
	}
	return nil
}
