package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/kernel"
)

// A warner is a source that has warnings about the data for the user, after a whole pass. A cache file stores these
// warnings.
type warner interface{ Warnings() []string }

// Write writes the blocks of src, which must have labels, to a cache file at path, and opens the file. Write replaces
// an existing file: the caller must check that it may be replaced. progress, unless nil, is called with the number of
// rows written. If src has a method Warnings() []string, the file stores the warnings that it returns after the last
// block.
func Write(ctx context.Context, path string, key Key, src block.Source, progress func(rows int64)) (
	*File, error) {
	w, err := files.CreateContext(ctx, path)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if _, err := write(ctx, w, key, src, progress); err != nil {
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	f, err := open(path, key)
	if stale := StaleError(""); errors.As(err, &stale) {
		return nil, fmt.Errorf("%s: another run replaced it: give each its own cache", path)
	}
	return f, err
}

// A DiskError is the error if there is no room for a temporary file.
type DiskError struct{ error }

func (e DiskError) Unwrap() error { return e.error }

// Temporary writes the blocks of src to a temporary file, which no longer exists when it is closed or the process
// ends. On Unix, the file is in the folder that TMPDIR names, or in /var/tmp if TMPDIR isn't set and /var/tmp is
// writable; see files.TempDir.
func Temporary(ctx context.Context, src block.Source, progress func(rows int64)) (_ *File, err error) {
	name := "temporary cache in " + files.TempDir()
	t, err := files.CreateUnnamed()
	if err != nil {
		return nil, DiskError{fmt.Errorf("%s: it can't be created (%w): set TMPDIR to a folder that you may write to, or name a file for "+
			"the cache", name, files.Cause(err))}
	}
	f := &File{file: t, name: name, advice: "run again"}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	out := &tempWriter{t, nil}
	l, err := write(ctx, out, Key{}, src, progress)
	if out.err != nil {
		return nil, DiskError{fmt.Errorf("%s: it can't be written (%w): free some space, or set TMPDIR to a folder on another disk",
			name, files.Cause(out.err))}
	}
	if err != nil {
		return nil, err
	}
	f.spec, f.layout = src.Spec(), *l
	return f, f.begin()
}

// A tempWriter keeps its own errors, so that they can be told from errors of the source.
type tempWriter struct {
	io.Writer
	err error
}

func (w *tempWriter) Write(p []byte) (n int, err error) {
	n, w.err = w.Writer.Write(p)
	return n, w.err
}

// write writes all sections of a cache file.
func write(ctx context.Context, w io.Writer, key Key, src block.Source, progress func(rows int64)) (
	*layout, error) {
	var l *layout
	var table, elements []uint64
	rows := int64(0)
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Y == nil {
			return nil, block.ErrNoLabels
		}
		if l == nil {
			if l, err = begin(w, src, b.Sparse != nil, key); err != nil {
				return nil, err
			}
		}
		last := rows+int64(b.Len()) == l.rows
		if (b.Sparse != nil) != l.isSparse || b.First != rows || b.Len()%l.blockRows != 0 && !last || (b.W != nil) != (l.weight > 0) {
			return nil, errors.New("a cache takes the blocks of a whole data set")
		}
		if l.isSparse {
			table, elements, err = writeSparse(w, b, table, elements)
		} else {
			table, err = writeBlocks(w, l, b, table)
		}
		if err != nil {
			return nil, err
		}
		rows += int64(b.Len())
		if progress != nil {
			progress(rows)
		}
	}
	if rows != src.Rows() || l == nil {
		return nil, fmt.Errorf("%d of %d rows", rows, src.Rows())
	}
	return l, l.finish(w, src, table, elements)
}

// begin writes the header, and returns the layout of the file.
func begin(w io.Writer, src block.Source, sparse bool, key Key) (*layout, error) {
	h := newHeader(src.Spec(), src.Rows(), sparse, key)
	head, err := h.encode()
	if err != nil {
		return nil, err
	}
	l := newLayout(h, int64(len(head)))
	_, err = w.Write(head)
	return &l, err
}

// finish writes the sections after the rows: the table, with the checksums of groups and their numbers of elements,
// and the warnings of src.
func (l *layout) finish(w io.Writer, src any, sums, elements []uint64) (err error) {
	var warnings []byte
	if src, ok := src.(warner); ok {
		if warnings, err = json.Marshal(src.Warnings()); err != nil {
			return err
		}
	}
	last := [][]byte{bytesOf(endTable(append(sums, elements...), warnings)), warnings}
	if l.isSparse {
		l.end = l.first
		for c, n := range elements {
			l.end += l.groupBytes(l.groupRows(c), int64(n))
		}
		last = append(last, bytesOf([]uint64{uint64(l.end)}))
	}
	return writeAll(w, last...)
}

// writeAll writes texts one after another.
func writeAll(w io.Writer, texts ...[]byte) error {
	for _, text := range texts {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// writeBlocks writes the rows of b, which make whole blocks of the file, and appends the checksums of their groups to
// sums.
func writeBlocks(w io.Writer, l *layout, b *block.Block, sums []uint64) ([]uint64, error) {
	for lo := 0; lo < b.Len(); lo += l.blockRows {
		part := b.Slice(lo, min(b.Len(), lo+l.blockRows))
		x, y, weights := bytesOf(part.X), bytesOf(part.Y), bytesOf(part.W)
		padding := l.bytes(part.Len()) - int64(len(x)+len(y)+len(weights))
		if err := writeAll(w, x, y, weights, make([]byte, padding)); err != nil {
			return nil, err
		}
	}
	for lo := 0; lo < b.Len(); lo += kernel.GroupRows {
		sums = append(sums, sum(b.Slice(lo, min(b.Len(), lo+kernel.GroupRows))))
	}
	return sums, nil
}
