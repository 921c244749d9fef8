package file

import (
	"runtime/debug"
	"strings"

	"github.com/placectl/placectl/store/internal/row"
)

// fault is an ErrDamaged that left bbolt in the middle of something.
type fault struct{ what string }

func (f *fault) Error() string { return row.ErrDamaged.Error() + ": " + f.what }
func (f *fault) Unwrap() error { return row.ErrDamaged }

// guard turns the faults and assertions that a damaged file sets off inside
// bbolt into ErrDamaged. Other panics go on.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			err = &fault{"reading it faults"}
		case string:
			if !boltAssertion(p) {
				panic(p)
			}
			err = &fault{p}
		default:
			panic(p)
		}
	}()
	return fn()
}

// boltAssertion recognises what bbolt says when pages contradict each other.
func boltAssertion(s string) bool {
	for _, prefix := range []string{"assertion failed", "page ", "bolt.DB.meta()", "freepages", "root bucket", "freelist", "leading element", "unexpected page",
		"invalid page", "pgid", "pgId", "misplaced bucket", "unexpected bucket", "inline bucket", "inode overflow", "invalid childAt"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
