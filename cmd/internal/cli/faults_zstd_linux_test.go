package cli

import "encoding/binary"

// A frame is a Zstandard frame (RFC 8878, section 3.1.1) made of raw blocks and run-length blocks. A run-length block
// takes a few bytes for 128 KiB.
type frame struct {
	bytes []byte
	size  int // decompressed size in bytes
	last  int // offset of the last block's header
}

// A repeat is a byte that is repeated count times.
type repeat struct {
	value byte
	count int
}

// newFrame returns a frame whose content is first, and then the repeated bytes.
func newFrame(first []byte, runs ...repeat) frame {
	size := len(first)
	for _, r := range runs {
		size += r.count
	}
	const singleSegmentOf8 = 0xe0
	f := frame{bytes: binary.LittleEndian.AppendUint64([]byte{0x28, 0xb5, 0x2f, 0xfd, singleSegmentOf8}, uint64(size)), size: size}
	const raw, rleBlock, most = 0, 1, 128 << 10
	for len(first) > 0 {
		n := min(len(first), most)
		f.block(raw, n, first[:n])
		first = first[n:]
	}
	for _, r := range runs {
		for left := r.count; left > 0; left -= most {
			f.block(rleBlock, min(left, most), []byte{r.value})
		}
	}
	f.bytes[f.last] |= 1 // the last block
	return f
}

func (f *frame) block(kind, size int, content []byte) {
	f.last = len(f.bytes)
	h := uint32(size)<<3 | uint32(kind)<<1
	f.bytes = append(append(f.bytes, byte(h), byte(h>>8), byte(h>>16)), content...)
}
