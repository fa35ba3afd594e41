package page

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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
