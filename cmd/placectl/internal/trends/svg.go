package trends

import (
	"bytes"
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// Measures of a picture, in pixels.
const (
	svgWidth  = 1000
	svgHeight = 140 // of a curve
	svgLeft   = 70
	svgGap    = 50
)

// SVG draws the series as a document of its own, one curve below the other. It is of the
// colours of its reader's choice, light or dark.
func (s *Series) SVG(title string, zone *time.Location) []byte {
	curves := s.curves()
	height := 40 + len(curves)*(svgHeight+svgGap)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">
<style>
.ground{fill:#fff}.bar{fill:#2a78b8}.axis{stroke:#999;fill:none}text{fill:#222}.faint{fill:#666}
@media(prefers-color-scheme:dark){.ground{fill:#16191d}.bar{fill:#5aa9e6}text{fill:#e6e6e6}.faint{fill:#9aa3ad}.axis{stroke:#667}}
</style>
<rect class="ground" width="100%%" height="100%%"/>
<text x="%d" y="22" font-size="15">`, svgWidth, height, svgLeft)
	b.WriteString(text.Markup(title))
	b.WriteString("</text>\n")
	for n, c := range curves {
		s.svgCurve(&b, &c, 40+n*(svgHeight+svgGap)+16, zone)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (s *Series) svgCurve(b *bytes.Buffer, c *curve, y int, zone *time.Location) {
	top := c.top(s)
	plot := float64(svgWidth - svgLeft - 20)
	columns := s.columns(c, int(plot))
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text>\n", svgLeft, y-4, c.title)
	fmt.Fprintf(b, "<text class=\"faint\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%s</text><text class=\"faint\" text-anchor=\"end\" x=\"%d\" y=\"%d\">0</text>\n",
		svgLeft-6, y+10, c.text(top), svgLeft-6, y+svgHeight)
	w := plot / float64(max(len(columns), 1))
	b.WriteString("<path class=\"bar\" d=\"")
	for i, v := range columns {
		h := v / top * svgHeight
		if h > 0 {
			fmt.Fprintf(b, "M%.1f %dv%.1fh%.2fv%.1fz", svgLeft+float64(i)*w, y+svgHeight, -h, w, h)
		}
	}
	fmt.Fprintf(b, "\"/>\n<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", svgLeft, y, y+svgHeight, svgWidth-20)
	for i := range 5 {
		at := s.From + s.Step*int64(len(s.Points))*int64(i)/4
		anchor := [5]string{"start", "middle", "middle", "middle", "end"}[i]
		fmt.Fprintf(b, "<text class=\"faint\" text-anchor=\"%s\" x=\"%.0f\" y=\"%d\">%s</text>\n", anchor, svgLeft+plot*float64(i)/4, y+svgHeight+16,
			time.Unix(at, 0).In(zone).Format("2006-01-02 15:04"))
	}
}
