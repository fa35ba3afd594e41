package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/memory"
	"halfspace/internal/require"
)

// wantError checks that an error says something.
func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", what, err, want)
	}
}

// TestClaims decompresses pages that stand for a few bytes more or less than they claim.
func TestClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(rng.IntN(40))
	}
	for _, codec := range codecs[1:] {
		stored := compressBody(codec, data)
		for _, claim := range []int{1, 960, 990, 999, 1001, 1010, 1050} {
			out, err := codec.decompress(NewPool(&heap{}), stored, claim)
			if err == nil {
				t.Errorf("codec %d: 1000 bytes pass for %d", codec, len(out.Bytes))
			}
			if codec == Snappy { // whose own length is looked at before anything is decoded
				wantError(t, "Snappy", err, fmt.Sprintf("not the %d bytes of Snappy", claim))
			}
		}
		if out, err := codec.decompress(NewPool(&heap{}), stored, 1000); err != nil || !bytes.Equal(out.Bytes, data) {
			t.Errorf("codec %d: %v", codec, err)
		}
		// The same through a chunk.
		w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, codec: codec, rows: 1000}
		c := w.write([]entry{{value: []byte("1234")}, {value: []byte("5678")}})
		for _, claim := range []int{4, 7, 9} {
			bad := bytes.Replace(w.out, field(0, 0x15, zigzag(8))[1:], field(0, 0x15, zigzag(claim))[1:], 1)
			if bytes.Equal(bad, w.out) {
				t.Fatal("no size to change")
			}
			if _, err := readAll(rng, bad, c, NewPool(&heap{})); err == nil {
				t.Errorf("codec %d: a page of 8 bytes passes for %d", codec, claim)
			}
		}
	}
}

// TestWideRun: a run of a value that its bits can't hold is damage, wherever runs are.
func TestWideRun(t *testing.T) {
	for width, values := range map[int][]byte{0: {}, 1: {2}, 3: {8}, 7: {0x80}, 9: {0xff, 2}, 31: {0, 0, 0, 0x80}} {
		r := runs{data: append([]byte{20}, values...), width: width}
		_, _, err := r.take(make([]uint32, 10))
		if width == 0 && err != nil {
			t.Error(err)
		} else if width > 0 {
			wantError(t, "a wide value", err, fmt.Sprintf(" in %d bits", width))
		}
	}
	// A definition level of 2 in one bit isn't a null.
	rng := rand.New(rand.NewPCG(1, 6))
	w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, maxDef: 1, rows: 1000}
	var entries []entry
	for range 20 {
		entries = append(entries, entry{def: 1, value: []byte("1234")})
	}
	c := w.write(entries[:20])
	run := []byte{20 << 1, 1}
	if bytes.Count(w.out, run) != 1 {
		t.Fatal("no run to change")
	}
	_, err := readAll(rng, bytes.Replace(w.out, run, []byte{20 << 1, 2}, 1), c, NewPool(&heap{}))
	wantError(t, "a level", err, "a value of 2 in 1 bits")
}

// TestHighLevels: levels of lists above the greatest that there is are damage, in runs and packed.
func TestHighLevels(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, listDef: 1, maxDef: 2, rows: 1000, v2: seed%2 == 0}
		entries := randomEntries(w, 200)
		for i := range entries[100:130] {
			entries[100+i].def = 3 // two bits hold it
		}
		c := w.write(entries)
		_, err := readAll(rng, w.out, c, NewPool(&heap{}))
		wantError(t, "a level of 3", err, "a level of 3, above 2")
	}
}

// TestDictionaryPage: a chunk has one dictionary, and a dictionary that lacks a value of its count is damage.
func TestDictionaryPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	w := &chunkWriter{rng: rng, typ: Int32, encoding: rleDictionary, rows: 1000}
	c := w.write(randomEntries(w, 50))
	h, n, err := parseHeader(w.out)
	if err != nil || h.kind != dictionaryPage {
		t.Fatalf("%+v, %v", h, err)
	}
	dictionary := w.out[:n+int(h.stored)]
	_, pool := checkedPool(t)
	counted := func(n int) []byte {
		return bytes.TrimSuffix(fields(field(1, thriftInt32, zigzag(n)), field(2, thriftInt32, zigzag(int(plainDictionary)))), []byte{0})
	}
	more := bytes.Replace(w.out, counted(len(w.dict)), counted(len(w.dict)+1), 1)
	if bytes.Equal(more, w.out) {
		t.Fatal("no count to change")
	}
	_, err = readAll(rng, more, c, pool)
	wantError(t, "a missing value", err, errShort.Error())
	c.Size, c.Uncompressed = c.Size+int64(len(dictionary)), 2*c.Uncompressed
	_, err = readAll(rng, append(bytes.Clone(dictionary), w.out...), c, pool)
	wantError(t, "two", err, "dictionary page: a second one")
}

