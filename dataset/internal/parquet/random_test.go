package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"halfspace/internal/require"
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

// eachWriter calls f with writers of every type, encoding and shape, with every codec or, where tests are small, with none and one, and
// random other choices.
func eachWriter(rng *rand.Rand, f func(w *chunkWriter)) {
	k := 0
	for t := Boolean; t <= FixedBytes; t++ {
		for _, e := range encodingsOf(t) {
			k++
			for _, c := range codecs {
				for shape := range 6 {
					if require.Small() && c != Uncompressed && c != codecs[(k+shape)%7] {
						continue
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

// packed packs values, the least significant bit first.
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

func encodeMSB(levels []uint32, width int) []byte {
	out := make([]byte, (len(levels)*width+7)/8)
	for i, v := range levels {
		for b := range width {
			at := i*width + b
			out[at/8] |= byte(v>>(width-1-b)&1) << (7 - at%8)
		}
	}
	return out
}

// encodeRuns writes values as runs of random kinds.
func encodeRuns(rng *rand.Rand, values []uint32, width int) []byte {
	var out []byte
	for len(values) > 0 {
		same := 1
		for same < len(values) && values[same] == values[0] {
			same++
		}
		if same >= 8 || rng.IntN(4) == 0 {
			out = binary.AppendUvarint(out, uint64(same)<<1)
			for i := range (width + 7) / 8 {
				out = append(out, byte(values[0]>>(8*i)))
			}
			values = values[same:]
			continue
		}
		groups := min(1+rng.IntN(6), (len(values)+7)/8)
		run := make([]uint64, 8*groups)
		n := min(len(values), len(run))
		for i, v := range values[:n] {
			run[i] = uint64(v)
		}
		out = append(binary.AppendUvarint(out, uint64(groups)<<1|1), packed(run, width)...)
		values = values[n:]
	}
	return out
}

func encodePlain(t Type, values [][]byte) []byte {
	var out []byte
	for i, v := range values {
		switch t {
		case Boolean:
			if i%8 == 0 {
				out = append(out, 0)
			}
			out[i/8] |= v[0] << (i % 8)
		case Bytes:
			out = append(out, prefix(v)...)
		default:
			out = append(out, v...)
		}
	}
	return out
}

// encodeDeltas writes numbers in blocks of 256 in 4 parts.
func encodeDeltas(values []int64) []byte {
	const block, parts = 256, 4
	out := binary.AppendUvarint(nil, block)
	out = binary.AppendUvarint(out, parts)
	out = binary.AppendUvarint(out, uint64(len(values)))
	if len(values) == 0 {
		return append(out, 0)
	}
	out = binary.AppendVarint(out, values[0])
	var differences []int64
	for i := 1; i < len(values); i++ {
		differences = append(differences, values[i]-values[i-1])
	}
	for len(differences) > 0 {
		n := min(block, len(differences))
		least := differences[0]
		for _, d := range differences[:n] {
			least = min(least, d)
		}
		out = binary.AppendVarint(out, least)
		var widths, data []byte
		for p := range parts {
			part := make([]uint64, block/parts)
			width := 0
			for i := p * len(part); i < min(n, (p+1)*len(part)); i++ {
				part[i-p*len(part)] = uint64(differences[i] - least)
				width = max(width, bits.Len64(uint64(differences[i]-least)))
			}
			widths = append(widths, byte(width))
			if p*len(part) < n {
				data = append(data, packed(part, width)...)
			}
		}
		out = append(append(out, widths...), data...)
		differences = differences[n:]
	}
	return out
}

// encode writes values in the writer's encoding.
func (w *chunkWriter) encode(values [][]byte) []byte {
	var numbers []int64
	var out []byte
	switch w.encoding {
	case rle:
		var runs []uint32
		for _, v := range values {
			runs = append(runs, uint32(v[0]))
		}
		return prefix(encodeRuns(w.rng, runs, 1))
	case plainDictionary, rleDictionary:
		var indices []uint32
		at := map[string]int{}
		for i, v := range w.dict {
			at[string(v)] = i
		}
		for _, v := range values {
			indices = append(indices, uint32(at[string(v)]))
		}
		width := bits.Len(uint(len(w.dict))) + w.rng.IntN(3)
		return append([]byte{byte(width)}, encodeRuns(w.rng, indices, width)...)
	case deltaBinaryPacked:
		for _, v := range values {
			if len(v) == 4 {
				numbers = append(numbers, int64(int32(binary.LittleEndian.Uint32(v))))
			} else {
				numbers = append(numbers, int64(binary.LittleEndian.Uint64(v)))
			}
		}
		return encodeDeltas(numbers)
	case deltaLengthBytes:
		for _, v := range values {
			numbers = append(numbers, int64(len(v)))
			out = append(out, v...)
		}
		return append(encodeDeltas(numbers), out...)
	case deltaByteArray:
		var suffixes [][]byte
		if !w.goesOn {
			w.last = nil
		}
		for _, v := range values {
			n := 0
			for n < min(len(v), len(w.last)) && v[n] == w.last[n] {
				n++
			}
			numbers, suffixes, w.last = append(numbers, int64(n)), append(suffixes, v[n:]), v
		}
		inner := chunkWriter{encoding: deltaLengthBytes}
		return append(encodeDeltas(numbers), inner.encode(suffixes)...)
	case byteStreamSplit:
		for k := range w.valueWidth() {
			for _, v := range values {
				out = append(out, v[k])
			}
		}
		return out
	}
	return encodePlain(w.typ, values)
}

func (w *chunkWriter) valueWidth() int { return (&Chunk{Type: w.typ, Width: w.width}).width() }
