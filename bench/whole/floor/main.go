// Command floor is the least program of placectl's kind: it parses its command line with cli/v2, opens the file with
// bbolt, reads a bitmap and prints a line. No start of placectl can be cheaper, and bench/whole prints each beside it.
package main

import (
	"fmt"
	"os"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/urfave/cli/v2"
	"go.etcd.io/bbolt"
)

func main() {
	app := &cli.App{
		Name:   "floor",
		Usage:  "print the size of a bitmap",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "db", EnvVars: []string{"PLACECTL_DB"}, Usage: "the database `FILE`"}},
		Action: func(c *cli.Context) error { return size(c.String("db")) },
	}
	if err := app.Run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// size prints the number of bits of the first bitmap. Its row begins with a byte, the version.
func size(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error {
		_, row := tx.Bucket([]byte("bitmaps")).Cursor().First()
		bits := roaring.New()
		if _, err := bits.FromBuffer(row[1:]); err != nil {
			return err
		}
		_, err := fmt.Println(bits.GetCardinality())
		return err
	})
}
