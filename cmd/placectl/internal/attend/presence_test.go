package attend

import (
	"os"
	"testing"
)

// TestPresence: one process stands for a user, the next one once that has gone, for one epoch
// of a database.
func TestPresence(t *testing.T) {
	uid := uint32(os.Getuid())
	id := t.Name() + t.TempDir()[len(os.TempDir()):][:8]
	is := func(epoch string, want bool) {
		t.Helper()
		if Present(id, epoch, uid) != want {
			t.Errorf("epoch %s: present is %v", epoch, !want)
		}
	}
	var first, second Presence
	is("1", false)
	first.Keep(id, "1")
	second.Keep(id, "1")
	is("1", true)
	is("2", false)
	if Present(id, "1", uid+1) {
		t.Error("another user is present")
	}
	first.Keep(id, "2")
	is("1", false)
	is("2", true)
	second.Keep(id, "1")
	is("1", true)
	first.Close()
	second.Close()
	is("1", false)
	is("2", false)
}
