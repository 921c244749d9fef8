package index

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Type says how a resource's values are written, compared and counted.
type Type uint8

// The resource types. The numbers are on disk and must not change.
const (
	Long        Type = 1 // whole number
	Size        Type = 2 // amount of memory or disk, kept in kb (1024 bytes), rounded up
	Float       Type = 3 // number, kept in millionths so that sums are exact
	Boolean     Type = 4 // 0 or 1; unset means false
	String      Type = 5 // one word, matched whole
	StringArray Type = 6 // several words, a request matches one of them
)

var typeNames = [...]string{Long: "long", Size: "size", Float: "float", Boolean: "boolean", String: "string",
	StringArray: "string_array"}

func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", t)
}

// Numeric reports whether values of the type are amounts: a node serves a request if it has at
// least as much.
func (t Type) Numeric() bool { return t == Long || t == Size || t == Float }

// ParseType reads a type's name.
func ParseType(s string) (Type, error) {
	for t := Long; t <= StringArray; t++ {
		if strings.EqualFold(s, typeNames[t]) {
			return t, nil
		}
	}
	return 0, fmt.Errorf("no resource type %q: use one of %s", s, strings.Join(typeNames[1:], ", "))
}

// ResID is a resource's number: dense, in declared order, never reused. It is
// on disk.
type ResID uint16

// Def defines a resource.
type Def struct {
	ID         ResID
	Name       string // as declared; looked up in any case
	Type       Type
	Consumable bool // jobs use it up (numeric types only)
	Unique     bool // a value of its own per node: kept out of signatures
	Builtin    bool
	Directive  bool // tells the job's launcher something (mpiprocs); nodes are not asked for it
}

// The built-in resources, which every store has. Their numbers are on disk.
const (
	NCPUs ResID = iota
	NGPUs
	Mem
	VMem
	Swap
	Disk
	MPIProcs
	OMPThreads
	Arch
	OS
	Host
	VNode
	Feature // the node's features, asked for as feature=NAME
)

// FirstDeclared is the number of the first resource that a site declares. It leaves room for
// further built-in resources, and must not change.
const FirstDeclared ResID = 64

func builtins() []Def {
	return []Def{
		{ID: NCPUs, Name: "ncpus", Type: Long, Consumable: true},
		{ID: NGPUs, Name: "ngpus", Type: Long, Consumable: true},
		{ID: Mem, Name: "mem", Type: Size, Consumable: true},
		{ID: VMem, Name: "vmem", Type: Size, Consumable: true},
		{ID: Swap, Name: "swap", Type: Size, Consumable: true},
		{ID: Disk, Name: "disk", Type: Size, Consumable: true},
		{ID: MPIProcs, Name: "mpiprocs", Type: Long, Directive: true},
		{ID: OMPThreads, Name: "ompthreads", Type: Long, Directive: true},
		{ID: Arch, Name: "arch", Type: String},
		{ID: OS, Name: "os", Type: String},
		{ID: Host, Name: "host", Type: String, Unique: true},
		{ID: VNode, Name: "vnode", Type: String, Unique: true},
		{ID: Feature, Name: "feature", Type: StringArray, Unique: true},
	}
}

// MaxDefs limits how many resources a store may define.
const MaxDefs = 4096

// Errors of resource definitions.
var (
	ErrNoResource  = errors.New("no such resource")
	ErrResourceDup = errors.New("resource exists already")
	ErrResource    = errors.New("bad resource definition")
)

// Defs is the set of defined resources, in declared order. It is not changed
// while others read it.
type Defs struct {
	list   []Def
	byName map[string]int
	next   ResID
	pools  []string // sorted; no resource has such a name
}

// NewDefs returns the built-in resources.
func NewDefs() *Defs {
	d := &Defs{byName: make(map[string]int), next: FirstDeclared}
	for _, def := range builtins() {
		def.Builtin = true
		d.insert(def)
	}
	return d
}

func (d *Defs) insert(def Def) {
	d.byName[strings.ToLower(def.Name)] = len(d.list)
	d.list = append(d.list, def)
	if def.ID >= d.next {
		d.next = def.ID + 1
	}
}

// Add declares a resource and gives it its number.
func (d *Defs) Add(def Def) (Def, error) {
	def.ID = d.next
	if reservedColumn(def.Name) { // an older store may have one whose name is now reserved
		return Def{}, fmt.Errorf("%w: the name %q is taken by a column of the nodes table", ErrResource, def.Name)
	}
	if err := d.Restore(def); err != nil {
		return Def{}, err
	}
	return def, nil
}

