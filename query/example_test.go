package query_test

import (
	"fmt"
	"log"

	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// fruit is a catalog of one table in memory.
type fruit struct{}

func (fruit) Table(name string, _ values.Value) (tables.Table, error) {
	if name != "fruit" {
		return nil, nil
	}
	return &tables.Memory{
		Cols: []tables.Column{{Name: "name", Type: values.TextAffinity}, {Name: "price", Type: values.IntegerAffinity}},
		Rows: [][]values.Value{
			{values.String("apple"), values.Int(3)},
			{values.String("fig"), values.Int(9)},
			{values.String("quince"), values.Int(7)},
		},
	}, nil
}

func (fruit) Function(string, int) (tables.Function, error) { return nil, nil }
func (fruit) Names() []string                               { return []string{"fruit"} }

func (fruit) Literal(_ tables.Unit, text string) (values.Value, error) {
	return values.String(text), nil
}

// Prepare makes a statement for the tables of a catalog, and Rows runs it. An error says where in the text it is.
func Example() {
	for _, text := range []string{"SELECT count(*), max(price) FROM fruit WHERE price > 5",
		"SELECT colour FROM fruit"} {
		statements, err := query.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		stmt, err := query.Prepare(fruit{}, text, statements[0], query.Options{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		for row, err := range stmt.Rows() {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(row[0], row[1])
		}
	}
	// Output:
	// 2 9
	// line 1, column 8: no column "colour" in fruit
}
