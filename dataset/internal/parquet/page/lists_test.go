package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 12))
		w := &chunkWriter{rng: rng, typ: []Type{Int32, Double, Float}[seed%3], encoding: []Encoding{plain, rleDictionary}[seed%2],
			listDef: 1, maxDef: 1 + int(seed/2%2), rows: []int{300, 3000, 30_000}[seed/4%3], v2: seed/8%2 == 0, codec: Codec(seed % 2)}
		entries := longLists(w, 60, 2000)
		c := w.write(entries)
		want := w.wanted(entries)
		for _, room := range []int{0, 100, 40_000} {
			mem := &heap{}
			pool := NewPool(mem)
			pool.Room = room
			got, err := readAll(rng, w.out, c, pool)
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("seed %d, room %d: %d of %d rows, error %v", seed, room, len(got), len(want), err)
			}
			pool.Close()
			mem.check(t)
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
		mem := &heap{}
		pool := NewPool(mem)
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
		pool.Close()
		mem.check(t)
		size := 1
		if c.typ == Float {
			size = 4
		}
		if c.fits != (err == nil) || c.fits && values != c.rows*c.n*size {
			t.Errorf("%s: %d rows, %d bytes, error %v", what, rows, values, err)
		}
		if !c.fits {
			wantError(t, what, err, "give more with --memory")
		}
		if mem.most > limit+2*room {
			t.Errorf("%s: %d bytes are allocated", what, mem.most)
		}
	}
}