// Restore adds a definition that already has its number. Stores call it in the order of
// numbers.
func (d *Defs) Restore(def Def) error {
	switch {
	case !ValidResourceName(def.Name):
		return fmt.Errorf("%w: the name %q must begin with a letter and go on with letters, digits, - and _",
			ErrResource, def.Name)
	case def.Type < Long || def.Type > StringArray:
		return fmt.Errorf("%w: %s has no type", ErrResource, def.Name)
	case def.Consumable && !def.Type.Numeric():
		return fmt.Errorf("%w: %s is a %s; only long, size and float can be consumable", ErrResource, def.Name,
			def.Type)
	case len(d.list) >= MaxDefs:
		return fmt.Errorf("%w: a store holds at most %d", ErrResource, MaxDefs)
	case def.ID < d.next || def.ID == math.MaxUint16:
		return fmt.Errorf("%w: the number %d of %s is given out already, or the last one", ErrResource, def.ID,
			def.Name)
	}
	if old, ok := d.Lookup(def.Name); ok {
		return fmt.Errorf("%w: %s (%s)", ErrResourceDup, old.Name, old.Type)
	}
	if pool, ok := d.Pool(def.Name); ok {
		return fmt.Errorf("%w: %s is a pool", ErrResourceDup, pool)
	}
	d.insert(def)
	return nil
}

// Remove removes a declared resource. Its number is not used again.
func (d *Defs) Remove(id ResID) {
	d.list = slices.DeleteFunc(d.list, func(def Def) bool { return def.ID == id })
	clear(d.byName)
	for i, def := range d.list {
		d.byName[strings.ToLower(def.Name)] = i
	}
}

// Clone returns a copy to which others can be added.
func (d *Defs) Clone() *Defs {
	return &Defs{list: slices.Clone(d.list), byName: maps.Clone(d.byName), next: d.next}
}

// SetNext raises the number that the next declared resource gets.
func (d *Defs) SetNext(id ResID) { d.next = max(d.next, id) }

// Next returns the number that the next declared resource gets.
func (d *Defs) Next() ResID { return d.next }

// All lists the definitions in declared order; do not change it.
func (d *Defs) All() []Def { return d.list }

// Lookup returns the resource of a name, in any case.
func (d *Defs) Lookup(name string) (Def, bool) {
	i, ok := d.byName[name]
	if !ok {
		if i, ok = d.byName[strings.ToLower(name)]; !ok {
			return Def{}, false
		}
	}
	return d.list[i], true
}

// Get returns the resource of a number.
func (d *Defs) Get(id ResID) (Def, bool) {
	i, ok := slices.BinarySearchFunc(d.list, id, func(def Def, id ResID) int { return int(def.ID) - int(id) })
	if !ok {
		return Def{}, false
	}
	return d.list[i], true
}

// SetPools sets the names of the cluster's pools, in order. Requests name them like resources.
func (d *Defs) SetPools(names []string) { d.pools = names }

// Pools lists the names of the pools; do not change it.
func (d *Defs) Pools() []string { return d.pools }

// Pool returns a pool's name, given in any case.
func (d *Defs) Pool(name string) (string, bool) {
	for _, p := range d.pools {
		if strings.EqualFold(p, name) {
			return p, true
		}
	}
	return "", false
}

// ReservedName reports whether a name is taken by a column of the table of nodes, or a key
// of a resource list.
func ReservedName(name string) bool { return reservedColumn(name) }

// Names lists all names, for suggestions.
func (d *Defs) Names() []string {
	names := make([]string, len(d.list))
	for i, def := range d.list {
		names[i] = def.Name
	}
	return names
}

// ValidResourceName reports whether a resource or a pool may have a name: a letter, then
// letters, digits, - and _, at most 64.
func ValidResourceName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || !(s[i] >= '0' && s[i] <= '9' || s[i] == '-' || s[i] == '_')) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// reservedColumn reports whether the nodes table uses a name for a field of its own.
func reservedColumn(name string) bool {
	switch strings.ToLower(name) {
	case "name", "number", "queue", "priority", "state", "reason", "speed", "procspeed", "load", "usage",
		"access", "sharing", "features", "priorityf", "bucket", "jobs", "free_until", "resources", "start", "end",
		"job", "chunk", "node",
		"select", "place", "nodes", "walltime": // keys of a PBS resource list
		return true
	}
	return strings.HasSuffix(strings.ToLower(name), "_free") // a consumable's free amount
}
