// Command logic runs SQLite's public logic tests (sqllogictest) against placectl. It makes nodes of the
// rows: each table is a queue, and each row a node of it with a resource for each column. A view with
// the table's name selects them. Tables that cannot be nodes, because of negative numbers or empty texts,
// become tables in memory. SQLite runs the statements that change tables, and the rows come from it. The
// expected results of queries are those in the files. The files are not kept here. To get them:
//
//	git clone --depth 1 https://github.com/gregrahn/sqllogictest
//	cd bench/oracle && go run ./logic ../../../sqllogictest/test/select*.test \
//		../../../sqllogictest/test/index ../../../sqllogictest/test/random/expr
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	memory := flag.Bool("memory", false, "tables in memory, no nodes")
	show := flag.Int("show", 10, "wrong answers shown")
	most := flag.Int("most", 0, "records of a file; 0: all")
	flag.Parse()
	files, err := list(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	total := &tally{refused: map[string]int{}, show: *show}
	for _, file := range files {
		if err := run(file, *memory, *most, total); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
		fmt.Fprintf(os.Stderr, "\r%d records, %d wrong  ", total.asked, total.wrong)
	}
	fmt.Printf("\n%d files, %d records asked (%d of nodes), %d wrong, %d refused, in %s\n", len(files), total.asked,
		total.nodes, total.wrong, total.refusals(), time.Since(total.begun).Round(time.Second))
	for _, why := range slices.Sorted(maps.Keys(total.refused)) {
		fmt.Printf("%8d refused: %s\n", total.refused[why], why)
	}
	if total.wrong > 0 {
		os.Exit(1)
	}
}

// tally counts the results of the records.
type tally struct {
	asked, nodes, wrong, show int
	refused                   map[string]int
	begun                     time.Time
}

func (t *tally) refusals() (n int) {
	for _, k := range t.refused {
		n += k
	}
	return n
}

// list finds the files in folders.
func list(args []string) (files []string, err error) {
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".test") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}
