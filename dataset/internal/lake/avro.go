package lake

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// The manifests of Iceberg are Avro object container files (avro.apache.org/docs/1.12.0/specification). Records are read by the
// schema of the file. Their fields are known by Iceberg's field-id.

// errAvro is the error if the bytes of an Avro file contradict each other.
var errAvro = errors.New("it is damaged, or no Avro file")

const (
	avroMagic  = "Obj\x01"
	mostBlock  = 64 << 20 // decompressed bytes of a block
	avroDepth  = 64       // types in types
	mostFields = 1 << 16  // types of a schema
)

// An avroType is a type of a schema.
type avroType struct {
	kind   string // a primitive type, record, array, map, union, fixed or enum
	size   int64  // of fixed
	fields []avroField
	items  *avroType   // of arrays and maps
	union  []*avroType // the branches
}

type avroField struct {
	id  int32 // -1: none
	typ *avroType
}

// A record has values by field ids: bool, int64, float32, float64, string, []byte, record, []any, or nil.
type record map[int32]any

// avroSchema parses a schema.
func avroSchema(text []byte) (*avroType, error) {
	p := &schemaParser{named: map[string]*avroType{}}
	return p.parse(text, 0)
}

type schemaParser struct {
	named map[string]*avroType // also by their names without the namespace, which nested types inherit
	types int
}

func (p *schemaParser) parse(text json.RawMessage, depth int) (*avroType, error) {
	if p.types++; depth > avroDepth || p.types > mostFields {
		return nil, fmt.Errorf("%w: its schema is too large", errAvro)
	}
	var name string
	if json.Unmarshal(text, &name) == nil {
		return p.byName(name)
	}
	var branches []json.RawMessage
	if json.Unmarshal(text, &branches) == nil {
		t := &avroType{kind: "union"}
		for _, b := range branches {
			of, err := p.parse(b, depth+1)
			if err != nil {
				return nil, err
			}
			t.union = append(t.union, of)
		}
		return t, nil
	}
	return p.complex(text, depth)
}

