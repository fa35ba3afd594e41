package page

import (
	"bytes"
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

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
