package page

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// randomValue makes a value; small ones repeat.
func randomValue(rng *rand.Rand, t Type, width int) []byte {
	few := rng.IntN(3) > 0
	switch t {
	case Boolean:
		return []byte{byte(rng.IntN(2))}
	case Bytes:
		words := []string{"", "a", "abc", "abcd", "abcdefgh", "xyz"}
		v := []byte(words[rng.IntN(len(words))])
		if !few {
			v = fmt.Append(v, rng.IntN(1000))
		}
		return v
	}
	n := (&Chunk{Type: t, Width: width}).width()
	v := make([]byte, n)
	if few {
		v[0] = byte(rng.IntN(5))
		return v
	}
	for i := range v {
		v[i] = byte(rng.Uint32())
	}
	return v
}

// randomEntries makes rows of a column, in runs of nulls and values.
func randomEntries(w *chunkWriter, rows int) []entry {
	var all []entry
	value := func(rep int) {
		e := entry{rep, w.maxDef, randomValue(w.rng, w.typ, w.width)}
		if w.maxDef > max(0, w.listDef) && w.rng.IntN(3) == 0 {
			e.def, e.value = w.maxDef-1, nil
		}
		all = append(all, e)
	}
	for range rows {
		if w.listDef == 0 {
			value(0)
			continue
		}
		n := w.rng.IntN(5)
		if n == 0 { // an empty list or none
			all = append(all, entry{def: w.listDef - 1 - w.rng.IntN(w.listDef)})
		}
		for k := range n {
			value(min(k, 1))
		}
	}
	if w.listDef == 0 && w.rng.IntN(3) == 0 { // a stretch without nulls
		for i := range all[len(all)/4 : len(all)/2] {
			e := &all[len(all)/4+i]
			e.def, e.value = w.maxDef, randomValue(w.rng, w.typ, w.width)
		}
	}
	return all
}

// text shows values and lists, for comparison.
func (v *Values) text(w int) (rows []string) {
	value := func(i int) string {
		switch {
		case v.Valid != nil && v.Valid.Bytes[i/8]>>(i%8)&1 == 0:
			return "null"
		case v.Offsets != nil:
			ends := As[int32](v.Offsets.Bytes)
			return fmt.Sprintf("%q", v.Data.Bytes[ends[i]:ends[i+1]])
		}
		return fmt.Sprintf("%x", v.Data.Bytes[i*w:(i+1)*w])
	}
	for r := range v.Rows {
		if v.Lists == nil {
			rows = append(rows, value(r))
			continue
		}
		if v.ValidLists != nil && v.ValidLists.Bytes[r/8]>>(r%8)&1 == 0 {
			rows = append(rows, "null")
			continue
		}
		starts := As[int32](v.Lists.Bytes)
		list := []string{}
		for i := starts[r]; i < starts[r+1]; i++ {
			list = append(list, value(int(i)))
		}
		rows = append(rows, fmt.Sprint(list))
	}
	return rows
}

// wanted is text of what was written.
func (w *chunkWriter) wanted(entries []entry) (rows []string) {
	var list []string
	for i, e := range entries {
		s := "null"
		switch {
		case e.value == nil:
		case w.typ == Bytes:
			s = fmt.Sprintf("%q", e.value)
		default:
			s = fmt.Sprintf("%x", e.value)
		}
		if w.listDef == 0 {
			rows = append(rows, s)
			continue
		}
		if e.rep == 0 {
			list = []string{}
		}
		if e.def >= w.listDef {
			list = append(list, s)
		}
		if i+1 == len(entries) || entries[i+1].rep == 0 {
			if s = fmt.Sprint(list); e.def < w.listDef-1 {
				s = "null"
			}
			rows = append(rows, s)
		}
	}
	return rows
}

// readAll reads a chunk in pieces of random length.
func readAll(rng *rand.Rand, data []byte, c Chunk, pool *Pool) (rows []string, err error) {
	r := NewReader(bytes.NewReader(data), c, pool)
	defer r.Close()
	for left := int(c.Rows); left > 0; {
		v, err := r.Read(context.Background(), min(left, 1+rng.IntN(1500)))
		if err != nil {
			return nil, err
		}
		nulls := 0
		for i := range v.N {
			if v.Valid != nil && v.Valid.Bytes[i/8]>>(i%8)&1 == 0 {
				nulls++
			}
		}
		if nulls != v.Nulls {
			return nil, fmt.Errorf("%d nulls, %d in the bitmap", v.Nulls, nulls)
		}
		rows = append(rows, v.text(c.width())...)
		left -= v.Rows
		v.Release()
	}
	return rows, nil
}

