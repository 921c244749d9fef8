//go:build etcd

package etcd

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// encode is a message as JSON. Each verb sends a transaction: package json would take 0.3 ms
// to find out how those are written, a tenth of what a small verb takes in etcd beyond a file.
func encode(message any) ([]byte, error) {
	if t, is := message.(transaction); is {
		return t.appendTo(make([]byte, 0, 2048)), nil
	}
	return json.Marshal(message)
}

func (t transaction) appendTo(b []byte) []byte {
	o := object{b: append(b, '{')}
	if len(t.If) > 0 {
		o.list("compare", len(t.If), func(i int) { t.If[i].appendTo(&o) })
	}
	if len(t.Then) > 0 {
		o.list("success", len(t.Then), func(i int) { t.Then[i].appendTo(&o) })
	}
	if len(t.Else) > 0 {
		o.list("failure", len(t.Else), func(i int) { t.Else[i].appendTo(&o) })
	}
	o.end()
	return o.b
}

func (c *comparison) appendTo(o *object) {
	o.begin()
	o.bytes("key", c.Key)
	o.some("range_end", c.End)
	o.word("result", c.Result)
	o.word("target", c.Target)
	if c.Value != nil {
		o.bytes("value", *c.Value)
	}
	o.number("version", c.Version)
	o.number("create_revision", c.Created)
	o.number("mod_revision", c.Changed)
	o.end()
}

func (op *operation) appendTo(o *object) {
	o.begin()
	if p := op.Put; p != nil {
		o.name("request_put")
		o.begin()
		o.bytes("key", p.Key)
		o.some("value", p.Value)
		o.count("lease", p.Lease)
		o.flag("ignore_value", p.Keep)
		o.end()
	}
	if r := op.Range; r != nil {
		o.name("request_range")
		o.begin()
		o.bytes("key", r.Key)
		o.some("range_end", r.End)
		o.count("limit", r.Limit)
		o.count("max_create_revision", r.MaxCreated)
		if r.Order != "" {
			o.word("sort_order", r.Order)
		}
		if r.By != "" {
			o.word("sort_target", r.By)
		}
		o.flag("keys_only", r.KeysOnly)
		o.flag("serializable", r.Serializable)
		o.end()
	}
	if d := op.Delete; d != nil {
		o.name("request_delete_range")
		o.begin()
		o.bytes("key", d.Key)
		o.some("range_end", d.End)
		o.end()
	}
	o.end()
}

// object writes objects of JSON. Words in them are the gateway's own.
type object struct{ b []byte }

func (o *object) begin() { o.b = append(o.b, '{') }
func (o *object) end()   { o.b = append(o.b, '}') }

// name begins a field.
func (o *object) name(name string) {
	if last := o.b[len(o.b)-1]; last != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) list(name string, count int, element func(i int)) {
	o.name(name)
	o.b = append(o.b, '[')
	for i := range count {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		element(i)
	}
	o.b = append(o.b, ']')
}

func (o *object) word(name, word string) {
	o.name(name)
	o.b = append(append(append(o.b, '"'), word...), '"')
}

// bytes are base64; none at all, which is not the same as an empty list, is null.
func (o *object) bytes(name string, b []byte) {
	o.name(name)
	if b == nil {
		o.b = append(o.b, "null"...)
		return
	}
	o.b = append(base64.StdEncoding.AppendEncode(append(o.b, '"'), b), '"')
}

func (o *object) some(name string, b []byte) {
	if len(b) > 0 {
		o.bytes(name, b)
	}
}

func (o *object) number(name string, n *int64) {
	if n != nil {
		o.name(name)
		o.b = append(strconv.AppendInt(append(o.b, '"'), *n, 10), '"')
	}
}

func (o *object) count(name string, n int64) {
	if n != 0 {
		o.number(name, &n)
	}
}

func (o *object) flag(name string, is bool) {
	if is {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}