// TestPadding: a chunk of an old writer is longer than its size says by less than the padding (PARQUET-816). What lies in
// the padding behind the last page is another chunk's, pages with values too.
func TestPadding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, e := range []Encoding{plain, rleDictionary} {
		w := &chunkWriter{rng: rng, typ: Int64, encoding: e, rows: 30}
		entries := randomEntries(w, 100)
		c := w.write(entries)
		next := &chunkWriter{rng: rng, typ: Int64, encoding: plain, rows: 1} // of pages that the padding has room for
		next.write(randomEntries(next, 20))
		file := append(bytes.Clone(w.out), next.out...)
		for _, short := range []int64{0, 17, 100} {
			padded := c
			padded.Size, padded.Padding = c.Size-short+100, 100
			got, err := readAll(rng, file, padded, NewPool(&heap{}))
			if err != nil || strings.Join(got, " ") != strings.Join(w.wanted(entries), " ") {
				t.Errorf("encoding %d, %d bytes missing: %v", e, short, err)
			}
		}
		more := c
		more.Size = int64(len(file)) // without padding what follows is the chunk's
		_, err := readAll(rng, file, more, NewPool(&heap{}))
		wantError(t, "rows behind", err, "more than 100 rows")
	}
}

// A watchedFile tells what is read of it.
type watchedFile struct {
	io.ReaderAt
	read func(n int, at int64)
}

func (f watchedFile) ReadAt(b []byte, at int64) (int, error) {
	f.read(len(b), at)
	return f.ReaderAt.ReadAt(b, at)
}

// TestCancel stops between two pages, and among pages behind the last row.
func TestCancel(t *testing.T) {
	between, stop := context.WithCancel(t.Context())
	rows := &chunkWriter{rng: rand.New(rand.NewPCG(1, 1)), typ: Int32, encoding: plain, rows: 10}
	chunk := rows.write(randomEntries(rows, 1000))
	first := NewReader(bytes.NewReader(rows.out), chunk, NewPool(&heap{}))
	require.Value(first.Read(between, 500))(t)
	stop()
	if _, err := first.Read(between, 500); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	rng := rand.New(rand.NewPCG(1, 10))
	w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, rows: 1000}
	c := w.write(randomEntries(w, 10))
	for range 1000 {
		w.page(indexPage, nil, []byte("index"), field(6, thriftStruct, fields()))
	}
	c.Size = int64(len(w.out))
	if _, err := readAll(rng, w.out, c, NewPool(&heap{})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	pages := 0
	r := NewReader(watchedFile{bytes.NewReader(w.out), func(_ int, at int64) {
		if at > 2000 {
			pages++
			cancel()
		}
	}}, c, NewPool(&heap{}))
	if _, err := r.Read(ctx, 10); !errors.Is(err, context.Canceled) || pages != 1 {
		t.Errorf("error %v after %d pages", err, pages)
	}
}

// zeros is a file of zeros behind a head.
type zeros struct{ head []byte }

func (z zeros) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at < int64(len(z.head)) {
		copy(b, z.head[at:])
	}
	return len(b), nil
}

// TestLongHeader: a header that doesn't end is read up to a bound, or to the end of the chunk.
func TestLongHeader(t *testing.T) {
	// A field that isn't known, of 1 GB.
	head := append(append([]byte{0x15, 0, 0x15, 2, 0x15, 2, 0x48}, binary.AppendUvarint(nil, 1e9)...), 0)
	for size, want := range map[int64]string{1 << 30: "its header is longer than 16777216 bytes", 5000: "its header ends too early"} {
		largest, last := 0, int64(0)
		src := watchedFile{zeros{head}, func(n int, at int64) { largest, last = max(largest, n), max(last, at+int64(n)) }}
		r := NewReader(src, Chunk{Type: Int32, Size: size, Uncompressed: size, Rows: 10, Values: 10}, NewPool(&heap{}))
		_, err := r.Read(context.Background(), 10)
		wantError(t, "a header", err, want)
		if most := min(size, maxHeader); int64(largest) > most || last > most {
			t.Errorf("chunk of %d bytes: %d were read at once, up to %d", size, largest, last)
		}
	}
	// One of 3 MB that ends is read.
	rng := rand.New(rand.NewPCG(1, 11))
	w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, rows: 1000}
	entries := randomEntries(w, 10)
	c := w.write(entries)
	_, n, err := parseHeader(w.out)
	require.NoError(t, err)
	long := append(append(bytes.Clone(w.out[:n-1]), 0x48), append(binary.AppendUvarint(nil, 3e6), make([]byte, 3e6+1)...)...)
	w.out = append(long, w.out[n:]...)
	c.Size = int64(len(w.out))
	if got, err := readAll(rng, w.out, c, NewPool(&heap{})); err != nil || len(got) != 10 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// TestLimit: pages and dictionaries that a pool has no room for are refused with a sentence, whatever they are compressed
