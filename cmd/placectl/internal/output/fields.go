package output

import (
	"fmt"
	"strings"
)

// Field is a column of a noun, with the function that reads its value.
type Field[T any] struct {
	// Name to Least define the column.
	Name     string
	Kind     Kind
	Right    bool
	Nodes    bool
	Detail   bool
	Required bool
	Flag     bool
	Sparse   bool
	Least    int
	Value    func(T) any
}

// Fields are the columns of a noun. Each noun has one table of them, and answers pick from it.
type Fields[T any] []Field[T]

// Pick chooses fields by name, in that order: "job state nodes reason*". Those with a star are
// details in this answer, whatever the table says.
func (f Fields[T]) Pick(names string) Fields[T] {
	picked := make(Fields[T], 0, strings.Count(names, " ")+1)
	for name := range strings.FieldsSeq(names) {
		name, detail := strings.CutSuffix(name, "*")
		field := *f.named(name)
		field.Detail = detail
		picked = append(picked, field)
	}
	return picked
}

func (f Fields[T]) named(name string) *Field[T] {
	for i := range f {
		if f[i].Name == name {
			return &f[i]
		}
	}
	panic(fmt.Sprintf("placectl: no field %s", name))
}

// Column returns the field's column.
func (f Field[T]) Column() Column {
	return Column{Name: f.Name, Kind: f.Kind, Right: f.Right, Nodes: f.Nodes, Detail: f.Detail, Required: f.Required,
		Flag: f.Flag, Sparse: f.Sparse, Least: f.Least}
}

// Columns returns the fields' columns.
func (f Fields[T]) Columns() []Column {
	columns := make([]Column, len(f))
	for i := range f {
		columns[i] = f[i].Column()
	}
	return columns
}

// Print prints one thing as a row of an answer with these columns. It reads only the values that are
// shown.
func (f Fields[T]) Print(p *Printer, of T) error {
	return p.row(len(f), func(i int) any { return f[i].Value(of) })
}
