package tables

// Unit is the unit of a column's numbers.
type Unit uint8

// The units.
const (
	NoUnit   Unit = iota
	Time          // Unix seconds
	Duration      // seconds
	Bytes
	Truth  // 0 or 1
	Nodes  // a folded list of node names
	UTC    // text that names an instant in UTC, as datetime() writes it
	Amount // a number; bytes if the resource of the row is a size
	List   // a text of items joined by commas
)

var unitNames = [...]string{"", "time", "duration", "bytes", "truth", "nodes", "utc", "amount", "list"}

func (u Unit) String() string { return unitNames[u] }

// Measured reports whether numbers of the unit are read and printed in a form of their own.
func (u Unit) Measured() bool { return u == Time || u == Duration || u == Bytes }

// Reads returns the unit in which a text next to a column of u is read; NoUnit for none.
func (u Unit) Reads() Unit {
	switch {
	case u == Amount:
		return Bytes
	case u.Measured():
		return u
	}
	return NoUnit
}

// Shown returns the unit's name for messages.
func (u Unit) Shown() string {
	switch u {
	case Time, Duration:
		return "a " + u.String()
	case Bytes:
		return "a size"
	}
	return "a number"
}

// Written describes how a value of the unit is written.
func (u Unit) Written() string {
	return map[Unit]string{Time: "'2026-11-20 10:00' or 'now+2h'", Duration: "'1h30m' or '90s'", Bytes: "'64GiB'"}[u]
}