// encodingsOf are the encodings of a type's values.
func encodingsOf(t Type) []Encoding {
	switch t {
	case Boolean:
		return []Encoding{plain, rle}
	case Int32, Int64:
		return []Encoding{plain, plainDictionary, rleDictionary, deltaBinaryPacked, byteStreamSplit}
	case Int96:
		return []Encoding{plain, rleDictionary}
	case Bytes:
		return []Encoding{plain, rleDictionary, deltaLengthBytes, deltaByteArray}
	case FixedBytes:
		return []Encoding{plain, rleDictionary, deltaByteArray, byteStreamSplit}
	}
	return []Encoding{plain, rleDictionary, byteStreamSplit}
}

var codecs = []Codec{Uncompressed, Snappy, Gzip, Brotli, LZ4, Zstd, LZ4Raw}

// eachWriter calls f with writers of every type and encoding, and random other choices.
func eachWriter(rng *rand.Rand, f func(w *chunkWriter)) {
	for t := Boolean; t <= FixedBytes; t++ {
		for _, e := range encodingsOf(t) {
			for _, c := range codecs {
				for shape := range 6 {
					if shape >= 2 && t == Bytes {
						continue // there are no lists of them
					}
					w := &chunkWriter{rng: rng, typ: t, width: 5, encoding: e, codec: c, v2: rng.IntN(2) == 0,
						crc: rng.IntN(2) == 0, msb: rng.IntN(3) == 0, mixed: rng.IntN(2) == 0, plainV2: rng.IntN(4) == 0, goesOn: rng.IntN(2) == 0,
						rows: []int{3, 50, 50, 3000}[rng.IntN(4)]}
					w.listDef = []int{0, 0, 1, 1, 2, 2}[shape]
					w.maxDef = w.listDef + shape%2
					f(w)
				}
			}
		}
	}
}

// TestReader reads chunks of every type in every encoding and compression, flat and of lists, with and without nulls.
func TestReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mem := &heap{}
	pool := NewPool(mem)
	eachWriter(rng, func(w *chunkWriter) {
		entries := randomEntries(w, 1+rng.IntN(min(10*w.rows, 5000)))
		c := w.write(entries)
		got, err := readAll(rng, w.out, c, pool)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
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
	pool.Close()
	mem.check(t)
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
	mem := &heap{}
	pool := NewPool(mem)
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
			if err := r.Skip(context.Background(), int64(n)); err != nil {
				t.Fatalf("%+v: rows %d to %d: %v", c, at, at+n, err)
			}
			at, skipped = at+n, skipped+n
			asked := 1 + rng.IntN(min(len(want)-at, 1500))
			v, err := r.Read(context.Background(), asked)
			if err != nil {
				t.Fatalf("%+v: row %d: %v", c, at, err)
			}
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
	pool.Close()
	mem.check(t)
}

// TestSkipDamage changes bytes of chunks and skips rows: that ends, without a panic, and its errors name one page.
func TestSkipDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	mem := &heap{}
	pool := NewPool(mem)
	found, place := 0, regexp.MustCompile(`page [0-9]+: `)
	eachWriter(rng, func(w *chunkWriter) {
		w.rows = 40
		c := w.write(randomEntries(w, 100))
		for range 30 {
			data := bytes.Clone(w.out)
			data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			r := NewReader(bytes.NewReader(data), c, pool)
			if err := r.Skip(context.Background(), rng.Int64N(c.Rows)); err != nil {
				if found++; len(place.FindAllString(err.Error(), -1)) > 1 {
					t.Fatalf("%+v: %v", c, err)
				}
			}
			r.Close()
		}
	})
	if found == 0 {
		t.Fatal("nothing wrong was found")
	}
	pool.Close()
	mem.check(t)
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

// TestReaderDamage changes bytes of chunks, and cuts them: reading ends, without a panic, in bounded memory. What has a
// checksum is never read wrong.
func TestReaderDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	mem := &heap{}
	pool := NewPool(mem)
	eachWriter(rng, func(w *chunkWriter) {
		w.rows = 40
		entries := randomEntries(w, 100)
		c := w.write(entries)
		want := strings.Join(w.wanted(entries), " ")
		for range 30 {
			data, bad := bytes.Clone(w.out), c
			if rng.IntN(4) == 0 {
				bad.Size = rng.Int64N(c.Size)
			} else {
				data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			}
			got, err := readAll(rng, data, bad, pool)
			if err == nil && bad.Size < c.Size {
				t.Fatalf("%+v: cut to %d bytes, and read", c, bad.Size)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("%+v: %v", c, err)
			}
			_ = got
		}
		if got, err := readAll(rng, w.out, c, pool); err != nil || strings.Join(got, " ") != want {
			t.Fatalf("%+v: undamaged: %v", c, err)
		}
	})
	pool.Close()
	mem.check(t)
	if mem.most > 64<<20 {
		t.Errorf("%d bytes were allocated", mem.most)
	}
}

