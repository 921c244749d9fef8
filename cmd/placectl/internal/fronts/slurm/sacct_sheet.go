package slurm

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// sheet is a format of sacct's lines.
type sheet struct {
	b    *strings.Builder
	cols []accountColumn
	set  fronts.Set
}

// accountColumn is a column of sacct.
type accountColumn struct {
	field *accountField
	width int
	left  bool
}

func newSheet(b *strings.Builder, set fronts.Set, cols []accountColumn) *sheet {
	return &sheet{b, cols, set}
}

func (s *sheet) parsable() bool { return s.set.Has("parsable", "parsable2") }

func (s *sheet) head() {
	if s.set.Has("noheader") {
		return
	}
	s.line(func(c accountColumn) string { return c.field.name })
	if !s.parsable() {
		s.line(func(c accountColumn) string { return strings.Repeat("-", c.width) })
	}
}

func (s *sheet) row(a *account) {
	s.line(func(c accountColumn) string { return c.field.value(a) })
}

func (s *sheet) line(of func(accountColumn) string) {
	delimiter := "|"
	if s.set.Has("delimiter") {
		delimiter = s.set["delimiter"]
	}
	for i, c := range s.cols {
		text := fronts.OneLine(of(c))
		if s.parsable() {
			s.b.WriteString(text)
			if i+1 < len(s.cols) || s.set.Has("parsable") && !s.set.Has("parsable2") {
				s.b.WriteString(delimiter)
			}
			continue
		}
		if c.width > 0 {
			text = fronts.Cut(text, c.width, "+")
		}
		pad := strings.Repeat(" ", max(c.width-utf8.RuneCountInString(text), 0))
		if c.left {
			s.b.WriteString(text + pad)
		} else {
			s.b.WriteString(pad + text)
		}
		s.b.WriteByte(' ')
	}
	s.b.WriteByte('\n')
}

// accountColumns returns the columns of --format, or the default ones.
func accountColumns(set fronts.Set) (cols []accountColumn, err error) {
	format := "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
	switch {
	case set.Has("format"):
		format = set["format"]
	case set.Has("brief"):
		format = "JobID,State,ExitCode"
	case set.Has("long"):
		format =
			"JobID,JobIDRaw,JobName,Partition,MaxRSS,AveRSS,NTasks,AllocCPUS,Elapsed,State,ExitCode,ReqMem,AllocTRES"
	}
	for word := range strings.SplitSeq(format, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		name, size, sized := strings.Cut(word, "%")
		if strings.EqualFold(name, "all") {
			for i := range accountFields() {
				f := &accountFields()[i]
				cols = append(cols, accountColumn{field: f, width: f.width, left: f.left})
			}
			continue
		}
		f := accountFields().find(name)
		if f == nil {
			return nil, fronts.Failf(1, "sacct: fatal: Invalid field requested: \"%s\"", name)
		}
		c := accountColumn{field: f, width: f.width, left: f.left}
		if sized {
			left := strings.HasPrefix(size, "-")
			n, err := strconv.Atoi(strings.TrimPrefix(size, "-"))
			if err != nil || n < 0 || n > widest {
				return nil, fronts.Failf(1, "sacct: fatal: Invalid field size: %s", size)
			}
			c.width, c.left = n, left
		}
		cols = append(cols, c)
	}
	return cols, nil
}
