package row

// View is a named query to use as a table.
type View struct {
	Name   string // in lower case
	Select string // in SQL
}

const viewVersion = 1

func viewFields(f *Fields, v *View) {
	f.Version(viewVersion)
	f.KeyText("name", &v.Name)
	f.Text("select", &v.Select)
}

// EncodeView returns the row of a view.
func EncodeView(v *View) []byte { return encode(viewFields, v) }

// DecodeView reads it.
func DecodeView(key, payload []byte) (*View, error) {
	return decode(Views, viewFields, key, payload)
}
