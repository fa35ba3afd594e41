package parquet

import (
	"context"
	"fmt"
	"slices"
)

// maxList is the largest number of elements of a list, unless the chunk states another one.
const maxList = 1 << 24

// A LongList is the error of a list with more elements than Chunk.MaxList.
type LongList struct{ Most int }

// Error returns the largest number of elements of a list.
func (l LongList) Error() string { return fmt.Sprintf("a list of more than %d elements", l.Most) }

// defined reads the definition levels of up to n values of the page. It returns the number k of values, and the
// number of nulls among them. If 0 < nulls < k, their levels are in r.mask.
func (r *Reader) defined(n int) (k, nulls int, err error) {
	if r.c.MaxDef == 0 {
		r.left -= n
		return n, 0, nil
	}
	n = min(n, r.left)
	if err := r.defs.next(); err != nil {
		return 0, 0, err
	}
	if r.defs.packed == nil {
		k = min(n, r.defs.count)
		r.defs.count -= k
		if r.defs.value != uint32(r.c.MaxDef) {
			nulls = k
		}
	} else {
		k, _, err = r.defs.take(r.mask[:min(n, len(r.mask))])
		for _, d := range r.mask[:k] {
			if d != uint32(r.c.MaxDef) {
				nulls++
			}
		}
	}
	r.left -= k
	return k, nulls, err
}

// readFixed reads n values of a fixed length. It reads fewer if the values change from Convert's values to others, or
// the reverse.
func (r *Reader) readFixed(ctx context.Context, v *Values, n int) error {
	w := 0
	valid := bitmap{pool: r.pool}
	defer func() { v.Valid, v.Nulls = valid.buf, valid.nulls }()
	for v.N < n {
		if r.left == 0 {
			if err := r.nextPage(ctx); err != nil {
				return err
			}
		}
		if v.N == 0 {
			v.Made, w = r.made(), r.width()
		} else if r.made() != v.Made {
			v.Data.Bytes = v.Data.Bytes[:v.N*w]
			break
		}
		k, nulls, err := r.defined(min(n-v.N, r.left))
		if err != nil {
			return err
		}
		if nulls < k {
			if err := r.open(); err != nil {
				return err
			}
		}
		if p, ok := r.fixed.(*plainFixed); ok && k == n && nulls == 0 {
			if v.Data = p.view(n); v.Data != nil {
				v.N = n
				break
			}
		}
		if v.Data == nil {
			v.Data = r.pool.Get(n * w)
		}
		if err := r.decodeFixed(v.Data.Bytes[v.N*w:], k, nulls, r.mask); err != nil {
			return err
		}
		valid.add(v.N, k, nulls, r.mask, uint32(r.c.MaxDef))
		v.N += k
	}
	v.Rows = v.N
	return nil
}

// decodeFixed decodes k values, nulls of which are null, to dst. defs are their definition levels.
func (r *Reader) decodeFixed(dst []byte, k, nulls int, defs []uint32) error {
	w := r.width()
	if nulls == k {
		clear(dst[:k*w])
		return nil
	}
	if err := r.fixed.fixed(dst, k-nulls); err != nil {
		return err
	}
	if nulls > 0 {
		most := uint32(r.c.MaxDef)
		switch w {
		case 4:
			spread(As[uint32](dst[:k*w]), k-nulls, defs, most)
		case 8:
			spread(As[uint64](dst[:k*w]), k-nulls, defs, most)
		default:
			spreadBytes(dst[:k*w], w, k-nulls, defs, most)
		}
	}
	return nil
}

// spread moves the first n values of dst to the places whose definition level is most, and writes zeros to the other
// places.
func spread[V uint32 | uint64](dst []V, n int, defs []uint32, most uint32) {
	for i := len(dst) - 1; n <= i; i-- {
		if defs[i] == most {
			n--
			dst[i] = dst[n]
		} else {
			dst[i] = 0
		}
	}
}

// spreadBytes is spread for values of w bytes.
func spreadBytes(dst []byte, w, n int, defs []uint32, most uint32) {
	for i := len(dst)/w - 1; n <= i; i-- {
		if to := dst[i*w : (i+1)*w]; defs[i] == most {
			n--
			copy(to, dst[n*w:])
		} else {
			clear(to)
		}
	}
}

