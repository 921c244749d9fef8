package trends

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// curve is a value over time, and how to show it.
type curve struct {
	title string
	value func(*Point) float64
	most  float64 // fixed top of the picture, 0: the greatest value
	text  func(float64) string
}

// curves returns the pictures of a series.
func (s *Series) curves() []curve {
	used := curve{title: "cpus used", value: func(p *Point) float64 { return p.Used }, most: float64(s.CPUs),
		text: count}
	if s.CPUs > 0 {
		used.title = fmt.Sprintf("cpus used, of %d", s.CPUs)
	}
	return []curve{used,
		{title: "jobs waiting", value: func(p *Point) float64 { return p.Waiting }, text: count},
		{title: "mean wait of jobs that started", value: func(p *Point) float64 { return p.MeanWait }, text: seconds}}
}

func count(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

func seconds(v float64) string { return string(text.AppendAbout(nil, int64(v))) }

// top returns the value at the top of a curve's picture.
func (c *curve) top(s *Series) float64 {
	most := c.most
	for i := range s.Points {
		most = max(most, c.value(&s.Points[i]))
	}
	return max(most, 1)
}

// plotLines is the height of a curve in characters.
const plotLines = 5

var (
	eighths = []rune(" ▁▂▃▄▅▆▇█")
	halves  = []rune(" .:#")
)

// Plot draws the series in characters, with one curve below the other, in width columns. If there are
// more steps than columns, steps share a column.
func (s *Series) Plot(width int, blocks bool, zone *time.Location) []byte {
	var b strings.Builder
	marks := eighths
	if !blocks {
		marks = halves
	}
	for n, c := range s.curves() {
		if n > 0 {
			b.WriteByte('\n')
		}
		top := c.top(s)
		scale := len(c.text(top))
		columns := s.columns(&c, max(width-scale-2, 10))
		fmt.Fprintf(&b, "%s\n", c.title)
		for line := plotLines - 1; line >= 0; line-- {
			label := ""
			switch line {
			case plotLines - 1:
				label = c.text(top)
			case 0:
				label = "0"
			}
			fmt.Fprintf(&b, "%*s |%s\n", scale, label, strings.TrimRight(plotLine(columns, top, line, marks), " "))
		}
		left, right := s.ends(zone)
		pad := max(len(columns)-len(left)-len(right), 1)
		fmt.Fprintf(&b, "%*s  %s%s%s\n", scale, "", left, strings.Repeat(" ", pad), right)
	}
	return []byte(b.String())
}

// ends returns the labels below the left and the right end of a picture: instants, or 0 and its length.
func (s *Series) ends(zone *time.Location) (left, right string) {
	length := s.Step * int64(len(s.Points))
	if s.Undated {
		return "0", string(text.AppendAbout(nil, length))
	}
	first, last := time.Unix(s.From, 0).In(zone), time.Unix(s.From+length, 0).In(zone)
	return first.Format("2006-01-02 15:04"), last.Format("2006-01-02 15:04")
}

// columns returns the value of a curve for each column: the mean over the column's steps.
func (s *Series) columns(c *curve, most int) []float64 {
	n := len(s.Points)
	cols := make([]float64, min(n, most))
	for i := range cols {
		from, to := i*n/len(cols), (i+1)*n/len(cols)
		for k := from; k < to; k++ {
			cols[i] += c.value(&s.Points[k]) / float64(to-from)
		}
	}
	if n > 0 && n*2 <= most { // few steps get several columns each
		wide := make([]float64, 0, most)
		for _, v := range cols {
			for range most / n {
				wide = append(wide, v)
			}
		}
		return wide
	}
	return cols
}

// plotLine returns one line of a picture, counted from below.
func plotLine(columns []float64, top float64, line int, marks []rune) string {
	var b strings.Builder
	full := len(marks) - 1
	for _, v := range columns {
		units := int(math.Round(v / top * float64(plotLines*full)))
		if v > 0 && units == 0 {
			units = 1
		}
		b.WriteRune(marks[min(max(units-line*full, 0), full)])
	}
	return b.String()
}
