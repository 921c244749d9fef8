package replica

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A database's instant only moves forward, through the log, so a machine whose clock is ahead
// would lock out all others. So a machine compares its clock with the log's, and keeps the
// result for a while, unless its clock was changed meanwhile. A change shows in comparison
// with the time since boot.
const (
	clockKept = 10 * time.Minute
	clockJump = time.Second
)

// Ahead returns how far this machine's clock is ahead of the log's, 0 if unknown. An earlier
// measurement is used if it is at most most; a larger one is measured again, because the clock
// may have been corrected.
func (rep *Replica) Ahead(most time.Duration) (time.Duration, error) {
	path := filepath.Join(rep.opt.Folder, rep.ID().String()+".clock")
	if ahead, known := readClock(path); known && ahead <= most {
		return ahead, nil
	}
	ctx, cancel := within(rep.until())
	defer cancel()
	m, err := rep.driver.Members(ctx)
	if err != nil || !m.ClockKnown {
		return 0, rep.away(err)
	}
	text := fmt.Sprintf("%d %d %d\n", m.Ahead, time.Now().UnixNano(), sinceBoot())
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err == nil {
		_ = os.Rename(path+".new", path)
	}
	return m.Ahead, nil
}

// readClock returns an earlier result, if it is still valid.
func readClock(path string) (ahead time.Duration, known bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	var wall, boot int64
	if n, _ := fmt.Sscan(string(text), &ahead, &wall, &boot); n != 3 {
		return 0, false
	}
	passed := sinceBoot() - time.Duration(boot)
	moved := time.Duration(time.Now().UnixNano()-wall) - passed
	return ahead, passed >= 0 && passed < clockKept && moved.Abs() < clockJump
}
