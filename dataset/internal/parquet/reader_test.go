package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestReader reads chunks of every type in every encoding and compression, flat and of lists, with and without nulls.
func TestReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, pool := checkedPool(t)
	eachWriter(rng, func(w *chunkWriter) {
		entries := randomEntries(w, 1+rng.IntN(min(10*w.rows, 5000)))
		c := w.write(entries)
		got := require.Value(readAll(rng, w.out, c, pool))(t)
		want := w.wanted(entries)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%+v, encoding %d: row %d is %s, want %s", c, w.encoding, i, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%+v: %d rows, want %d", c, len(got), len(want))
		}
		for _, rows := range []int64{c.Rows - 1, c.Rows + 1} {
			bad := c
			if bad.Rows = rows; c.ListDef == 0 {
				bad.Values = rows
			}
			if _, err := readAll(rng, w.out, bad, pool); err == nil && rows > 0 {
				t.Fatalf("%+v: %d rows pass for %d", c, c.Rows, rows)
			}
		}
	})
}

// repeated returns what makes values of size bytes by repeating, or cutting, those of a dictionary.
func repeated(pool *Pool, size int) func(values *Buffer, n int) *Buffer {
	return func(values *Buffer, n int) *Buffer {
		made, old := pool.Get(n*size), len(values.Bytes)/n
		for i := range made.Bytes {
			made.Bytes[i] = values.Bytes[i/size*old+i%size%old]
		}
		return made
	}
}

// TestSkip reads some rows of chunks and skips the others, the last one never. The values of some dictionaries are replaced.
func TestSkip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	_, pool := checkedPool(t)
	skipped, made, stopped := 0, 0, 0
	eachWriter(rng, func(w *chunkWriter) {
		entries := randomEntries(w, 2+rng.IntN(min(10*w.rows, 9000)))
		c := w.write(entries)
		want := w.wanted(entries)
		r := NewReader(bytes.NewReader(w.out), c, pool)
		defer r.Close()
		size := []int{4, 8, 5}[rng.IntN(3)] // of values that are made
		if w.rng.IntN(4) > 0 {
			r.Convert = repeated(pool, size)
		}
		for at := 0; at < len(want); {
			n := rng.IntN(min(len(want)-at, 1+rng.IntN(6000)))
			require.NoError(t, r.Skip(context.Background(), int64(n)))
			at, skipped = at+n, skipped+n
			asked := 1 + rng.IntN(min(len(want)-at, 1500))
			v := require.Value(r.Read(context.Background(), asked))(t)
			width := c.width()
			if v.Made {
				width, made = size, made+1
			}
			if v.Rows < asked && width > 0 && c.ListDef == 0 {
				stopped++
			}
			for i, got := range v.text(width) {
				text := want[at+i]
				if v.Made && text != "null" {
					text = strings.Repeat(text, 8)[:2*size]
				}
				if got != text {
					t.Fatalf("%+v, encoding %d: row %d is %s, want %s", c, w.encoding, at+i, got, text)
				}
			}
			at += v.Rows
			v.Release()
		}
	})
	if skipped == 0 || made == 0 || stopped == 0 {
		t.Fatalf("%d rows were skipped, %d times values were made, %d times others followed", skipped, made, stopped)
	}
}

// TestIndices looks up values in dictionaries of every size about those of short indices, and one that isn't there.
func TestIndices(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	pool := NewPool(&heap{})
	for size := 1; size < 300; size++ {
		for _, width := range []int{4, 8} {
			d := &dictionary{data: pool.Get(size * width), n: size}
			for i := range d.data.Bytes {
				d.data.Bytes[i] = byte(rng.Uint32())
			}
			values := make([]uint64, 500)
			for i := range values {
				values[i] = rng.Uint64N(uint64(size))
			}
			w := bits.Len(uint(size)) + rng.IntN(3) // of one more than there are
			read := func() ([]byte, error) {
				f := &fixedIndices{runs: runs{data: append(binary.AppendUvarint(nil, 63<<1|1), packed(values, w)...), width: w}, dict: d, width: width}
				dst, at := make([]byte, len(values)*width), 0
				for at < len(values) {
					n := min(len(values)-at, 1+rng.IntN(300))
					if err := f.fixed(dst[at*width:], n); err != nil {
						return nil, err
					}
					at += n
				}
				return dst, nil
			}
			got, err := read()
			for i, x := range values {
				if err != nil || !bytes.Equal(got[i*width:(i+1)*width], d.data.Bytes[int(x)*width:int(x+1)*width]) {
					t.Fatalf("%d values of %d bytes: value %d is wrong (%v)", size, width, i, err)
				}
			}
			values[rng.IntN(len(values))] = uint64(size)
			if _, err := read(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("index %d into a dictionary of %d", size, size)) {
				t.Fatalf("%d values of %d bytes: %v for a wrong index", size, width, err)
			}
		}
	}
}

