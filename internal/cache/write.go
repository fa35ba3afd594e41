package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

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
	out := &writer{Writer: w, src: src, key: key}
	if err := out.addAll(ctx, progress); err != nil {
		return nil, err
	}
	if err := out.finish(); err != nil {
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

// Temporary writes the blocks of src to a temporary file; see TemporaryWriter.
func Temporary(ctx context.Context, src block.Source, progress func(rows int64)) (*File, error) {
	w := NewTemporary(src)
	defer w.Close()
	if w.err == nil {
		w.err = w.out.addAll(ctx, progress)
	}
	return w.Finish()
}

// A TemporaryWriter writes a temporary file, which no longer exists when it is closed or the process ends. On Unix, the
// file is in the folder that TMPDIR names, or in /var/tmp if TMPDIR isn't set and /var/tmp is writable; see
// files.TempDir.
type TemporaryWriter struct {
	out  writer
	file *File // nil after an error, and after Finish
	err  error // the first one
}

// NewTemporary begins a temporary file of the blocks of src. If it can't be created, Finish returns the error.
func NewTemporary(src block.Source) *TemporaryWriter {
	name := "temporary cache in " + files.TempDir()
	t, err := files.CreateUnnamed()
	if err != nil {
		return &TemporaryWriter{err: fmt.Errorf("%s: it can't be created (%w): set TMPDIR to a folder that you "+
			"may write to, or name a file for the cache", name, files.Cause(err))}
	}
	return &TemporaryWriter{out: writer{Writer: tempWriter{t, name}, src: src},
		file: &File{file: t, name: name, advice: "run again"}}
}

// Add writes the next block of the source. After an error it does nothing.
func (t *TemporaryWriter) Add(b *block.Block) {
	if t.err != nil {
		return
	}
	if t.err = t.out.add(b); t.err != nil {
		t.Close() // the pass over the source may last, and others need the room
	}
}

// Finish opens the file, or returns the first error.
func (t *TemporaryWriter) Finish() (*File, error) {
	if t.err != nil {
		return nil, t.err
	}
	if err := t.out.finish(); err != nil {
		return nil, err
	}
	f := t.file
	f.spec, f.layout = t.out.src.Spec(), *t.out.layout
	if err := f.begin(); err != nil {
		return nil, err
	}
	t.file = nil
	return f, nil
}

// Close removes the file, unless Finish returned it.
func (t *TemporaryWriter) Close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// A tempWriter names the file and a remedy in each error.
type tempWriter struct {
	file *os.File
	name string
}

func (w tempWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%s: it can't be written (%w): free some space, or set TMPDIR to a folder on another disk",
			w.name, files.Cause(err))
	}
	return n, err
}

// A writer writes a cache file of the blocks of src.
type writer struct {
	io.Writer
	src            block.Source
	key            Key
	layout         *layout // nil before the first block
	sums, elements []uint64
	rows           int64 // in the blocks so far
}

// addAll writes the blocks of the source.
func (w *writer) addAll(ctx context.Context, progress func(rows int64)) error {
	for b, err := range w.src.Blocks(ctx) {
		if err == nil {
			err = w.add(b)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(w.rows)
		}
	}
	return nil
}

// add writes the next block, after the header if it is the first one.
func (w *writer) add(b *block.Block) (err error) {
	if b.Y == nil {
		return block.ErrNoLabels
	}
	if w.layout == nil {
		if err = w.begin(b.Sparse != nil); err != nil {
			return err
		}
	}
	l := w.layout
	last := w.rows+int64(b.Len()) == l.rows
	if (b.Sparse != nil) != l.isSparse || b.First != w.rows || b.Len()%l.blockRows != 0 && !last ||
		(b.W != nil) != (l.weight > 0) {
		return errors.New("a cache takes the blocks of a whole data set")
	}
	if l.isSparse {
		w.sums, w.elements, err = writeSparse(w, b, w.sums, w.elements)
	} else {
		w.sums, err = writeBlocks(w, l, b, w.sums)
	}
	w.rows += int64(b.Len())
	return err
}

// begin writes the header.
func (w *writer) begin(sparse bool) error {
	h := newHeader(w.src.Spec(), w.src.Rows(), sparse, w.key)
	head, err := h.encode()
	if err != nil {
		return err
	}
	l := newLayout(h, int64(len(head)))
	w.layout = &l
	_, err = w.Write(head)
	return err
}

// finish writes the sections after the rows: the table, with the checksums of groups and their numbers of elements,
// and the warnings of the source.
func (w *writer) finish() (err error) {
	l := w.layout
	if l == nil || w.rows != l.rows {
		return fmt.Errorf("%d of %d rows", w.rows, w.src.Rows())
	}
	var warnings []byte
	if src, ok := w.src.(warner); ok {
		if warnings, err = json.Marshal(src.Warnings()); err != nil {
			return err
		}
	}
	last := [][]byte{bytesOf(endTable(append(w.sums, w.elements...), warnings)), warnings}
	if l.isSparse {
		l.end = l.first
		for c, n := range w.elements {
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
