package nodefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/text"
)

// The devices of a node are given as the value of their resource, as in ngpus=0-1@0+2-3@1, or in full
// under devices, which in JSON is an object:
//
//	{"ngpus":[{"id":0,"group":0,"uuid":"GPU-1b","model":"A100","vram":"80gb"},{"id":1,"group":1,"state":"drained"}]}
//
// Facts that are not given about an existing device stay as they are.

// given is a list of devices of a resource. An empty one removes the existing devices.
type given struct {
	res    index.ResID
	set    devices.Set
	word   bool            // given as the value of the resource
	stated map[string]bool // devices for which the list says whether they are drained
	facts  map[string]bool // and those for which it says whether they are cut
}

// Device is a device as JSON has it.
type Device struct {
	ID      any    `json:"id"`
	Group   int    `json:"group"`
	UUID    string `json:"uuid,omitempty"`
	Model   string `json:"model,omitempty"`
	VRAM    any    `json:"vram,omitempty"` // bytes, or a size with a unit
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Slices  *int   `json:"slices,omitempty"`
	Into    string `json:"into,omitempty"`
	Threads []int  `json:"threads,omitempty"`
	Job     any    `json:"job,omitempty"` // the job that has it; ignored
}

// countable refuses devices of a resource that does not count devices.
func countable(def index.Def) error {
	if def.Type == index.Long && def.Consumable {
		return nil
	}
	return fmt.Errorf("only a consumable long has devices, and %s is a %s", def.Name, def.Type)
}

// nameDevices reads the notation of devices.
func (p *Patch) nameDevices(def index.Def, text string, word bool) error {
	if err := countable(def); err != nil {
		return err
	}
	set, err := devices.Parse(text)
	p.named = append(p.named, given{res: def.ID, set: set, word: word})
	return err
}

// names reports whether the patch names the devices of a resource.
func (p *Patch) names(id index.ResID) bool {
	return slices.ContainsFunc(p.named, func(g given) bool { return g.res == id })
}

// readDevices reads the value of devices: JSON, or RESOURCE=DEVICES joined by semicolons.
func (p *Patch) readDevices(defs *index.Defs, said string) error {
	p.devices = true
	if said == "" {
		p.forget = true
		return nil
	}
	if strings.HasPrefix(said, "{") {
		return p.readDeviceObject(defs, []byte(said))
	}
	for word := range strings.SplitSeq(said, ";") {
		name, value, _ := strings.Cut(word, "=")
		def, ok := defs.Lookup(name)
		if !ok {
			return fmt.Errorf("no resource %s%s", text.Quoted(name), index.DidYouMean(name, defs.Names()))
		}
		if p.names(def.ID) {
			return fmt.Errorf("the devices of %s are given twice", def.Name)
		}
		if err := p.nameDevices(def, value, false); err != nil {
			return fmt.Errorf("%s: %w", def.Name, err)
		}
	}
	return nil
}

func (p *Patch) readDeviceObject(defs *index.Defs, said []byte) error {
	var object map[string][]Device
	dec := json.NewDecoder(bytes.NewReader(said))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(&object); err != nil {
		return fmt.Errorf(`%w; write devices as {"ngpus":[{"id":0,"group":0}]}`, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text follows the object")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		def, ok := defs.Lookup(name)
		if !ok {
			return fmt.Errorf("no resource %s%s", text.Quoted(name), index.DidYouMean(name, defs.Names()))
		}
		if err := countable(def); err != nil {
			return err
		}
		if p.names(def.ID) {
			return fmt.Errorf("the devices of %s are given twice", def.Name)
		}
		g := given{res: def.ID, stated: make(map[string]bool), facts: make(map[string]bool)}
		for i := range object[name] {
			if err := g.read(&object[name][i]); err != nil {
				return fmt.Errorf("%s: %w", def.Name, err)
			}
		}
		slices.SortFunc(g.set, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
		if err := g.set.Check(); err != nil {
			return fmt.Errorf("%s: %w", def.Name, err)
		}
		p.named = append(p.named, g)
	}
	return nil
}

// read adds a device.
func (g *given) read(from *Device) error {
	d := devices.Device{Group: from.Group, UUID: from.UUID, Model: from.Model, Into: from.Into, Threads: from.Threads}
	switch id := from.ID.(type) {
	case json.Number:
		d.ID = id.String()
	case string:
		d.ID = id
	default:
		return errors.New(`a device has no id; write it as {"id":0,"group":0}`)
	}
	switch v := from.VRAM.(type) {
	case nil:
	case json.Number:
		n, err := v.Int64()
		if err != nil || n < 0 {
			return fmt.Errorf("device %s: vram %s is not a number of bytes", d.ID, v)
		}
		d.VRAM = (n + 1023) / 1024
	case string:
		n, err := index.ParseSizeLoose(v)
		if err != nil {
			return fmt.Errorf("device %s: vram: %w", d.ID, err)
		}
		d.VRAM = n
	default:
		return fmt.Errorf("device %s: vram must be a number of bytes, or a size such as 80gb", d.ID)
	}
	switch from.State {
	case "":
	case "free", "busy", "up", "cut":
		g.stated[d.ID] = true
	case "drained":
		g.stated[d.ID], d.Drained, d.Reason = true, true, from.Reason
	default:
		return fmt.Errorf("device %s: %w", d.ID, text.NotOneOf(from.State, []string{"free", "busy", "cut", "drained"}))
	}
	if from.Slices != nil {
		g.facts[d.ID] = true
		if d.Slices = *from.Slices; d.Slices > 0 && d.Into == "" {
			d.Into = DefaultSlices
		}
	}
	for _, word := range []string{d.UUID, d.Model, d.Reason, d.Into} {
		if err := CheckWord(word); err != nil {
			return fmt.Errorf("device %s: %w", d.ID, err)
		}
	}
	g.set = append(g.set, d)
	return nil
}

// DefaultSlices is the resource of device slices unless another is given.
const DefaultSlices = "gslices"

// over returns the given set. Facts that it does not give are taken from an old one.
func (g *given) over(old devices.Set) devices.Set {
	out := g.set.Clone()
	for i := range out {
		k := old.Find(out[i].ID)
		if k < 0 {
			continue
		}
		d, was := &out[i], &old[k]
		if d.UUID == "" {
			d.UUID = was.UUID
		}
		if d.Model == "" {
			d.Model = was.Model
		}
		if d.VRAM == 0 {
			d.VRAM = was.VRAM
		}
		if d.Threads == nil {
			d.Threads = was.Threads
		}
		if !g.stated[d.ID] {
			d.Drained, d.Reason = was.Drained, was.Reason
		}
		if !g.facts[d.ID] {
			d.Slices, d.Into = was.Slices, was.Into
		}
	}
	return out
}

// applyDevices sets the devices of a node.
func (p *Patch) applyDevices(n *index.Node) error {
	if p.forget {
		n.Devices = nil
	}
	for _, g := range p.named {
		count, counted := p.Get(g.res)
		if len(g.set) == 0 {
			n.SetDevices(g.res, nil)
			continue
		}
		n.SetDevices(g.res, g.over(n.DevicesOf(g.res)))
		if is, _ := n.Get(g.res); counted && count != is && count.Num != int64(len(g.set)) {
			return fmt.Errorf("%d devices are named, but the amount is %d", len(g.set), count.Num)
		}
	}
	n.KeepDevices()
	return nil
}
