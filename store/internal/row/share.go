package row

import "github.com/placectl/placectl/placer/fairshare"

// The keys of the table Shares.
var (
	KeyShareSettings = []byte("settings")
	KeyShareState    = []byte("state")
)

const (
	shareSettingsVersion = 1
	shareStateVersion    = 1
)

// EncodeShareSettings is the row of the settings of class shares.
func EncodeShareSettings(s *fairshare.Settings) []byte {
	e := encoder{}
	e.byte(shareSettingsVersion)
	e.uint(uint64(len(s.Loads)))
	for _, c := range s.Loads {
		e.string(c.Class)
		e.int(int64(c.Load))
	}
	e.uint(uint64(len(s.Map)))
	for _, m := range s.Map {
		e.string(m.Class)
		e.string(m.Requestor)
	}
	e.string(s.Default)
	e.int(int64(s.Rebalance.Threshold))
	e.int(s.Rebalance.MinDuration)
	if len(s.Allow) > 0 || s.Spare != (fairshare.Spare{}) {
		e.uint(uint64(len(s.Allow)))
		for _, p := range s.Allow {
			e.string(p.Class)
			e.strings(p.Who)
		}
	}
	if s.Spare != (fairshare.Spare{}) { // the tail may be missing
		e.int(s.Spare.MinRun)
		e.int(int64(s.Spare.AtMost))
	}
	return e.b
}

// DecodeShareSettings reads it.
func DecodeShareSettings(payload []byte) (*fairshare.Settings, error) {
	d := decoder{b: payload}
	d.byte()
	s := new(fairshare.Settings)
	if n := d.count(); n > 0 {
		s.Loads = make([]fairshare.ClassLoad, n)
	}
	for i := range s.Loads {
		s.Loads[i] = fairshare.ClassLoad{Class: d.string(), Load: int(d.int())}
	}
	if n := d.count(); n > 0 {
		s.Map = make([]fairshare.Mapping, n)
	}
	for i := range s.Map {
		s.Map[i] = fairshare.Mapping{Class: d.string(), Requestor: d.string()}
	}
	s.Default = d.string()
	s.Rebalance = fairshare.Rebalance{Threshold: int(d.int()), MinDuration: d.int()}
	if len(d.b) > 0 { // format 8 brought it
		for range d.count() {
			s.Allow = append(s.Allow, fairshare.Permission{Class: d.string(), Who: d.strings()})
		}
	}
	if len(d.b) > 0 {
		s.Spare = fairshare.Spare{MinRun: d.int(), AtMost: int(d.int())}
	}
	return s, d.done(Shares, KeyShareSettings)
}

// EncodeShareTimer is the row of since when the shares have been out of balance.
func EncodeShareTimer(t fairshare.Timer) []byte {
	e := encoder{}
	e.byte(shareStateVersion)
	e.int(t.Since)
	return e.b
}

// DecodeShareTimer reads it.
func DecodeShareTimer(payload []byte) (fairshare.Timer, error) {
	d := decoder{b: payload}
	d.byte()
	return fairshare.Timer{Running: true, Since: d.int()}, d.done(Shares, KeyShareState)
}
