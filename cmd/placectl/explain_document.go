package main

import (
	"math"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// The shapes of the JSON document.
type (
	requestObject struct {
		Select      string  `json:"select"`
		Place       string  `json:"place"`
		Walltime    int64   `json:"walltime"`
		User        *string `json:"user"`
		Queue       *string `json:"queue"`
		Policy      *string `json:"policy"`
		Reservation *string `json:"reservation"`
	}
	jobObject struct {
		Job          string  `json:"job"`
		State        string  `json:"state"`
		Reason       *string `json:"reason"`
		*queueObject         // of one that waits without a plan
	}
	chunkExplained struct {
		Chunk   int            `json:"chunk"`
		Select  string         `json:"select"`
		Want    int            `json:"want"`
		FitsNow int64          `json:"fits_now"`
		Reasons []reasonObject `json:"reasons"`
		Buckets []bucketObject `json:"buckets"`
	}
	reasonObject struct {
		Reason string  `json:"reason"`
		Detail string  `json:"detail"`
		Nodes  int     `json:"nodes"`
		Names  string  `json:"names"`
		Until  any     `json:"until"`
		Who    string  `json:"reservation,omitempty"`
		From   any     `json:"from,omitempty"`
		Res    string  `json:"resource,omitempty"`
		Asked  *string `json:"asked,omitempty"`
		Best   *string `json:"best,omitempty"`
	}
	bucketObject struct {
		Bucket    uint32  `json:"bucket"`
		Signature string  `json:"signature"`
		Queue     *string `json:"queue"`
		Priority  int32   `json:"priority"`
		Free      int     `json:"free"`
		Later     int     `json:"later"`
		Busy      int     `json:"busy"`
		Fits      int     `json:"fits"`
	}
	setObject struct {
		Set   string  `json:"set"`
		Nodes int     `json:"nodes"`
		Fits  []int64 `json:"fits_now"`
	}
	hostObject struct {
		Host  string  `json:"host"`
		Nodes int     `json:"nodes"`
		Fits  []int64 `json:"fits_now"`
	}
	helpObject struct {
		Change string `json:"change"`
		To     any    `json:"to"`
		Start  string `json:"start"`
		Words  string `json:"words"`
		Flag   string `json:"flag"`
	}
	rankObject struct {
		Chunk int          `json:"chunk"`
		Node  string       `json:"node"`
		Rank  int          `json:"rank"`
		Value any          `json:"value"`
		Terms []termObject `json:"terms"`
	}
	termObject struct {
		Term  string  `json:"term"`
		Value float64 `json:"value"`
	}
	nodeObject struct {
		Node   string `json:"node"`
		Chunk  int    `json:"chunk"`
		Fits   int64  `json:"fits_now"`
		Reason string `json:"reason"`
		Detail string `json:"detail"`
		Until  any    `json:"until"`
	}
	queueObject struct {
		Waits   string          `json:"waits"`
		Place   *int            `json:"place_in_queue"`
		Waiting int             `json:"in_queue"`
		Before  []string        `json:"before"`
		Depends []awaitedObject `json:"depends"`
		Alone   *aloneObject    `json:"placed_alone"`
	}
	awaitedObject struct {
		Job      string `json:"job"`
		When     string `json:"when"`
		State    string `json:"state"`
		Met      bool   `json:"met"`
		Expected any    `json:"expected"`
	}
	aloneObject struct {
		Verdict string  `json:"verdict"`
		Why     *string `json:"why"`
		Start   any     `json:"start"`
	}
	aheadObject struct {
		Who     string   `json:"who"`
		Until   string   `json:"until"`
		Overdue bool     `json:"overdue"`
		Nodes   []string `json:"nodes"`
	}
)

// document prints the explanation as one JSON document: the same fields whatever
// is explained.
func (p *explainPage) document() error {
	var res output.Result
	var row []any
	add := func(name string, k output.Kind, v any) {
		res.Columns = append(res.Columns, output.Column{Name: name, Kind: k})
		row = append(row, v)
	}
	add("request", output.Object, p.requestObject())
	add("job", output.Object, p.jobObject())
	if err := p.verdictFields(add); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		make func() (any, error)
	}{{"chunks", p.chunkObjects}, {"sets", p.setObjects}, {"hosts", p.hostObjects}, {"helps", p.helpObjects}, {"priority", p.rankObjects},
		{"asked_nodes", p.nodeObjects}, {"ahead", p.aheadObjects}} {
		list, err := part.make()
		if err != nil {
			return err
		}
		add(part.name, output.Object, list)
	}
	res.Record = true
	t := p.printer(res)
	t.Row(row...)
	return t.Close()
}

