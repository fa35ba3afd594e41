package page

// A bitmap has a bit for each value: 1 if the value isn't null. It has memory only after the first null.
type bitmap struct {
	pool  *Pool
	buf   *Buffer
	nulls int
}

// add adds k values, nulls of which are null, after the first at values. If 0 < nulls < k, defs has their definition
// levels, and a value isn't null if its level is most.
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

// set sets the bits from lo up to, but not including, hi.
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