// readBytes reads up to n values of different lengths.
func (r *Reader) readBytes(ctx context.Context, v *Values, n int) error {
	room := r.pool.room()
	valid, t := bitmap{pool: r.pool}, text{pool: r.pool, data: r.pool.Get(min(16*n, room))}
	v.Offsets = r.pool.Get(4 * (n + 1))
	defer func() { v.Valid, v.Nulls, v.Data = valid.buf, valid.nulls, t.data }()
	ends := As[int32](v.Offsets.Bytes)
	ends[0] = 0
	for v.N < n && t.used < room {
		if r.left == 0 {
			if err := r.nextPage(ctx); err != nil {
				return err
			}
		}
		k := min(n-v.N, r.left, maskLevels)
		if each := max(r.each(), int(r.body.left())/max(1, r.count)); each > 0 {
			k = min(k, max(1, (room-t.used)/each))
		}
		k, nulls, err := r.defined(k)
		if err != nil {
			return err
		}
		if nulls < k {
			if err = r.open(); err == nil {
				err = r.bytes.bytes(&t, ends[v.N+1:][:k-nulls])
			}
			if err != nil {
				return err
			}
		}
		spreadEnds(ends[v.N:][:k+1], nulls, r.mask, uint32(r.c.MaxDef))
		valid.add(v.N, k, nulls, r.mask, uint32(r.c.MaxDef))
		v.N += k
	}
	v.Rows = v.N
	v.Offsets.Bytes = v.Offsets.Bytes[:4*(v.N+1)]
	t.data.Bytes = t.data.Bytes[:t.used]
	return nil
}

// spreadEnds moves the ends of values that aren't null, which follow the first element, to the places whose definition
// level is most. A null ends at the end of the value before. nulls of the values are null; if all are, defs isn't used.
func spreadEnds(ends []int32, nulls int, defs []uint32, most uint32) {
	k := len(ends) - 1
	for i, j := k, k-nulls; i > j; i-- {
		ends[i] = ends[j]
		if nulls < k && defs[i-1] == most {
			j--
		}
	}
}

// each returns the number of bytes of memory that a value of the page may take beyond the bytes of the page.
func (r *Reader) each() int {
	switch {
	case r.bytes != nil:
		return r.bytes.each()
	case r.dict != nil:
		return r.dict.longest
	}
	return int(r.body.left())
}

// listLevels are decoded levels of a page. at of n levels were used.
type listLevels struct {
	reps, defs []uint32
	at, n      int
	begun      bool // the first level of the chunk was read
	full       bool // every level is an element that isn't null; defs isn't set
	count      int  // number of elements that scan found
	elements   []uint32
	nulls      int // number of nulls among elements
	before     int // bytes of the elements of the previous read
}

func (l *listLevels) left() int { return l.n - l.at }

// fill decodes more levels if all were used. It returns false if there are no more levels.
func (r *Reader) fill(ctx context.Context) (bool, error) {
	l := &r.levels
	if l.at < l.n {
		return true, nil
	}
	if r.left == 0 {
		if r.seen == r.c.Values {
			return false, nil
		}
		if err := r.nextPage(ctx); err != nil {
			return false, err
		}
	}
	l.at, l.n = 0, min(r.left, len(l.reps))
	r.left -= l.n
	if err := r.reps.read(l.reps[:l.n], 1); err != nil {
		return false, err
	}
	if l.full = r.defs.repeats(l.n, uint32(r.c.MaxDef)); l.full {
		r.defs.count -= l.n
	} else if err := r.defs.read(l.defs[:l.n], uint32(r.c.MaxDef)); err != nil {
		return false, err
	}
	if !l.begun && l.reps[0] != 0 {
		return false, fmt.Errorf("the first repetition level is %d, not 0", l.reps[0])
	}
	l.begun = true
	return true, nil
}

// read reads levels. It returns an error if a level is greater than most.
func (r *runs) read(dst []uint32, most uint32) error {
	for len(dst) > 0 {
		n, repeated, err := r.take(dst)
		if err != nil {
			return err
		}
		if repeated {
			for i := range dst[:n] {
				dst[i] = r.value
			}
		}
		if greatest := slices.Max(dst[:n]); greatest > most {
			return fmt.Errorf("a level of %d, above %d", greatest, most)
		}
		dst = dst[n:]
	}
	return nil
}

