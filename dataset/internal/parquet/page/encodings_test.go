package page

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

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