// TestChecksum changes each byte that a checksum covers.
func TestChecksum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, codec := range codecs {
		w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, codec: codec, crc: true, rows: 100, v2: codec == Zstd}
		c := w.write(randomEntries(w, 20))
		h, n, err := parseHeader(w.out)
		if err != nil || !h.hasCRC {
			t.Fatal(err)
		}
		for i := n; i < len(w.out); i++ {
			if i == n+int(h.stored) {
				break
			}
			bad := bytes.Clone(w.out)
			bad[i] ^= 4
			_, err := readAll(rng, bad, c, NewPool(&heap{}))
			if err == nil || err.Error() != "page 0: its checksum is wrong" {
				t.Fatalf("%d: byte %d changed: %v", codec, i, err)
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
	mem := &heap{}
	pool := NewPool(mem)
	r := NewReader(bytes.NewReader(w.out), c, pool)
	var all []*Values
	views := 0
	for left := 3000; left > 0; left -= 100 {
		v, err := r.Read(context.Background(), 100)
		if err != nil {
			t.Fatal(err)
		}
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
	pool.Close()
	mem.check(t)
}

// TestBombs reads pages that stand for far more than they are.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 32<<20)
	for _, codec := range codecs[1:] {
		small := compress(codec, zeros)
		for _, claim := range []int{1 << 30, 40 << 20, 31 << 20, 1000} {
			mem := &heap{}
			out, err := codec.decompress(NewPool(mem), small, claim)
			if err == nil {
				t.Errorf("codec %d: %d bytes stand for %d", codec, len(small), len(out.Bytes))
			}
			if mem.most > 300*len(small)+(128<<20) {
				t.Errorf("codec %d, %d bytes claim %d: %d bytes allocated", codec, len(small), claim, mem.most)
			}
		}
		for _, claim := range []int{1 << 30, 1 << 20} { // nothing is there
			mem := &heap{}
			if _, err := codec.decompress(NewPool(mem), small[:min(60, len(small))], claim); err == nil || mem.most > 8<<20 {
				t.Errorf("codec %d, 60 bytes claim %d: %v, %d bytes allocated", codec, claim, err, mem.most)
			}
		}
		out, err := codec.decompress(NewPool(&heap{}), small, len(zeros))
		if err != nil || !bytes.Equal(out.Bytes, zeros) {
			t.Errorf("codec %d: %v", codec, err)
		}
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
			v, err := r.Read(context.Background(), len(entries)-rows)
			if err != nil {
				t.Fatal(err)
			}
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

// TestCancel stops between two pages.
func TestCancel(t *testing.T) {
	w := &chunkWriter{rng: rand.New(rand.NewPCG(1, 1)), typ: Int32, encoding: plain, rows: 10}
	c := w.write(randomEntries(w, 1000))
	ctx, cancel := context.WithCancel(context.Background())
	r := NewReader(bytes.NewReader(w.out), c, NewPool(&heap{}))
	if _, err := r.Read(ctx, 500); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(ctx, 500); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzReader reads any bytes as a chunk of any kind. Memory is bounded by what is there.
func FuzzReader(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 3))
	n := 0
	eachWriter(rng, func(w *chunkWriter) {
		if n++; n%7 == 0 {
			w.rows = 20
			c := w.write(randomEntries(w, 40))
			f.Add(w.out, byte(c.Type), byte(c.Codec), byte(c.MaxDef), byte(c.ListDef), uint16(c.Rows), uint16(c.Values))
		}
	})
	f.Fuzz(func(t *testing.T, data []byte, typ, codec, maxDef, listDef byte, rows, values uint16) {
		c := Chunk{Type: Type(typ % 8), Width: 5, ListDef: int(listDef % 3), Codec: Codec(codec % 8), Size: int64(len(data)),
			Uncompressed: int64(4 * len(data)), Rows: int64(rows), Values: int64(max(rows, values))}
		c.MaxDef = c.ListDef + int(maxDef%2)
		if c.ListDef > 0 && c.Type == Bytes {
			c.Type = Int32
		}
		if c.ListDef == 0 {
			c.Values = c.Rows
		}
		mem := &heap{}
		pool := NewPool(mem)
		got, err := readAll(rand.New(rand.NewPCG(1, 1)), data, c, pool)
		if err == nil && len(got) != int(rows) {
			t.Errorf("%d of %d rows", len(got), rows)
		}
		pool.Close()
		mem.check(t)
		if most := 64<<20 + 8*len(data); mem.most > most {
			t.Errorf("%d bytes are allocated for %d", mem.most, len(data))
		}
	})
}
