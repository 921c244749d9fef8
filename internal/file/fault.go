package file

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/placectl/placectl/internal/row"
)

// fault is an ErrDamaged that interrupted bbolt in the middle of an operation.
type fault struct{ what string }

func (f *fault) Error() string { return row.ErrDamaged.Error() + ": " + f.what }
func (f *fault) Unwrap() error { return row.ErrDamaged }

// Guard turns faults and panics that a damaged file causes inside bbolt, or in a bitmap read
// from it, into ErrDamaged. Other panics continue, with their value and on their stack.
func Guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			err = &fault{"reading it faults"}
		default:
			origin := panicOrigin()
			if !slices.ContainsFunc(trusting, func(module string) bool { return strings.HasPrefix(origin, module) }) {
				panic(p)
			}
			err = &fault{fmt.Sprint(p)}
		}
	}()
	return fn()
}

// trusting lists the modules that trust the contents of a file to be what they wrote.
var trusting = []string{"go.etcd.io/bbolt", "github.com/RoaringBitmap/roaring"}

// panicOrigin returns the function that a panic which is being recovered comes from. A
// deferred function on the way may have recovered it and panicked again. The first panic,
// which is the deepest, counts.
func panicOrigin() (origin string) {
	var pcs [1024]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for panicked := false; ; {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicked = true
		case panicked && !strings.HasPrefix(frame.Function, "runtime."):
			origin, panicked = frame.Function, false
		}
		if !more {
			return origin
		}
	}
}
