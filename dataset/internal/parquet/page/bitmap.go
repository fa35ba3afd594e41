package page

// A bitmap tells which values aren't null. It has memory once one is.
type bitmap struct {
	pool  *Pool
	buf   *Buffer
	nulls int
}

// add adds k values, of which so many are null, behind the first at. Where some are, but not all, their definition
// levels tell which.
func (b *bitmap) add(at, k, nulls int, defs []uint32, most uint32) {
	if b.buf == nil && nulls == 0 || k == 0 {
		return
	}
	if bytes := (at + k + 7) / 8; b.buf == nil || bytes > len(b.buf.Bytes) {
		first := b.buf == nil
		b.buf = b.pool.grow(b.buf, (at+7)/8, 2*bytes)
		clear(b.buf.Bytes[(at+7)/8:])
		if first {
			clear(b.buf.Bytes)
			b.set(0, at)
		}
	}
	switch b.nulls += nulls; nulls {
	case 0:
		b.set(at, at+k)
	case k:
	default:
		for i, d := range defs[:k] {
			if d == most {
				b.buf.Bytes[(at+i)/8] |= 1 << ((at + i) % 8)
			}
		}
	}
}

// set sets bits lo to hi.
func (b *bitmap) set(lo, hi int) {
	for ; lo < hi && lo%8 != 0; lo++ {
		b.buf.Bytes[lo/8] |= 1 << (lo % 8)
	}
	for ; lo+8 <= hi; lo += 8 {
		b.buf.Bytes[lo/8] = 0xff
	}
	for ; lo < hi; lo++ {
		b.buf.Bytes[lo/8] |= 1 << (lo % 8)
	}
}
