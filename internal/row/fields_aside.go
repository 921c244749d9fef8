package row

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
)

// form is a direction that is not hot: how it passes the objects, lists and values of a row.
type form interface {
	// open begins an object, which end ends, and reports whether the row has it. An optional one
	// that it does not have is not begun.
	open(name string, optional, there bool) bool
	end()
	// list begins a list and returns the number of its items. next ends an item.
	list(name string, n int) int
	next()
	// plain passes a pointer to a value, and says what it is.
	plain(name, what string, v any)
}

// plain passes a copy of a value, so that the row stays where it is, and returns what became of it.
// JSON does not have those that are zero, except items of lists.
func plain[V any](f *Fields, name, what string, v V, none bool) V {
	if f.dir == writingJSON && none && name != "" {
		return v
	}
	to := new(V)
	*to = v
	f.form.plain(name, what, to)
	return *to
}

func (f *Fields) textAside(name string, v *string) { *v = plain(f, name, "text", *v, *v == "") }

func (f *Fields) blobAside(name string, v *[]byte) {
	if *v = plain(f, name, "text", *v, len(*v) == 0); len(*v) == 0 {
		*v = nil
	}
}

func (f *Fields) digitsAside(name string, v []byte) {
	text := ""
	if slices.ContainsFunc(v, func(b byte) bool { return b != 0 }) {
		text = hex.EncodeToString(v)
	}
	if text = plain(f, name, "text", text, text == ""); f.dir == readingJSON && text != "" {
		b, err := hex.DecodeString(text)
		if err == nil && len(b) != len(v) {
			err = fmt.Errorf("%q is not %d hexadecimal digits", text, 2*len(v))
		}
		f.mistaken(name, err)
		copy(v, b)
	}
}

// mistaken records why a field cannot have the value that it was given.
func (f *Fields) mistaken(name string, why error) {
	if r, is := f.form.(*jsonReader); is {
		r.fail(name, why)
	}
}

// eachAside returns the number of items of a list of fixed length, or 0 if all are zero.
func eachAside[T comparable](f *Fields, name string, of []T) int {
	var none T
	if f.dir == writingJSON && name != "" && !slices.ContainsFunc(of, func(v T) bool { return v != none }) {
		return 0
	}
	n := f.form.list(name, len(of))
	if f.dir == readingJSON && n != 0 && n != len(of) {
		f.mistaken(name, fmt.Errorf("%d items instead of %d", n, len(of)))
	}
	return min(n, len(of))
}

func itemsAside[T any](f *Fields, name string, of *[]T) int {
	n := f.form.list(name, len(*of))
	if n > len(*of) {
		*of = make([]T, n)
	}
	return n
}

func numberAside[T number](f *Fields, name string, v *T) { numberOf(f, name, "number", v) }

// numberOf passes a number as the widest one of its sign.
func numberOf[T number](f *Fields, name, what string, v *T) {
	var none T
	same := true
	if none-1 < none {
		n := plain(f, name, what, int64(*v), *v == 0)
		*v, same = T(n), int64(T(n)) == n
	} else {
		n := plain(f, name, what, uint64(*v), *v == 0)
		*v, same = T(n), uint64(T(n)) == n
	}
	if !same {
		f.mistaken(name, errors.New("the number is too large"))
	}
}

func (f *Fields) floatAside(name string, v *float64) {
	*v = plain(f, name, "number", *v, *v == 0 && !math.Signbit(*v))
}

// fact passes a bool in the directions other than bytes.
func (f *Fields) fact(name string, v *bool) { *v = plain(f, name, "boolean", *v, !*v) }

func (f *Fields) uidAside(name string, v **uint32) { *v = plain(f, name, "number", *v, *v == nil) }