// complex parses a schema that is a JSON object.
func (p *schemaParser) complex(text json.RawMessage, depth int) (*avroType, error) {
	var name string
	var s struct {
		Type, Items, Values json.RawMessage
		Name, Namespace     string
		Size                int64
		Fields              []struct {
			Type json.RawMessage
			ID   *int32 `json:"field-id"`
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: its schema is no JSON", errAvro)
	}
	if json.Unmarshal(s.Type, &name) != nil {
		return p.parse(s.Type, depth+1)
	}
	t := &avroType{kind: name, size: s.Size}
	if s.Name != "" {
		p.named[s.Name] = t
		if s.Namespace != "" {
			p.named[s.Namespace+"."+s.Name] = t
		}
	}
	var err error
	switch name {
	case "array":
		t.items, err = p.parse(s.Items, depth+1)
	case "map":
		t.items, err = p.parse(s.Values, depth+1)
	case "fixed":
		if t.size < 0 || t.size > mostBlock {
			err = errAvro
		}
	case "enum":
	case "record":
		for _, f := range s.Fields {
			of := avroField{id: -1}
			if f.ID != nil {
				of.id = *f.ID
			}
			if of.typ, err = p.parse(f.Type, depth+1); err != nil {
				return nil, err
			}
			t.fields = append(t.fields, of)
		}
	default:
		return p.byName(name)
	}
	return t, err
}

func (p *schemaParser) byName(name string) (*avroType, error) {
	switch name {
	case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
		return &avroType{kind: name}, nil
	}
	for _, name := range []string{name, name[strings.LastIndexByte(name, '.')+1:]} {
		if t := p.named[name]; t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%w: its schema has the type %.40q, which it doesn't define", errAvro, name)
}

// An avroReader reads values from the bytes of a block. If bytes are missing or wrong, it sets bad.
type avroReader struct {
	data []byte
	bad  bool
}

func (r *avroReader) take(n int64) []byte {
	if r.bad || n < 0 || n > int64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *avroReader) long() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

// value reads a value of a type.
func (r *avroReader) value(t *avroType, depth int) any {
	if depth > avroDepth {
		r.bad = true
	}
	if r.bad {
		return nil
	}
	switch t.kind {
	case "boolean":
		b := r.take(1)
		return len(b) == 1 && b[0] == 1
	case "int", "long", "enum":
		return r.long()
	case "float":
		if b := r.take(4); b != nil {
			return math.Float32frombits(binary.LittleEndian.Uint32(b))
		}
	case "double":
		if b := r.take(8); b != nil {
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case "string":
		return string(r.take(r.long()))
	case "bytes":
		return bytes.Clone(r.take(r.long()))
	case "fixed":
		return bytes.Clone(r.take(t.size))
	case "union":
		i := r.long()
		if i < 0 || i >= int64(len(t.union)) {
			r.bad = true
			return nil
		}
		return r.value(t.union[i], depth+1)
	case "record":
		rec := record{}
		for _, f := range t.fields {
			if f.id < 0 || statistics[f.id] {
				r.skip(f.typ, depth+1)
			} else if v := r.value(f.typ, depth+1); v != nil {
				rec[f.id] = v
			}
		}
		return rec
	case "array", "map":
		return r.list(t, depth)
	}
	return nil
}

// list reads an array, or the values of a map.
func (r *avroReader) list(t *avroType, depth int) (all []any) {
	r.elements(t, func() { all = append(all, r.value(t.items, depth+1)) })
	return all
}

// elements calls read before each element of an array or a map.
func (r *avroReader) elements(t *avroType, read func()) {
	for !r.bad {
		n := r.long()
		if n < 0 {
			n = -n
			r.long() // the bytes of the block
		}
		if n == 0 {
			return
		}
		if n < 0 || n > int64(len(r.data)) { // no element takes no byte
			r.bad = true
			return
		}
		for ; n > 0 && !r.bad; n-- {
			if t.kind == "map" {
				r.take(r.long())
			}
			read()
		}
	}
}

// statistics are the fields of files in manifests that aren't read: sizes, counts and bounds of columns, which take most of a manifest.
var statistics = map[int32]bool{108: true, 109: true, 110: true, 125: true, 128: true, 132: true, 137: true}

// skip skips a value of a type.
func (r *avroReader) skip(t *avroType, depth int) {
	if depth > avroDepth {
		r.bad = true
	}
	switch {
	case r.bad:
	case t.kind == "string" || t.kind == "bytes":
		r.take(r.long())
	case t.kind == "record":
		for _, f := range t.fields {
			r.skip(f.typ, depth+1)
		}
	case t.kind == "array" || t.kind == "map":
		r.elements(t, func() { r.skip(t.items, depth+1) })
	case t.kind == "union":
		if i := r.long(); i >= 0 && i < int64(len(t.union)) {
			r.skip(t.union[i], depth+1)
		} else {
			r.bad = true
		}
	default:
		r.value(t, depth)
	}
}

// avroRecords calls f with each record of an Avro file.
func avroRecords(data []byte, f func(record) error) error {
	r := &avroReader{data: data}
	if string(r.take(int64(len(avroMagic)))) != avroMagic {
		return errAvro
	}
	header := map[string][]byte{}
	for n := r.long(); n != 0 && !r.bad; n = r.long() {
		if n < 0 {
			n = -n
			r.long()
		}
		for ; n > 0 && !r.bad; n-- {
			key := string(r.take(r.long()))
			header[key] = r.take(r.long())
		}
	}
	sync := r.take(16)
	if r.bad {
		return errAvro
	}
	t, err := avroSchema(header["avro.schema"])
	if err != nil {
		return err
	}
	if t.kind != "record" {
		return errAvro
	}
	for len(r.data) > 0 {
		n, stored := r.long(), []byte(nil)
		stored = r.take(r.long())
		if r.bad || n < 0 || !bytes.Equal(r.take(16), sync) {
			return errAvro
		}
		block, err := avroBlock(string(header["avro.codec"]), stored)
		if err != nil {
			return err
		}
		of := &avroReader{data: block}
		for ; n > 0; n-- {
			rec, _ := of.value(t, 0).(record)
			if of.bad || len(rec) == 0 {
				return errAvro
			}
			if err := f(rec); err != nil {
				return err
			}
		}
		if len(of.data) > 0 {
			return errAvro
		}
	}
	return nil
}

// avroBlock decompresses a block.
func avroBlock(codec string, stored []byte) (block []byte, err error) {
	switch codec {
	case "", "null":
		return stored, nil
	case "deflate":
		block, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), mostBlock+1))
	case "zstandard":
		z, bad := zstd.NewReader(bytes.NewReader(stored), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostBlock))
		if bad != nil {
			return nil, errAvro
		}
		defer z.Close()
		block, err = io.ReadAll(io.LimitReader(z, mostBlock+1))
	case "snappy": // its checksum follows
		if len(stored) < 4 {
			return nil, errAvro
		}
		stored = stored[:len(stored)-4]
		if n, bad := s2.DecodedLen(stored); bad != nil || n > mostBlock {
			return nil, errAvro
		}
		block, err = s2.Decode(nil, stored)
	default:
		return nil, fmt.Errorf(
			"its blocks are compressed by %q, which is not read: write the manifests again with deflate",
			codec,
		)
	}
	if err != nil || len(block) > mostBlock {
		return nil, errAvro
	}
	return block, nil
}
