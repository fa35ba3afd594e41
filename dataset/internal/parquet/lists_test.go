package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// longLists are lists of up to so many elements, in which stretches of nulls come and go, and short ones between them.
func longLists(w *chunkWriter, rows, most int) (all []entry) {
	for row := range rows {
		n := w.rng.IntN(most)
		if row%3 == 0 {
			n %= 5
		}
		if n == 0 {
			all = append(all, entry{def: w.listDef - 1})
		}
		null := false
		for k := range n {
			if w.maxDef > w.listDef && w.rng.IntN(200) == 0 {
				null = !null
			}
			e := entry{min(k, 1), w.maxDef, randomValue(w.rng, w.typ, w.width)}
			if null {
				e.def, e.value = w.maxDef-1, nil
			}
			all = append(all, e)
		}
	}
	return all
}

// TestLongLists reads lists whose levels are long runs, in pages of any size, as their levels one by one say.
func TestLongLists(t *testing.T) {
	seeds := uint64(24)
	if require.Small() {
		seeds = 12
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 12))
		w := &chunkWriter{rng: rng, typ: []Type{Int32, Double, Float}[seed%3], encoding: []Encoding{plain, rleDictionary}[seed%2],
			listDef: 1, maxDef: 1 + int(seed/2%2), rows: []int{300, 3000, 30_000}[seed/4%3], v2: seed/8%2 == 0, codec: Codec(seed % 2)}
		entries := longLists(w, 60, 2000)
		c := w.write(entries)
		want := w.wanted(entries)
		for _, room := range []int{0, 100, 40_000} {
			_, pool := checkedPool(t)
			pool.Room = room
			got, err := readAll(rng, w.out, c, pool)
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("seed %d, room %d: %d of %d rows, error %v", seed, room, len(got), len(want), err)
			}
		}
		longest := 0
		for _, list := range want {
			longest = max(longest, strings.Count(list, " ")+1)
		}
		for _, most := range []int{longest, longest - 1, 7} {
			c.MaxList = most
			_, err := readAll(rng, w.out, c, NewPool(&heap{}))
			if long := (LongList{}); (err == nil) != (most == longest) || err != nil && (!errors.As(err, &long) || long.Most != most) {
				t.Errorf("seed %d, lists of %d within %d: error %v", seed, longest, most, err)
			}
		}
	}
}

// repeatedRows is a chunk of a few bytes: rows lists of n times the same number, or, of texts, rows times the same one of n bytes.
func repeatedRows(typ Type, rows, n int) ([]byte, Chunk) {
	w := &chunkWriter{rng: rand.New(rand.NewPCG(1, 13)), typ: typ, encoding: rleDictionary, rows: 1 << 30}
	value := bytes.Repeat([]byte("v"), n)
	levels, values := []byte(nil), rows
	if typ != Bytes {
		w.listDef, w.maxDef, values, value = 1, 1, rows*n, value[:4]
		var reps []byte
		run := func(n int, level byte) { reps = append(appendUvarint(reps, n<<1), level) }
		for range rows {
			run(1, 0)
			run(n-1, 1)
		}
		levels = append(prefix(reps), prefix(append(appendUvarint(nil, values<<1), 1))...)
	}
	w.makeDictionary([]entry{{value: value}})
	body := append(levels, append(appendUvarint([]byte{1}, values<<1), 0)...)
	w.page(dataPage, nil, body, field(5, thriftStruct, fields(field(1, thriftInt32, zigzag(values)),
		field(2, thriftInt32, zigzag(int(rleDictionary))), field(3, thriftInt32, zigzag(int(rle))), field(4, thriftInt32, zigzag(int(rle))))))
	return w.out, Chunk{Type: typ, MaxDef: w.maxDef, ListDef: w.listDef, Size: int64(len(w.out)), Uncompressed: w.uncompressed,
		Rows: int64(rows), Values: int64(values)}
}

