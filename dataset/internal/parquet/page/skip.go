package page

import "context"

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
