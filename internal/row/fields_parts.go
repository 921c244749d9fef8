package row

// Part begins a part of a row that is behind a pointer; End ends it. is says whether the row
// being read has it.
func Part[T any](f *Fields, name string, v **T, is bool) bool {
	switch {
	case f.dir == reading:
		if *v = nil; is {
			*v = new(T)
		}
	case f.dir != writing && f.form.open(name, true, *v != nil) && *v == nil:
		*v = new(T)
	}
	return *v != nil
}

// Object begins a part of a row that is a separate object in a document; End ends it.
func (f *Fields) Object(name string) {
	if !f.bytes() {
		f.form.open(name, false, true)
	}
}

// End ends a part.
func (f *Fields) End() {
	if !f.bytes() {
		f.form.end()
	}
}

// Items begins a list and returns the number of its items. A list of fields visits them:
//
//	for i := range Items(f, "after", &j.After) {
//		afterFields(f, &j.After[i])
//		f.Next()
//	}
//
// There is no function for each item, so that nothing escapes.
func Items[T any](f *Fields, name string, of *[]T) int {
	switch f.dir {
	case writing:
		f.uvar(uint64(len(*of)))
	case reading:
		if f.borrow {
			return Again(f, name, of)
		}
		n := f.count(0)
		if *of = nil; n > 0 {
			*of = make([]T, n)
		}
	default:
		return itemsAside(f, name, of)
	}
	return len(*of)
}

// Again begins a list whose memory is reused.
func Again[T any](f *Fields, name string, of *[]T) int {
	if f.dir != reading {
		return Items(f, name, of)
	}
	n := f.count(0)
	if cap(*of) < n {
		*of = append((*of)[:cap(*of)], make([]T, n-cap(*of))...)
	}
	*of = (*of)[:n]
	return n
}

// Next ends an item of a list.
func (f *Fields) Next() {
	if !f.bytes() {
		f.form.next()
	}
}

// Texts is a list of texts.
func (f *Fields) Texts(name string, of *[]string) {
	if f.borrow { // no index needs any
		for range f.count(0) {
			f.take(f.count(0))
		}
		return
	}
	for i := range Items(f, name, of) {
		f.Text("", &(*of)[i])
		f.Next()
	}
}

// Uints is a list of non-negative numbers.
func Uints[T number](f *Fields, name string, of *[]T) {
	for i := range Items(f, name, of) {
		Uint(f, "", &(*of)[i])
		f.Next()
	}
}

// Each begins a list of fixed length, which is not written.
func Each[T comparable](f *Fields, name string, of []T) int {
	if f.bytes() {
		return len(of)
	}
	return eachAside(f, name, of)
}

// Counts is such a list of non-negative numbers.
func Counts[T number](f *Fields, name string, of []T) {
	for i := range Each(f, name, of) {
		Uint(f, "", &of[i])
		f.Next()
	}
}

// Delta is a number, written as its distance from one that is not greater.
func Delta[T number](f *Fields, name string, v *T, from T) {
	if f.bytes() {
		if n := f.uvar(uint64(*v - from)); f.dir == reading {
			*v = from + T(n)
		}
		return
	}
	numberAside(f, name, v)
}

// KeyText is a name that is the row's key.
func (f *Fields) KeyText(name string, v *string) {
	switch f.dir {
	case writing:
	case reading:
		*v = string(f.key)
	default:
		f.textAside(name, v)
	}
}

// KeyPart is a number that is part of the row's key: size bytes from at on, in a key of the
// given length.
func KeyPart[T number](f *Fields, name string, at, size, of int, v *T) {
	switch f.dir {
	case writing:
	case reading:
		if len(f.key) != of {
			f.bad = true
			return
		}
		n := uint64(0)
		for _, b := range f.key[at : at+size] {
			n = n<<8 | uint64(b)
		}
		*v = T(n)
	default:
		numberAside(f, name, v)
	}
}