// readLists reads up to n lists.
func (r *Reader) readLists(ctx context.Context, v *Values, n int) error {
	valid, validLists := bitmap{pool: r.pool}, bitmap{pool: r.pool}
	defer func() {
		v.Valid, v.Nulls, v.ValidLists, v.NullLists = valid.buf, valid.nulls, validLists.buf, validLists.nulls
	}()
	v.Lists = r.pool.Get(4 * (n + 1))
	for more := true; more; {
		elements, nulls := 0, 0
		var err error
		if elements, err = r.oneRun(v); err == nil && elements == 0 {
			more, err = r.scan(ctx, v, n, &validLists)
			elements, nulls = r.levels.count, r.levels.nulls
		}
		if err == nil {
			err = r.addElements(v, elements, nulls)
		}
		if err != nil {
			return err
		}
		valid.add(v.N, elements, nulls, r.levels.elements, uint32(r.c.MaxDef))
		v.N += elements
	}
	As[int32](v.Lists.Bytes)[v.Rows] = int32(v.N)
	v.Lists.Bytes = v.Lists.Bytes[:4*(v.Rows+1)]
	if v.Data == nil {
		v.Data = r.pool.Get(0)
	}
	size := v.N * r.c.width()
	if r.c.width() == 0 {
		if v.Offsets == nil {
			v.Offsets = r.pool.Get(4)
			clear(v.Offsets.Bytes)
		}
		v.Offsets.Bytes = v.Offsets.Bytes[:4*(v.N+1)]
		size = int(As[int32](v.Offsets.Bytes)[v.N])
	}
	v.Data.Bytes = v.Data.Bytes[:size]
	r.levels.before = size
	return nil
}

// oneRun skips a run of levels of the page that all mean the same: the last list has another element that isn't null.
// It returns their number. Long lists consist mostly of these runs.
func (r *Reader) oneRun(v *Values) (elements int, err error) {
	if v.Rows == 0 || r.levels.left() > 0 || !r.reps.repeats(1, 1) || !r.defs.repeats(1, uint32(r.c.MaxDef)) {
		return 0, nil
	}
	n := min(r.left, r.reps.count, r.defs.count)
	if first := int(As[int32](v.Lists.Bytes)[v.Rows-1]); v.N+n-first > r.maxList() {
		return 0, LongList{r.maxList()}
	}
	r.left -= n
	r.reps.count -= n
	r.defs.count -= n
	return n, nil
}

// maxList returns the largest number of elements of a list.
func (r *Reader) maxList() int {
	if r.c.MaxList > 0 {
		return r.c.MaxList
	}
	return maxList
}

// addElements decodes n elements of lists and appends them. If 0 < nulls < n, their definition levels are in
// r.levels.elements.
func (r *Reader) addElements(v *Values, n, nulls int) (err error) {
	if n == 0 {
		return nil
	}
	w := r.c.width()
	if w == 0 {
		return r.addTexts(v, n, nulls)
	}
	end := (v.N + n) * w
	if v.Data == nil || end > len(v.Data.Bytes) {
		if v.Data, err = r.pool.extend(v.Data, v.N*w, max(end, min(r.levels.before/2, r.pool.room()), 4096)); err != nil {
			return err
		}
	}
	if nulls < n {
		if err := r.open(); err != nil {
			return err
		}
	}
	return r.decodeFixed(v.Data.Bytes[v.N*w:end], n, nulls, r.levels.elements)
}

// addTexts is addElements for values of different lengths.
func (r *Reader) addTexts(v *Values, n, nulls int) (err error) {
	if size := 4 * (v.N + n + 1); v.Offsets == nil || size > len(v.Offsets.Bytes) {
		v.Offsets = r.pool.grow(v.Offsets, 4*(v.N+1), 2*size)
	}
	ends := As[int32](v.Offsets.Bytes)
	if v.N == 0 {
		ends[0] = 0
	}
	if nulls < n {
		if err := r.open(); err != nil {
			return err
		}
		t := text{pool: r.pool, data: v.Data, used: int(ends[v.N])}
		err = r.bytes.bytes(&t, ends[v.N+1:][:n-nulls])
		if v.Data = t.data; err != nil {
			return err
		}
	}
	spreadEnds(ends[v.N:][:n+1], nulls, r.levels.elements, uint32(r.c.MaxDef))
	return nil
}

