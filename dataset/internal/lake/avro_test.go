package lake

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"halfspace/internal/require"
)

// avroFile returns an Avro file with blocks of records in their binary form.
func avroFile(t testing.TB, schema, codec string, blocks ...[][]byte) []byte {
	b := []byte(avroMagic)
	text := func(s string) { b = append(binary.AppendVarint(b, int64(len(s))), s...) }
	b = binary.AppendVarint(b, 2)
	text("avro.schema")
	text(schema)
	text("avro.codec")
	text(codec)
	b = append(b, 0)
	sync := strings.Repeat("s", 16)
	b = append(b, sync...)
	for _, records := range blocks {
		data := bytes.Join(records, nil)
		var buf bytes.Buffer
		switch codec {
		case "deflate":
			w := require.Value(flate.NewWriter(&buf, 6))(t)
			w.Write(data)
			w.Close()
			data = buf.Bytes()
		case "zstandard":
			w := require.Value(zstd.NewWriter(&buf))(t)
			w.Write(data)
			w.Close()
			data = buf.Bytes()
		case "snappy":
			data = append(s2.EncodeSnappy(nil, data), 1, 2, 3, 4)
		}
		b = binary.AppendVarint(binary.AppendVarint(b, int64(len(records))), int64(len(data)))
		b = append(append(b, data...), sync...)
	}
	return b
}

const testSchema = `{"type":"record","name":"r","namespace":"n","fields":[
	{"name":"a","type":"long","field-id":1},{"name":"none","type":"string"},{"name":"b","type":["null","string"],"field-id":2},
	{"name":"c","type":{"type":"array","items":"int"},"field-id":3},{"name":"d","type":{"type":"map","values":"bytes"},"field-id":4},
	{"name":"e","type":{"type":"fixed","name":"f2","size":2},"field-id":5},{"name":"f","type":"f2","field-id":6},
	{"name":"g","type":{"type":"record","name":"in","fields":[{"name":"x","type":"double","field-id":8},{"name":"y","type":"float","field-id":9},{"name":"z","type":"boolean","field-id":10}]},"field-id":7},
	{"name":"h","type":{"type":"map","values":{"type":"array","items":"n.in"}},"field-id":108},{"name":"i","type":{"type":"enum","name":"en","symbols":["p","q"]},"field-id":11}]}`

// testRecord returns a record of testSchema in Avro's binary form, and as it is read. The spans of arrays have negative counts if
// sized is true: their size follows then.
func testRecord(i int64, sized bool) ([]byte, record) {
	var b []byte
	text := func(s string) { b = append(binary.AppendVarint(b, int64(len(s))), s...) }
	b = binary.AppendVarint(b, i)
	text("skipped")
	want := record{
		1:  i,
		3:  []any{int64(-1), i},
		4:  []any{[]byte{1, 2}},
		5:  []byte("xy"),
		6:  []byte("zz"),
		7:  record{8: 0.0, 9: float32(0), 10: true},
		11: int64(1),
	}
	if i%2 == 0 {
		b = append(b, 0)
	} else {
		b = append(b, 2)
		text("odd")
		want[2] = "odd"
	}
	items := binary.AppendVarint(binary.AppendVarint(nil, -1), i)
	if sized {
		b = binary.AppendVarint(binary.AppendVarint(b, -2), int64(len(items)))
	} else {
		b = binary.AppendVarint(b, 2)
	}
	b = append(append(b, items...), 0)
	b = binary.AppendVarint(b, 1)
	text("key")
	text("\x01\x02")
	b = append(b, 0)
	b = append(b, "xyzz"...)
	in := append(make([]byte, 12), 1)
	b = append(b, in...)
	b = binary.AppendVarint(b, 1)
	text("key")
	b = append(append(binary.AppendVarint(b, 1), in...), 0, 0)
	return binary.AppendVarint(b, 1), want
}

// TestAvro: the records of a file are those that were written, by the specification at avro.apache.org, in blocks of each codec. A cut
// is an error, and so is a flipped bit where the file shows it.
func TestAvro(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, codec := range []string{"null", "deflate", "zstandard", "snappy"} {
		var blocks [][][]byte
		var want []record
		for b := range 3 {
			var records [][]byte
			for i := range 5 {
				data, rec := testRecord(int64(b*5+i), i == 1)
				records, want = append(records, data), append(want, rec)
			}
			blocks = append(blocks, records)
		}
		file := avroFile(t, testSchema, codec, blocks...)
		read := func(file []byte) (all []record, err error) {
			err = avroRecords(file, func(r record) error { all = append(all, r); return nil })
			return all, err
		}
		if got, err := read(file); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: error %v, %v, want %v", codec, err, got, want)
		}
		for range 300 {
			if got, err := read(file[:r.IntN(len(file))]); err == nil && len(got)%5 != 0 {
				t.Fatalf("%s: %d records of a cut file", codec, len(got))
			}
			bad := bytes.Clone(file)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			if _, err := read(bad); err != nil && !errors.Is(err, errAvro) &&
				!strings.Contains(err.Error(), "its blocks are compressed by") {
				t.Fatalf("%s: error %v", codec, err)
			}
		}
	}
	for _, schema := range []string{`"unknown"`, `{"type":"record","fields":[{"type":"a"}]}`, `[`, `{"type":"fixed","size":-1}`, `"long"`, strings.Repeat(`{"type":"array","items":`, 100) + `"int"` + strings.Repeat("}", 100)} {
		if err := avroRecords(avroFile(t, schema, "null", [][]byte{{2}}), func(record) error { return nil }); !errors.Is(
			err,
			errAvro,
		) {
			t.Errorf("%.40s: error %v", schema, err)
		}
	}
	self := `{"type":"record","name":"r","fields":[{"name":"a","type":"r","field-id":1}]}`
	if err := avroRecords(avroFile(t, self, "null", [][]byte{{2}}), func(record) error { return nil }); !errors.Is(err, errAvro) {
		t.Errorf("a record in itself: error %v", err)
	}
}

func FuzzAvro(f *testing.F) {
	data, _ := testRecord(3, true)
	for _, codec := range []string{"null", "deflate", "zstandard", "snappy"} {
		f.Add(avroFile(f, testSchema, codec, [][]byte{data}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		avroRecords(b, func(record) error { return nil })
	})
}

// FuzzSchemas: schemas and metadata of any form are read or refused.
func FuzzSchemas(f *testing.F) {
	f.Add(testSchema)
	f.Add(`{"type":"array","elementType":"long"}`)
	f.Add(`{"type":"list","element":"decimal(10,2)"}`)
	f.Add(`{"type":"map","key":"int","value":"fixed[3]"}`)
	f.Fuzz(func(t *testing.T, text string) {
		avroSchema([]byte(text))
		for _, of := range []func(json.RawMessage) (fmt.Stringer, string, bool){
			func(m json.RawMessage) (fmt.Stringer, string, bool) { t, desc, un := deltaType(m); return t, desc, un },
			func(m json.RawMessage) (fmt.Stringer, string, bool) {
				t, desc, un := icebergType(m)
				return t, desc, un
			}} {
			if typ, desc, unread := of(json.RawMessage(text)); desc == "" && (typ == nil || !unread) && text != `""` {
				t.Fatalf("%q: %v, %q, %v", text, typ, desc, unread)
			}
		}
	})
}
