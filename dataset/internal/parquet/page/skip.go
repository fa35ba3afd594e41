package page

import "context"

// skipRows is how many values that can't be passed over are decoded at a time.
const skipRows = 4096

// Skip passes over the next n rows; there must be more. Of pages that hold none but those it reads the headers alone.
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

// skip passes over up to n rows, at least one.
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

// skipPages makes the first page the current one that holds more than the next n rows, and passes over those before it.
func (r *Reader) skipPages(ctx context.Context, n int64) error {
	r.skipping = n
	err := r.nextPage(ctx)
	r.skipping = 0
	return err
}

// discard decodes so many values for nothing.
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
