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

func shareSettingsFields(f *Fields, s *fairshare.Settings) {
	f.Version(shareSettingsVersion)
	for i := range Items(f, "loads", &s.Loads) {
		f.Text("class", &s.Loads[i].Class)
		Int(f, "load", &s.Loads[i].Load)
		f.Next()
	}
	for i := range Items(f, "map", &s.Map) {
		f.Text("class", &s.Map[i].Class)
		f.Text("requestor", &s.Map[i].Requestor)
		f.Next()
	}
	f.Text("default", &s.Default)
	Int(f, "rebalance.threshold", &s.Rebalance.Threshold)
	Int(f, "rebalance.minDuration", &s.Rebalance.MinDuration)
	spare := s.Spare != (fairshare.Spare{})
	if f.More(len(s.Allow) > 0 || spare) {
		for i := range Items(f, "allow", &s.Allow) {
			f.Text("class", &s.Allow[i].Class)
			f.Texts("who", &s.Allow[i].Who)
			f.Next()
		}
	}
	if f.More(spare) {
		Int(f, "spare.minRun", &s.Spare.MinRun)
		Int(f, "spare.atMost", &s.Spare.AtMost)
	}
}

// ShareSettingsRow is the row of the settings of class shares.
var ShareSettingsRow = Kind[fairshare.Settings]{Shares, shareSettingsFields}

func shareTimerFields(f *Fields, t *fairshare.Timer) {
	f.Version(shareStateVersion)
	f.At("since", &t.Since, Past)
	if !f.bytes() {
		f.fact("running", &t.Running)
	}
	t.Running = t.Running || f.dir == reading // the row exists only while the timer runs
}

// ShareTimerRow is the row of the time since when the shares are out of balance.
var ShareTimerRow = Kind[fairshare.Timer]{Shares, shareTimerFields}
