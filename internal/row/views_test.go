package row

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/index"
)

// TestViews compares what views read in place with what the lists read, on random rows.
func TestViews(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var jv JobView
	var nv NodeView
	for range 2000 {
		j := new(Job)
		fill(r, reflect.ValueOf(j).Elem())
		fitChunks(r, j.Chunks)
		j.Devices, j.Bind = nil, 0
		viewJob(t, &jv, j)
		n := new(index.Node)
		fill(r, reflect.ValueOf(n).Elem())
		fitNode(r, n)
		for i := range n.Res {
			n.Res[i].Res = index.ResID(3 * i) // they come by number
		}
		viewNode(t, &nv, n)
	}
}

func viewJob(t *testing.T, v *JobView, j *Job) {
	t.Helper()
	payload := EncodeJob(j)
	if err := v.Open(Key64(j.ID), payload); err != nil {
		t.Fatal(err)
	}
	var nodes []uint32
	for _, c := range j.Chunks {
		for _, n := range c.Nodes {
			nodes = append(nodes, n.Node)
		}
	}
	got, err := v.AllNodes()
	if want := each(append(nodes, j.Along...)); err != nil || !slices.Equal(each(got), want) {
		t.Fatalf("%x: nodes %v, %v, and the list has %v", payload, got, err, want)
	}
	texts := make(map[JobText]string)
	for _, text := range []JobText{JobSelectText, JobNameText, JobClassText, JobUserText, JobQueueText,
		JobAccountText} {
		b, err := v.Text(text)
		if err != nil {
			t.Fatal(err)
		}
		texts[text] = string(b)
	}
	var is, want Job
	is.ID, is.State, is.Walltime, is.Submit, is.Start, is.End = v.ID(), v.State(), v.Walltime(), v.Submit(), v.Start(),
		v.End()
	is.Select, is.Queue, is.Name, is.User = string(v.Select()), string(v.Queue()), texts[JobNameText],
		texts[JobUserText]
	is.Account, is.Class = texts[JobAccountText], texts[JobClassText]
	want.ID, want.State, want.Walltime, want.Submit, want.Start, want.End = j.ID, j.State, j.Walltime, j.Submit,
		j.Start, j.End
	want.Select, want.Queue, want.Name, want.User, want.Account, want.Class = j.Select, j.Queue, j.Name, j.User,
		j.Account, j.Class
	if !reflect.DeepEqual(is, want) || texts[JobSelectText] != j.Select || texts[JobQueueText] != j.Queue {
		t.Fatalf("%x: the view has\n%+v and the list\n%+v", payload, is, want)
	}
	whole, err := v.Job()
	if err != nil || whole.Reason != j.Reason {
		t.Fatal(err, whole)
	}
}

func viewNode(t *testing.T, v *NodeView, n *index.Node) {
	t.Helper()
	payload := EncodeNode(n)
	if err := v.Open(Key32(n.Number), payload); err != nil {
		t.Fatal(err)
	}
	access := "" // nothing stands for shared
	if n.Access != index.AccessShared {
		access = n.Access.String()
	}
	is := []any{v.Number(), v.State(), v.Bucket(), v.Priority(), string(v.Name()), string(v.Queue()),
		string(v.Reason()), string(v.Access()), string(v.PriorityF()),
		string(v.Features()), v.Speed(), v.ProcSpeed(), v.Load(), v.Usage()}
	want := []any{n.Number, n.State, n.Bucket, n.Priority, n.Name, n.Queue, n.Reason, access, n.PriorityF,
		strings.Join(n.Features, ","), n.Speed, n.ProcSpeed, n.Load, n.Usage}
	if !reflect.DeepEqual(is, want) {
		t.Fatalf("%x: the view has\n%v and the list\n%v", payload, is, want)
	}
	for _, a := range n.Res {
		if text, num, ok := v.Resource(a.Res); !ok || string(text) != a.Value.Str || num != a.Value.Num {
			t.Fatalf("%x: resource %d is %q, %d, %t, and %+v in the list", payload, a.Res, text, num, ok, a)
		}
	}
	if _, _, ok := v.Resource(index.ResID(3*len(n.Res) + 1)); ok || v.Err() != nil {
		t.Fatal("a resource that the node does not have", v.Err())
	}
	traits := index.Node{}
	if err := ReadTraits(Key32(n.Number), payload, &traits, nil); err != nil || traits.Name != "" ||
		traits.Queue != n.Queue || len(traits.Res) != len(n.Res) || traits.Speed != n.Speed {
		t.Fatalf("%x: %v: traits %+v", payload, err, traits)
	}
}
