package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/trends"
)

// sample returns a page of jobs on nodes, with names that try to escape from it.
func sample(jobs, nodes int) *Page {
	p := &Page{Title: "a <b>page</b>", Now: 1_790_000_000, From: 1_790_000_000 - 7*86400, To: 1_790_000_000 + 86400,
		Until: 1_790_000_000}
	var past []trends.Job
	for n := range nodes {
		p.Nodes = append(p.Nodes, Node{fmt.Sprintf("node%04d", n), n%17 != 3})
	}
	for i := range jobs {
		submit := p.From + int64(i)*(p.To-p.From)/int64(jobs)
		j := Job{ID: uint64(i + 1), Name: fmt.Sprintf("</script><img src=x onerror=alert(%d)>", i%7),
			User: fmt.Sprint("user", i%13), Queue: []string{"", "long", "short"}[i%3],
			State: "finished", Submit: submit, Start: submit + int64(i*37%5000), CPUs: int64(1 + i%8)}
		j.End = j.Start + int64(600+i*101%40000)
		if j.End > p.Now {
			j.State = "running"
		}
		for k := range 1 + i%4 {
			j.Nodes = append(j.Nodes, uint32((i*7+k)%nodes))
		}
		p.Jobs = append(p.Jobs, j)
		past = append(past, trends.Job{Submit: j.Submit, Start: j.Start, End: j.End, CPUs: j.CPUs, User: j.User})
	}
	for i := range jobs / 20 {
		p.Queue = append(p.Queue, Waiting{uint64(jobs + i), "next", "user1", "queued", "no room", p.Now + int64(i)*60})
	}
	p.Supposed = &Supposed{What: "--add 'node[0100-0103] like node0001'",
		Rows: []SupposedRow{{Of: "all", Jobs: jobs / 20, Before: 9000, After: 3600},
			{Of: "user", Name: "user1", Jobs: jobs / 20, Before: 9000, After: 3600, LateBefore: 2}}}
	p.Series = trends.Over(past, p.From, p.Now, 3600, int64(nodes*8))
	p.Tables, p.GoesOn = Tables(past, p.From, p.Now, "user"), true
	return p
}

// TestEmbedded: what is embedded is JSON that ends where it should, and the page fetches nothing.
func TestEmbedded(t *testing.T) {
	page, err := sample(1000, 100).HTML()
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 1<<20 {
		t.Errorf("a page of 1,000 jobs on 100 nodes has %d bytes", len(page))
	}
	text := string(page)
	_, data, _ := strings.Cut(text, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var of struct{ Jobs [][]any }
	if err := json.Unmarshal([]byte(data), &of); err != nil || len(of.Jobs) != 1000 {
		t.Errorf("the page embeds %d jobs, want 1000: %v", len(of.Jobs), err)
	}
	if strings.Contains(text, "<img") || strings.Contains(text, "<b>page") || strings.Count(text, "</script>") != 2 {
		t.Error("a name has escaped from its place")
	}
	if m := regexp.MustCompile(`(src|href)=|https?://|@import|url\(`).FindString(
		strings.ReplaceAll(text, data, "")); m != "" {
		t.Errorf("the page fetches %s", m)
	}
}

// TestZone: a page says whose zone its times are in, if they are dates.
func TestZone(t *testing.T) {
	for _, undated := range []bool{false, true} {
		p := sample(10, 2)
		p.Series.Undated = undated
		page, err := p.HTML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), "browser's zone") == undated || strings.Contains(string(page), "{{") {
			t.Errorf("a page with undated %t ends wrongly: %s", undated, page)
		}
	}
}

// asks is what is done with the page in a browser. The answers are read in the page's own text. Frames are
// drawn at several zooms, and the slowest counts.
const asks = `<script>
window.onerror=m=>{document.body.dataset.error=m};
let slow=0;for(let i=0;i<12;i++){zoom(.7);const t=performance.now();draw();slow=Math.max(slow,performance.now()-t)}
fit();const t=performance.now();draw();slow=Math.max(slow,performance.now()-t);
document.body.dataset.slow=slow.toFixed(1);
$("find").value="user7";search();document.body.dataset.hits=$("hits").textContent;$("find").value="";search();
const r=G.getBoundingClientRect(),k=L[5][0][0];
const e={clientX:r.left+x((Math.max(a,begin(k))+Math.min(b,end(k)))/2),clientY:r.top+head+5*rowH-top0+rowH/L[5].length/2};
document.body.dataset.under=at(e)==k;tip(k,e);document.body.dataset.tip=$("tip").textContent.split("\n")[0].slice(0,20);
const w=b-a;zoom(.5);document.body.dataset.zoomed=Math.abs((b-a)/w-.5)<.01;
document.body.dataset.wide=document.documentElement.scrollWidth<=innerWidth;
document.body.dataset.rows=document.querySelectorAll("#queue tr").length+" "+document.querySelectorAll("#tables tr").length+" "+document.querySelectorAll("#if tr").length;
</script>`

// TestInBrowser: the page draws, zooms, finds, and shows what the mouse points at, without a message on the
// console. Frames are fast enough.
func TestInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium here (Debian package chromium): the page is not tried in a browser")
	}
	for _, c := range []struct {
		jobs, nodes, width int
		frame              float64 // milliseconds; here only the processor draws
	}{{1000, 100, 1600, 200}, {18000, 500, 500, 1500}} {
		page, err := sample(c.jobs, c.nodes).HTML()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "page.html")
		if err := os.WriteFile(file, []byte(strings.Replace(string(page), "</body>", asks+"</body>", 1)),
			0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+filepath.Join(dir, "profile"),
			fmt.Sprintf("--window-size=%d,1000", c.width), "--dump-dom", "file://"+file).Output()
		if err != nil {
			t.Fatal(err)
		}
		said := make(map[string]string)
		body := regexp.MustCompile(`<body[^>]*>`).FindString(string(out))
		for _, m := range regexp.MustCompile(`data-([a-z]+)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			said[m[1]] = m[2]
		}
		for what, want := range map[string]string{"ready": fmt.Sprint(c.jobs, " jobs"), "error": "", "under": "true",
			"zoomed": "true", "wide": "true",
			"hits": fmt.Sprint((c.jobs+5)/13, " of ", c.jobs),
			"rows": fmt.Sprint(min(c.jobs/20, 500)+1+btoi(c.jobs/20 > 500), " 14 3")} {
			if said[what] != want {
				t.Errorf("%d jobs: %s is %q, want %q", c.jobs, what, said[what], want)
			}
		}
		if !strings.HasPrefix(said["tip"], "job ") {
			t.Errorf("%d jobs: the mouse shows %q", c.jobs, said["tip"])
		}
		slow, err := strconv.ParseFloat(said["slow"], 64)
		t.Logf("%d jobs on %d nodes: %d bytes, the slowest frame %s ms", c.jobs, c.nodes, len(page), said["slow"])
		if err != nil || slow > c.frame {
			t.Errorf("%d jobs: a frame takes %s ms, at most %g are wanted", c.jobs, said["slow"], c.frame)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
