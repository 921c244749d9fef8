package row

// View is a query with a name, to be used as a table.
type View struct {
	Name   string // in lower case
	Select string // in SQL
}

const viewVersion = 1

// EncodeView is the row of a view.
func EncodeView(v *View) []byte {
	e := encoder{}
	e.byte(viewVersion)
	e.string(v.Select)
	return e.b
}

// DecodeView reads it.
func DecodeView(key, payload []byte) (*View, error) {
	d := decoder{b: payload}
	d.byte()
	v := &View{Name: string(key), Select: d.string()}
	return v, d.done(Views, key)
}