// word is a text as JSON has it, null for none.
func word(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (p *explainPage) requestObject() requestObject {
	q := p.ex.Request
	o := requestObject{User: word(q.User), Queue: word(q.Queue), Policy: word(q.Policy), Reservation: word(q.Reservation)}
	if j := p.ex.Job; j != nil {
		o.Select, o.Place, o.Walltime = j.Select, j.Place, j.Walltime
	} else {
		o.Select, o.Place, o.Walltime = p.ex.Ask.Text(p.w.defs), p.ex.Ask.Spec.Place.Format(p.w.defs), p.ex.Ask.Duration
	}
	return o
}

func (p *explainPage) jobObject() any {
	if p.ex.Job == nil {
		return nil
	}
	reason := p.ex.Job.Reason
	if p.ex.Queue != nil {
		reason = p.ex.Queue.Reason
	}
	return jobObject{jobID(p.ex.Job), p.ex.Job.State.String(), word(reason), p.queueObject()}
}

// verdictFields are the verdict, why, and where and when it starts.
func (p *explainPage) verdictFields(add func(string, output.Kind, any)) error {
	var verdict, why, start, end, path, pathWhy, policy, set any
	var numbers []uint32
	if j := p.ex.Job; j != nil {
		verdict, why, start, end = jobVerdict(p.ex), orNil(j.Reason), instant(j.Start), instant(j.End)
		path, pathWhy, policy, set = string(j.Path), orNil(p.ex.Why), orNil(j.Policy), orNil(j.Set)
		numbers = j.NodeNumbers()
	}
	if q := p.ex.Queue; q != nil {
		why, start, end = orNil(q.Reason), instant(q.Start), instant(q.End)
		if q.Plan != nil {
			set, numbers = orNil(q.Plan.Set), q.Plan.NodeNumbers()
		}
	}
	if p.ex.Explanation != nil {
		path, pathWhy, policy = string(p.ex.Path), p.ex.Explanation.Why, p.ex.Policy.String()
	}
	if p.ex.Job == nil {
		verdict = string(p.ex.Verdict)
		if p.ex.Refusal != nil {
			why = p.ex.Refusal.Why
		}
		if plan := p.ex.Plan; plan != nil {
			start, end, set, numbers = plan.Start, plan.End, orNil(plan.Set), plan.NodeNumbers()
		}
	}
	names, err := p.w.tx.NodeNames(numbers)
	if err != nil {
		return err
	}
	add("verdict", output.Text, verdict)
	add("why", output.Text, why)
	add("start", output.Time, start)
	add("end", output.Time, end)
	add("waits_for", output.List, p.ex.WaitsFor)
	add("nodes", output.List, names)
	add("path", output.Text, path)
	add("path_why", output.Text, pathWhy)
	add("policy", output.Text, policy)
	add("set", output.Text, set)
	return nil
}

func (p *explainPage) chunkObjects() (any, error) {
	out := []chunkExplained{}
	if p.ex.Explanation == nil {
		return out, nil
	}
	ix, err := p.w.tx.Index()
	if err != nil {
		return nil, err
	}
	for i := range p.ex.Chunks {
		view := &p.ex.Chunks[i]
		c := chunkExplained{Chunk: i, Select: view.Chunk.Text(p.w.defs), Want: view.Chunk.Count, FitsNow: view.Fits,
			Reasons: []reasonObject{}, Buckets: []bucketObject{}}
		for k := range view.Reasons {
			o, err := p.reasonObject(&view.Reasons[k])
			if err != nil {
				return nil, err
			}
			c.Reasons = append(c.Reasons, o)
		}
		for _, b := range view.Buckets {
			c.Buckets = append(c.Buckets, bucketObject{b.ID, ix.Describe(b.Bucket), word(b.Queue), b.Priority, b.Free, b.Later, b.Busy, b.Fits})
		}
		out = append(out, c)
	}
	return out, nil
}

func (p *explainPage) reasonObject(v *placer.Reason) (reasonObject, error) {
	o := reasonObject{Reason: string(v.Cause), Nodes: len(v.Nodes), From: forever(v.From)}
	names, err := p.w.tx.NodeNames(v.Nodes)
	if err != nil {
		return o, err
	}
	o.Names = index.FoldNodeList(names)
	if v.Cause != placer.CauseFits {
		o.Until = forever(v.Until)
	}
	if v.Cause == placer.CauseLacks || v.Cause == placer.CauseShort {
		def, _ := p.w.defs.Get(v.Want.Res)
		asked := def.Format(v.Want.Value)
		if o.Res, o.Asked = def.Name, &asked; !v.None {
			best := def.Format(v.Best)
			o.Best = &best
		}
	}
	if v.Cause == placer.CauseReserved || v.Cause == placer.CauseReservation {
		if o.Who, err = p.w.who(v.Owner); err != nil {
			return o, err
		}
	}
	o.Detail, err = p.w.reason(v)
	return o, err
}

func (p *explainPage) setObjects() (any, error) {
	out := []setObject{}
	if p.ex.Explanation != nil {
		for _, s := range p.ex.Sets {
			out = append(out, setObject{s.Name, s.Nodes, s.Fits})
		}
	}
	return out, nil
}

func (p *explainPage) hostObjects() (any, error) {
	out := []hostObject{}
	if p.ex.Explanation != nil {
		for _, h := range p.ex.Hosts {
			out = append(out, hostObject{h.Name, h.Nodes, h.Fits})
		}
	}
	return out, nil
}

func (p *explainPage) helpObjects() (any, error) {
	out := []helpObject{}
	if p.ex.Explanation == nil {
		return out, nil
	}
	for i := range p.ex.Helps {
		h := &p.ex.Helps[i]
		o := helpObject{Change: h.Change, To: h.To, Start: string(spell.AppendRFC3339(nil, h.Start))}
		if h.Change == "walltime" {
			o.To = h.Ask.Duration
		}
		o.Words, o.Flag = p.w.help(h)
		out = append(out, o)
	}
	return out, nil
}

func (p *explainPage) rankObjects() (any, error) {
	out := []rankObject{}
	if p.ex.Explanation == nil {
		return out, nil
	}
	for _, v := range p.ex.Ranking {
		names, err := p.w.tx.NodeNames([]uint32{v.Node})
		if err != nil {
			return nil, err
		}
		o := rankObject{v.Chunk, names[0], v.Rank, nil, []termObject{}}
		if !math.IsInf(v.Value, 0) {
			o.Value = v.Value
		}
		for _, t := range v.Terms {
			o.Terms = append(o.Terms, termObject{t.Text, t.Value})
		}
		out = append(out, o)
	}
	return out, nil
}

func (p *explainPage) nodeObjects() (any, error) {
	out := []nodeObject{}
	if p.ex.Explanation == nil {
		return out, nil
	}
	for i := range p.ex.Nodes {
		v := &p.ex.Nodes[i]
		names, err := p.w.tx.NodeNames([]uint32{v.Node})
		if err != nil {
			return nil, err
		}
		o := nodeObject{Node: names[0], Chunk: v.Chunk, Fits: v.Reason.Chunks, Reason: string(v.Reason.Cause)}
		if v.Reason.Cause != placer.CauseFits {
			o.Until = forever(v.Reason.Until)
		}
		if o.Detail, err = p.w.reason(&v.Reason); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (p *explainPage) aheadObjects() (any, error) {
	out := []aheadObject{}
	for _, a := range p.ex.Ahead {
		names, err := p.w.tx.NodeNames(a.Nodes)
		if err != nil {
			return nil, err
		}
		out = append(out, aheadObject{a.Owner.String(), string(spell.AppendRFC3339(nil, a.Until)), a.Overdue, names})
	}
	return out, nil
}

// queueObject is where a job stands that waits without a plan, nil for others.
func (p *explainPage) queueObject() *queueObject {
	q := p.ex.Queue
	if q == nil {
		return nil
	}
	o := &queueObject{Waits: string(q.Wait), Waiting: q.Waiting, Before: []string{}, Depends: []awaitedObject{}, Alone: p.aloneObject()}
	if q.Place > 0 {
		o.Place = &q.Place
	}
	for _, id := range q.Before {
		o.Before = append(o.Before, strconv.FormatUint(id, 10))
	}
	for _, d := range q.Depends {
		a := awaitedObject{Job: strconv.FormatUint(d.Job, 10), When: d.When.String(), State: d.State.String(), Met: d.Met}
		if d.Due != 0 {
			a.Expected = string(spell.AppendRFC3339(nil, d.Due))
		}
		o.Depends = append(o.Depends, a)
	}
	return o
}

// aloneObject is what would come of placing a waiting job now, nil where its request is
// not understood any more.
func (p *explainPage) aloneObject() *aloneObject {
	if p.ex.Explanation == nil {
		return nil
	}
	o := &aloneObject{Verdict: string(p.ex.Verdict)}
	if p.ex.Refusal != nil {
		o.Why = word(p.ex.Refusal.Why)
	}
	if p.ex.Plan != nil {
		o.Start = string(spell.AppendRFC3339(nil, p.ex.Plan.Start))
	}
	return o
}