// TestView checks that uncompressed values that are in memory already are handed on where they lie, and that they stay
// when the reader goes on.
func TestView(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	w := &chunkWriter{rng: rng, typ: Double, encoding: plain, codec: Snappy, rows: 500}
	entries := randomEntries(w, 3000)
	c := w.write(entries)
	_, pool := checkedPool(t)
	r := NewReader(bytes.NewReader(w.out), c, pool)
	var all []*Values
	views := 0
	for left := 3000; left > 0; left -= 100 {
		v := require.Value(r.Read(context.Background(), 100))(t)
		all = append(all, v)
		if v.Data.parent != nil {
			views++
		}
	}
	r.Close()
	if views < 15 {
		t.Errorf("%d of %d pieces are views", views, len(all))
	}
	var got []string
	for _, v := range all {
		got = append(got, v.text(8)...)
		v.Release()
	}
	if strings.Join(got, " ") != strings.Join(w.wanted(entries), " ") {
		t.Error("values changed")
	}
}

// TestLongText reads values that a page repeats: a few at a time.
func TestLongText(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, e := range []Encoding{rleDictionary, deltaByteArray} {
		w := &chunkWriter{rng: rng, typ: Bytes, encoding: e, codec: Zstd, rows: 100_000}
		entries := make([]entry, 1000)
		for i := range entries {
			entries[i].value = bytes.Repeat([]byte{'x'}, 100_000)
		}
		c := w.write(entries)
		mem := &heap{}
		r := NewReader(bytes.NewReader(w.out), c, NewPool(mem))
		rows := 0
		for rows < len(entries) {
			v := require.Value(r.Read(context.Background(), len(entries)-rows))(t)
			if ends := As[int32](v.Offsets.Bytes); int(ends[v.Rows]) != 100_000*v.Rows || !bytes.Equal(v.Data.Bytes[:100_000], entries[0].value) {
				t.Fatal("wrong text")
			}
			rows += v.Rows
			v.Release()
		}
		if mem.most > 100<<20 {
			t.Errorf("encoding %d: %d bytes allocated", e, mem.most)
		}
	}
}

// TestHeader cuts headers, adds fields that aren't known, and nests too deep.
func TestHeader(t *testing.T) {
	deep := []byte{}
	for range 5000 {
		deep = append(deep, 0x1c)
	}
	unknown := [][]byte{field(1, thriftInt32, zigzag(0)), field(2, thriftInt32, zigzag(9)), field(3, thriftInt32, zigzag(7)),
		field(5, thriftStruct, fields(field(1, thriftInt32, zigzag(3)), field(2, thriftInt32, zigzag(0)),
			field(3, thriftInt32, zigzag(3)), field(4, thriftInt32, zigzag(3)))),
		field(20, thriftList, append([]byte{2<<4 | thriftStruct}, append(fields(field(1, thriftTrue, nil)), fields(field(3, thriftDouble, make([]byte, 8)))...)...)),
		field(21, thriftMap, append([]byte{1, thriftBinary<<4 | thriftList, 1, 'k', 0xf0 | thriftInt64, 16}, make([]byte, 16)...)),
		field(99, thriftSet, []byte{1<<4 | thriftTrue, 1}), field(100, thriftByte, []byte{7}), field(101, thriftMap, []byte{0})}
	data := fields(unknown...)
	h, n, err := parseHeader(append(data, "page"...))
	if err != nil || n != len(data) || h.values != 3 || h.stored != 7 || h.uncompressed != 9 || h.defs != rle {
		t.Errorf("%+v, %d of %d bytes, %v", h, n, len(data), err)
	}
	for i := range data {
		if _, _, err := parseHeader(data[:i]); err != errTruncated {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	for name, bad := range map[string][]byte{
		"deep":     deep,
		"type 13":  {0x1d, 0},
		"long":     fields(field(1, thriftInt32, binary.AppendVarint(nil, 1<<40))),
		"negative": fields(field(1, thriftInt32, zigzag(1)), field(2, thriftInt32, zigzag(-1))),
		"no part":  fields(field(1, thriftInt32, zigzag(0)), field(2, thriftInt32, zigzag(1)), field(3, thriftInt32, zigzag(1))),
		"other part": fields(field(1, thriftInt32, zigzag(0)), field(3, thriftInt32, zigzag(1)),
			field(7, thriftStruct, fields(field(1, thriftInt32, zigzag(1))))),
		"varint": {0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"list":   {0x19, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, _, err := parseHeader(bad); err == nil || err == errTruncated {
			t.Errorf("%s: %v", name, err)
		}
	}
}