// scan examines the decoded levels, or the next levels, up to the beginning of the first list that isn't to be read.
// It records the starts of lists and the definition levels of their elements. more is true if the last list may
// continue.
func (r *Reader) scan(ctx context.Context, v *Values, n int, valid *bitmap) (more bool, err error) {
	l := &r.levels
	l.elements, l.nulls, l.count = l.elements[:0], 0, 0
	if ok, err := r.fill(ctx); err != nil || !ok {
		if err == nil && v.Rows < n {
			err = located{fmt.Errorf("%d of %d rows", r.rows+int64(v.Rows), r.c.Rows)}
		}
		return false, err
	}
	starts, listDef, maxDef := As[int32](v.Lists.Bytes), uint32(r.c.ListDef), uint32(r.c.MaxDef)
	most, maxList := r.pool.room()/2/max(1, r.c.width()), r.maxList()
	if l.full {
		return r.scanFull(v, n, most, valid)
	}
	for ; l.at < l.n; l.at++ {
		rep, def := l.reps[l.at], l.defs[l.at]
		elements := v.N + l.count
		if rep == 0 {
			if v.Rows == n || v.Rows > 0 && elements >= most {
				return false, nil
			}
			starts[v.Rows] = int32(elements)
			null := 0
			if def+1 < listDef {
				null = 1
			}
			valid.add(v.Rows, 1, null, nil, 0)
			v.Rows++
		}
		switch {
		case def >= listDef:
			if elements-int(starts[v.Rows-1]) >= maxList {
				return false, LongList{maxList}
			}
			if l.elements = append(l.elements, def); def != maxDef {
				l.nulls++
			}
			l.count++
		case rep != 0:
			return false, fmt.Errorf("a list goes on without an element")
		}
	}
	return true, nil
}

// scanFull is scan where every level is an element that isn't null: it only looks for the beginnings of lists.
func (r *Reader) scanFull(v *Values, n, most int, valid *bitmap) (more bool, err error) {
	l, starts := &r.levels, As[int32](v.Lists.Bytes)
	reps := l.reps[l.at:l.n]
	for l.count < len(reps) {
		elements := v.N + l.count
		if reps[l.count] == 0 {
			if v.Rows == n || v.Rows > 0 && elements >= most {
				l.at += l.count
				return false, nil
			}
			starts[v.Rows] = int32(elements)
			valid.add(v.Rows, 1, 0, nil, 0)
			v.Rows++
		}
		for l.count++; l.count < len(reps) && reps[l.count] != 0; {
			l.count++
		}
		if v.N+l.count-int(starts[v.Rows-1]) > r.maxList() {
			return false, LongList{r.maxList()}
		}
	}
	l.at = l.n
	return true, nil
}

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

// skipRows is the number of values that are decoded at a time if values can't be skipped without decoding.
const skipRows = 4096

// Skip skips the next n rows; there must be more rows after them. For a page that has only skipped rows, it reads
// only the header.
func (r *Reader) Skip(ctx context.Context, n int64) error {
	for n > 0 {
		before := r.rows
		if err := r.skip(ctx, n); err != nil {
			return r.inPage(err)
		}
		n -= r.rows - before
	}
	return nil
}

// skip skips up to n rows, at least one.
func (r *Reader) skip(ctx context.Context, n int64) error {
	if r.c.ListDef > 0 || r.c.width() == 0 {
		if r.c.ListDef == 0 && r.left == 0 {
			return r.skipPages(ctx, n)
		}
		v, err := r.Read(ctx, int(min(n, skipRows)))
		v.Release()
		return err
	}
	if r.left == 0 {
		return r.skipPages(ctx, n)
	}
	k, nulls, err := r.defined(int(min(n, int64(r.left))))
	if err == nil && nulls < k {
		err = r.open()
	}
	if err != nil {
		return err
	}
	r.rows += int64(k)
	size := (k - nulls) * r.c.width()
	switch d := r.fixed.(type) {
	case *plainFile:
		if d.at += int64(size); d.at > d.end {
			err = errShort
		}
	case *plainFixed:
		if d.at += size; d.at > len(d.data.Bytes) {
			err = errShort
		}
	default:
		err = r.discard(k - nulls)
	}
	return err
}

// skipPages makes the first page with more than the next n rows the current page, and skips the pages before it.
func (r *Reader) skipPages(ctx context.Context, n int64) error {
	r.skipping = n
	err := r.nextPage(ctx)
	r.skipping = 0
	return err
}

// discard decodes n values and drops them.
func (r *Reader) discard(n int) error {
	w := r.width()
	buf := r.pool.Get(min(n, skipRows) * w)
	defer buf.Release()
	for n > 0 {
		k := min(n, skipRows)
		if err := r.fixed.fixed(buf.Bytes, k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}