func appendUvarint(b []byte, v int) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// TestRoomOfValues: what is read at a time stays within the room, and a row that alone takes more within the limit.
func TestRoomOfValues(t *testing.T) {
	const room, limit = 1 << 20, 8 << 20
	for _, c := range []struct {
		typ     Type
		rows, n int
		fits    bool
	}{{Float, 3000, 2000, true}, {Float, 5, 1_000_000, true}, {Float, 2, 8_000_000, false}, {Bytes, 20_000, 3000, true},
		{Bytes, 3, 2 << 20, true}, {Bytes, 2, 5 << 20, false}} {
		data, chunk := repeatedRows(c.typ, c.rows, c.n)
		what := fmt.Sprintf("%d rows of %d of %s", c.rows, c.n, c.typ)
		mem, pool := checkedPool(t)
		pool.Room, pool.Limit = room, limit
		r := NewReader(bytes.NewReader(data), chunk, pool)
		rows, values := 0, 0
		var err error
		for rows < c.rows && err == nil {
			var v *Values
			if v, err = r.Read(context.Background(), min(c.rows-rows, 65536)); err == nil {
				rows, values = rows+v.Rows, values+len(v.Data.Bytes)
				if one := 4 * c.n; len(v.Data.Bytes) > 2*max(room, one) {
					t.Fatalf("%s: %d bytes at a time", what, len(v.Data.Bytes))
				}
				v.Release()
			}
		}
		r.Close()
		size := 1
		if c.typ == Float {
			size = 4
		}
		if c.fits != (err == nil) || c.fits && values != c.rows*c.n*size {
			t.Errorf("%s: %d rows, %d bytes, error %v", what, rows, values, err)
		}
		if !c.fits {
			wantError(t, what, err, "give more with Memory")
		}
		if mem.most > limit+2*room {
			t.Errorf("%s: %d bytes are allocated", what, mem.most)
		}
	}
}

// TestDamage changes bytes of chunks, and cuts them: reading and skipping end, without a panic, in bounded memory, with errors of one line
// that name one page.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	mem, pool := checkedPool(t)
	found, place := 0, regexp.MustCompile(`page [0-9]+: `)
	check := func(c Chunk, err error) {
		if err == nil {
			return
		}
		if found++; strings.Contains(err.Error(), "\n") || len(place.FindAllString(err.Error(), -1)) > 1 {
			t.Fatalf("%+v: %v", c, err)
		}
	}
	eachWriter(rng, func(w *chunkWriter) {
		w.rows = 40
		entries := randomEntries(w, 100)
		c := w.write(entries)
		changed := 30
		if require.Small() {
			changed = 100 // of fewer chunks
		}
		for range changed {
			data, bad := bytes.Clone(w.out), c
			if rng.IntN(4) == 0 {
				bad.Size = rng.Int64N(c.Size)
			} else {
				data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			}
			_, err := readAll(rng, data, bad, pool)
			if check(bad, err); err == nil && bad.Size < c.Size {
				t.Fatalf("%+v: cut to %d bytes, and read", c, bad.Size)
			}
			r := NewReader(bytes.NewReader(data), bad, pool)
			check(bad, r.Skip(t.Context(), rng.Int64N(c.Rows)))
			r.Close()
		}
		if got, err := readAll(rng, w.out, c, pool); err != nil || !slices.Equal(got, w.wanted(entries)) {
			t.Fatalf("%+v: undamaged: %v", c, err)
		}
	})
	if mem.most > 64<<20 || found == 0 {
		t.Errorf("%d bytes were allocated, and %d errors found", mem.most, found)
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

// TestBombs reads pages that stand for far more than they are.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 32<<20)
	for _, codec := range codecs[1:] {
		small := compressBody(codec, zeros)
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
		if c.ListDef == 0 {
			c.Values = c.Rows
		}
		mem, pool := checkedPool(t)
		got, err := readAll(rand.New(rand.NewPCG(1, 1)), data, c, pool)
		if err == nil && len(got) != int(rows) {
			t.Errorf("%d of %d rows", len(got), rows)
		}
		if most := 64<<20 + 8*len(data); mem.most > most {
			t.Errorf("%d bytes are allocated for %d", mem.most, len(data))
		}
	})
}
