package dataset

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"
)

// packed appends n values of width bits, least significant bit first.
func packed(values []uint64, width int) []byte {
	out := make([]byte, (len(values)*width+7)/8)
	for i, v := range values {
		for b := range width {
			at := i*width + b
			out[at/8] |= byte(v>>b&1) << (at % 8)
		}
	}
	return out
}

// randomRuns encodes random values below limit as runs, and returns them too.
func randomRuns(rng *rand.Rand, width int, limit uint64) (data []byte, values []uint64) {
	for range 1 + rng.IntN(6) {
		if rng.IntN(2) == 0 {
			n, v := 1+rng.IntN(300), rng.Uint64N(limit)
			data = binary.AppendUvarint(data, uint64(n)<<1)
			for i := range (width + 7) / 8 {
				data = append(data, byte(v>>(8*i)))
			}
			for range n {
				values = append(values, v)
			}
			continue
		}
		groups := 1 + rng.IntN(20)
		run := make([]uint64, 8*groups)
		for i := range run {
			run[i] = rng.Uint64N(limit)
		}
		data = append(binary.AppendUvarint(data, uint64(groups)<<1|1), packed(run, width)...)
		values = append(values, run...)
	}
	return data, values
}

// TestCheckRuns checks random runs of every width: sound, cut, and with a value that is too large.
func TestCheckRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		width := rng.IntN(33)
		limit := uint64(1) << width
		data, values := randomRuns(rng, width, limit)
		n := 1 + rng.IntN(len(values))
		most, ones := uint64(0), 0
		for _, v := range values[:n] {
			most = max(most, v)
			ones += int(v & 1)
		}
		got, err := checkRuns(data, width, n, most+1)
		if err != nil || width == 1 && got != ones {
			t.Fatalf("width %d, %d values: %d ones, %v, want %d", width, n, got, err, ones)
		}
		if width != 1 {
			if _, err := checkRuns(data, width, n, most); err == nil {
				t.Fatalf("width %d: a value of %d passes for less", width, most)
			}
		}
		if _, err := checkRuns(data, width, len(values)+1, limit); err == nil {
			t.Fatalf("width %d: %d values pass for one more", width, len(values))
		}
		if width > 0 {
			if _, err := checkRuns(data[:len(data)-1], width, len(values), limit); err == nil {
				t.Fatalf("width %d: a byte is missing", width)
			}
		}
	}
	for name, data := range map[string][]byte{"nothing": nil, "no value": {2}, "a run of none": {0, 1, 2, 1}, "long varint": {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "overflow": {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 1, 1}, "level 2": {2, 2}} {
		if _, err := checkRuns(data, 1, 1, 2); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if _, err := checkRuns([]byte{2}, 0, 1, 0); err == nil {
		t.Error("an index into an empty dictionary passes")
	}
}

// deltas encodes n equal deltas of width bits.
func deltas(block, parts, n, width int) []byte {
	data := binary.AppendUvarint(nil, uint64(block))
	data = binary.AppendUvarint(data, uint64(parts))
	data = binary.AppendUvarint(data, uint64(n))
	data = binary.AppendVarint(data, -5)
	for left := n - 1; left > 0; left -= block {
		data = binary.AppendVarint(data, 3)
		for range parts {
			data = append(data, byte(width))
		}
		for part := 0; part < parts && left > part*block/parts; part++ {
			data = append(data, make([]byte, block/parts*width/8)...)
		}
	}
	return data
}

func TestCheckDeltas(t *testing.T) {
	for _, n := range []int{1, 2, 32, 33, 128, 129, 130, 1000} {
		for _, width := range []int{0, 1, 7, 32, 64} {
			for _, shape := range [][2]int{{128, 4}, {256, 4}, {128, 1}} {
				data := deltas(shape[0], shape[1], n, width)
				rest, err := checkDeltas(append(data, "rest"...), n, n)
				if err != nil || string(rest) != "rest" {
					t.Fatalf("%d values of width %d, blocks of %v: %q, %v", n, width, shape, rest, err)
				}
				if _, err := checkDeltas(data, n-1, n); err != nil {
					t.Errorf("%d values for %d: %v", n, n-1, err)
				}
				for valid, most := range map[int]int{n + 1: n + 1, 0: n - 1} {
					if _, err := checkDeltas(data, valid, most); err == nil {
						t.Errorf("%d values pass for %d to %d", n, valid, most)
					}
				}
				for cut := 1; cut <= len(data) && n > 1 && width == 64 && cut < 100; cut++ {
					left := (n - 2) % (shape[0] / shape[1]) // unused values of the last part may be left out
					if cut > (shape[0]/shape[1]-1-left)*8 {
						if _, err := checkDeltas(data[:len(data)-cut], n, n); err == nil {
							t.Fatalf("%d values, blocks of %v: %d bytes fewer pass", n, shape, cut)
						}
					}
				}
			}
		}
	}
	for name, header := range map[string][]uint64{"no block": {0, 4, 9, 0}, "odd block": {100, 4, 9, 0}, "no parts": {128, 0, 9, 0},
		"odd parts": {128, 3, 9, 0}, "small parts": {128, 8, 9, 0}, "huge block": {1 << 40, 4, 9, 0}, "huge total": {128, 4, 1 << 60, 0},
		"wide": {128, 4, 9, 0, 0, 65, 65, 65, 65}} {
		var data []byte
		for _, v := range header {
			data = binary.AppendUvarint(data, v)
		}
		if _, err := checkDeltas(append(data, make([]byte, 4096)...), 9, 9); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if rest, err := checkDeltas(nil, 0, 5); err != nil || len(rest) != 0 {
		t.Errorf("nulls alone: %v", err)
	}
}

func TestPageSizes(t *testing.T) {
	header := []byte{0x15, 0}
	header = binary.AppendVarint(append(header, 0x15), 12345)
	header = binary.AppendVarint(append(header, 0x15), -3)
	if u, c := pageSizes(header); u != 12345 || c != -3 {
		t.Errorf("sizes %d, %d", u, c)
	}
	for i := range header {
		if u, c := pageSizes(header[:i]); u != 0 || c != 0 {
			t.Errorf("%d bytes: sizes %d, %d", i, u, c)
		}
	}
	if u, c := pageSizes([]byte{0x15, 0, 0x25, 8, 0x15, 8}); u != 0 || c != 0 {
		t.Errorf("other fields: sizes %d, %d", u, c)
	}
	s := &stream{data: append(header, "data"...), uncompressed: 100}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("a page of the right size: %v", r)
		}
	}()
	s.Discard(len(header))
	for _, sizes := range [][2]int64{{4, 5}, {100 + slack + 1, 4}} {
		header := binary.AppendVarint([]byte{0x15, 0, 0x15}, sizes[0])
		header = binary.AppendVarint(append(header, 0x15), sizes[1])
		s := &stream{data: append(header, "data"...), uncompressed: 100}
		if !panics(func() { s.Discard(len(header)) }) {
			t.Errorf("sizes %v pass", sizes)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestCheckValues covers the encodings' lengths.
func TestCheckValues(t *testing.T) {
	e := parquet.Encodings
	for _, c := range []struct {
		name     string
		typ      parquet.Type
		encoding parquet.Encoding
		data     []byte
		n        int
		ok       bool
	}{
		{"float", parquet.Types.Float, e.Plain, make([]byte, 8), 2, true},
		{"short float", parquet.Types.Float, e.Plain, make([]byte, 7), 2, false},
		{"short double", parquet.Types.Double, e.Plain, make([]byte, 15), 2, false},
		{"double", parquet.Types.Double, e.Plain, make([]byte, 16), 2, true},
		{"boolean", parquet.Types.Boolean, e.Plain, make([]byte, 2), 16, true},
		{"short boolean", parquet.Types.Boolean, e.Plain, make([]byte, 2), 17, false},
		{"int96", parquet.Types.Int96, e.Plain, make([]byte, 24), 2, true},
		{"short int96", parquet.Types.Int96, e.Plain, make([]byte, 23), 2, false},
		{"run-length boolean", parquet.Types.Boolean, e.RLE, []byte{2, 0, 0, 0, 8, 1}, 4, true},
		{"short run-length boolean", parquet.Types.Boolean, e.RLE, []byte{2, 0, 0, 0, 8, 1}, 5, false},
		{"long run-length boolean", parquet.Types.Boolean, e.RLE, []byte{3, 0, 0, 0, 8, 1}, 4, false},
		{"dictionary", parquet.Types.Float, e.RLEDict, []byte{2, 6, 2}, 3, true},
		{"index out of range", parquet.Types.Float, e.PlainDict, []byte{2, 6, 3}, 3, false},
		{"too few indices", parquet.Types.Float, e.RLEDict, []byte{2, 6, 2}, 4, false},
		{"width", parquet.Types.Float, e.RLEDict, []byte{33, 6, 2, 0, 0, 0, 0}, 3, false},
		{"no width", parquet.Types.Float, e.RLEDict, nil, 1, false},
		{"nulls alone", parquet.Types.Float, e.RLEDict, nil, 0, true},
		{"no width needed", parquet.Types.Float, e.RLEDict, []byte{0, 6}, 3, true},
		{"deltas", parquet.Types.Int32, e.DeltaBinaryPacked, deltas(128, 4, 9, 3), 9, true},
		{"too few deltas", parquet.Types.Int32, e.DeltaBinaryPacked, deltas(128, 4, 8, 3), 9, false},
		{"prefixes alone", parquet.Types.ByteArray, e.DeltaByteArray, deltas(128, 4, 9, 3), 9, false},
		{"prefixes and lengths", parquet.Types.ByteArray, e.DeltaByteArray, append(deltas(128, 4, 9, 3), deltas(128, 4, 9, 0)...), 9,
			true},
		{"unknown", parquet.Types.Float, 77, make([]byte, 8), 2, false},
	} {
		node, err := pschema.NewPrimitiveNode("x", parquet.Repetitions.Required, c.typ, -1, -1)
		if err != nil {
			t.Fatal(err)
		}
		p := &checkedPages{col: leaf{column{typ: arrow.PrimitiveTypes.Float32}, pschema.NewColumn(node, 0, 0)}, dictionary: 3}
		err = p.checkValues(c.encoding, c.data, c.n, c.n)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "unknown" && !errors.As(err, new(unsupported)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLevels counts definition levels in both of the encodings of first-version pages.
func TestLevels(t *testing.T) {
	valid, rest, err := levelsV1(parquet.Encodings.BitPacked, []byte{0b10110000, 0b01000000, 'r'}, 10)
	if valid != 4 || string(rest) != "r" || err != nil {
		t.Errorf("bit-packed: %d, %q, %v", valid, rest, err)
	}
	if _, _, err := levelsV1(parquet.Encodings.BitPacked, []byte{1}, 9); err == nil {
		t.Error("bit-packed levels are missing, and pass")
	}
	valid, rest, err = levelsV1(parquet.Encodings.RLE, []byte{4, 0, 0, 0, 6, 1, 4, 0, 'r'}, 5)
	if valid != 3 || string(rest) != "r" || err != nil {
		t.Errorf("runs: %d, %q, %v", valid, rest, err)
	}
	for _, data := range [][]byte{nil, {4, 0, 0}, {5, 0, 0, 0, 6, 1, 4, 0}, {4, 0, 0, 0, 6, 1, 2, 0}} {
		if _, _, err := levelsV1(parquet.Encodings.RLE, data, 5); err == nil {
			t.Errorf("levels % x pass", data)
		}
	}
}