// with; nothing is left behind, and with room enough they are read.
func TestLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	for _, codec := range codecs {
		for _, e := range []Encoding{plain, rleDictionary} {
			w := &chunkWriter{rng: rng, typ: Int64, maxDef: 1, encoding: e, codec: codec, rows: 1 << 20}
			var entries []entry
			for i := range 20_000 {
				entries = append(entries, entry{def: 1, value: binary.LittleEndian.AppendUint64(nil, uint64(i)<<40|rng.Uint64N(1<<40))})
				if i%100 == 0 {
					entries[i] = entry{}
				}
			}
			c := w.write(entries)
			limits := []int{1 << 10, 100 << 10, 2 << 20}
			if codec != Uncompressed {
				limits = append(limits, 250<<10) // for what it is decompressed to, but not for that beside what is stored
			}
			for _, limit := range limits {
				mem, pool := checkedPool(t)
				pool.Limit = limit
				_, err := readAll(rng, w.out, c, pool)
				if limit == 2<<20 {
					if err != nil {
						t.Errorf("codec %d, encoding %d: %v", codec, e, err)
					}
				} else {
					wantError(t, "a limit", err, "of memory beside other pages")
					if !errors.Is(err, memory.ErrMemory) {
						t.Errorf("a limit: %v is no memory.ErrMemory", err)
					}
					if !errors.As(err, new(Unsupported)) {
						t.Errorf("%v: is damage", err)
					}
				}
				if most := limit*5/4 + 100<<10; mem.most > most { // values of up to 1,500 rows come on top
					t.Errorf("codec %d, encoding %d: %d bytes with a limit of %d", codec, e, mem.most, limit)
				}
			}
		}
	}
}

// TestSpare: sizes that vary over a long time don't add up.
func TestSpare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	mem, pool := checkedPool(t)
	var held []*Buffer
	inUse, most := 0, 0
	for range 20_000 {
		n := 1 << rng.IntN(21)
		n += rng.IntN(n)
		b := pool.Get(n)
		held = append(held, b)
		inUse += len(b.memory)
		for len(held) > 20 {
			k := rng.IntN(len(held))
			inUse -= len(held[k].memory)
			held[k].Release()
			held[k] = held[len(held)-1]
			held = held[:len(held)-1]
		}
		most = max(most, inUse+2<<20) // one is released only after another was taken
	}
	if mem.most > most+most/4 {
		t.Errorf("%d bytes were allocated, and %d in use at most", mem.most, most)
	}
	for _, b := range held {
		b.Release()
	}
}

// TestSpareSizes: where other sizes are wanted than before, these are what is kept.
func TestSpareSizes(t *testing.T) {
	mem, pool := checkedPool(t)
	var held []*Buffer
	for range 16 {
		held = append(held, pool.Get(64<<10))
	}
	for _, b := range held {
		b.Release()
	}
	for round := range 5 {
		before := mem.now
		for n := range 8 {
			pool.Get((90 + 11*n) << 10).Release()
			if round > 1 && mem.now != before {
				t.Errorf("round %d, size %d: %d bytes are held, %d before", round, n, mem.now, before)
			}
		}
	}
}

// TestHugePages: a pool with little memory has no chunks of huge pages, of which each would stay for a single buffer in use.
func TestHugePages(t *testing.T) {
	for limit, want := range map[int]bool{0: true, leastHuge: true, leastHuge - 1: false} {
		p := NewPool(arrowmemory.DefaultAllocator)
		p.Limit = limit
		p.Get(minHuge).Release()
		if got := p.mem.(*hugeAllocator).rest != nil; got != want {
			t.Errorf("limit of %d bytes: huge pages %t", limit, got)
		}
	}
}
