package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/internal/ahead"
	"halfspace/internal/atomicfile"
	"halfspace/kernel"
	"halfspace/schema"
)

// Stale says why a cache file can't be used and must be made again.
type Stale string

// Error returns the text.
func (s Stale) Error() string { return string(s) }

const errDamaged = Stale("it is damaged")

// A File is a cache that is open: a block.Seekable source. Its methods may be called by several goroutines at once.
type File struct {
	file   storage
	info   os.FileInfo
	name   string // for messages
	advice string // what to do where the file fails
	spec   *schema.Spec
	layout
	sums     []uint64 // of chunks
	warnings []string
	spare    sync.Pool // *[]*buffer, one for each block in flight
}

// A buffer holds one block after the other.
type buffer struct {
	whole *block.Block
	block *block.Block // as much of it as the current block needs
}

// Open opens the cache file at path for the key, and reads all of it to verify it. The error is fs.ErrNotExist where
// there is none or an empty file, and a Stale one where it can't be used. Others are about files that must not be
// replaced.
func Open(ctx context.Context, path string, key Key) (*File, error) {
	f, err := open(path, key)
	if err != nil {
		return nil, err
	}
	for b, err := range f.Blocks(ctx) {
		if err == nil && f.sparse {
			err = b.CheckShape(f.spec.Cols()) // kernels stop at wrong columns
		}
		if err == nil {
			continue
		}
		f.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errDamaged
	}
	return f, nil
}

func open(path string, key Key) (_ *File, err error) {
	info, err := os.Stat(path) // before it is opened: a named pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, fmt.Errorf("%s: %w: name another file for the cache", path, reason(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, errForeign)
	}
	file, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: name another file for the cache", path, reason(err))
	}
	f := &File{file: file, name: path, advice: "remove it and run again"}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	h, first, err := readHeader(file, info.Size())
	if errors.Is(err, errForeign) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, asStale(err)
	}
	if why := h.mismatch(newHeader(h.Spec, h.Rows, h.Sparse, key)); why != "" {
		return nil, Stale(why)
	}
	f.spec, f.layout = h.Spec, newLayout(h, first)
	if h.Rows <= 0 || h.Rows > info.Size()/f.leastRow() || !f.sparse && info.Size() < f.tail() {
		return nil, errDamaged
	}
	return f, asStale(f.begin())
}

// begin reads what must be known before any block.
func (f *File) begin() (err error) {
	if f.info, err = f.file.Stat(); err != nil {
		return err
	}
	end := f.info.Size()
	if f.sparse {
		end -= 8
		at := make([]uint64, 1)
		if err := f.read(bytesOf(at), end); err != nil {
			return err
		}
		if f.end = int64(at[0]); f.end < f.first || f.end > end || f.tail() > end {
			return errDamaged
		}
	}
	table := make([]uint64, f.words()+3)
	if err := f.read(bytesOf(table), f.table()); err != nil {
		return err
	}
	size := end - f.tail()
	if size != int64(table[f.words()]) || size > maxHead {
		return errDamaged
	}
	warnings := make([]byte, size)
	if err := f.read(warnings, f.tail()); err != nil {
		return err
	}
	f.sums = table[:f.chunks():f.chunks()]
	if words := f.words(); !slices.Equal(endTable(table[:words:words], warnings), table) || len(warnings) > 0 && json.Unmarshal(warnings, &f.warnings) != nil {
		return errDamaged
	}
	if f.sparse && !f.place(table[f.chunks():f.words()]) {
		return errDamaged
	}
	f.spare.New = func() any {
		rows, _ := f.block(0)
		buffers := make([]*buffer, min(block.InFlight, f.blocks()))
		for i := range buffers {
			if buffers[i] = new(buffer); f.sparse {
				buffers[i].whole = block.NewSparseFor(f.spec, 0, rows, int(f.mostElements()))
			} else {
				buffers[i].whole = block.NewFor(f.spec, 0, rows)
			}
		}
		return &buffers
	}
	return nil
}

// A storage is a file that is open.
type storage interface {
	io.ReaderAt
	io.Closer
	Stat() (os.FileInfo, error)
}

// openFile opens a file. Tests put one in its place whose reads fail.
var openFile = func(path string) (storage, error) { return os.Open(path) }

// Close closes the file; a temporary one is gone then.
func (f *File) Close() error { return f.file.Close() }

// Spec says what the columns mean.
func (f *File) Spec() *schema.Spec { return f.spec }

// Warnings returns what the source of the blocks said of the data.
func (f *File) Warnings() []string { return f.warnings }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.rows }

// Blocks yields the blocks in row order; the next ones are read while one is in use.
func (f *File) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLoan(f.Lend(ctx))
}

// Lend is Blocks for users of several blocks at once; see block.Lender.
func (f *File) Lend(ctx context.Context) iter.Seq2[block.Loan, error] {
	return func(yield func(block.Loan, error) bool) {
		buffers := f.spare.Get().(*[]*buffer)
		defer f.spare.Put(buffers)
		for b, err := range ahead.Lend(ctx, f.blocks(), *buffers, f.readBlock) {
			if err != nil {
				yield(block.Loan{}, err)
				return
			}
			if !yield(block.Loan{Block: b.Buffer.block, Release: b.Release}, nil) {
				return
			}
		}
	}
}

// readBlock reads block i, a chunk at a time: what was just read is verified while it is in the processor's cache.
func (f *File) readBlock(i int, b *buffer) error {
	if f.sparse {
		return f.readSparse(i, b)
	}
	rows, at := f.block(i)
	b.block = b.whole.Slice(0, rows)
	b.block.First = int64(i) * int64(f.blockRows)
	if err := f.readBeside(b.block, at); err != nil {
		return err
	}
	for lo := 0; lo < rows; lo += kernel.ChunkRows {
		c := b.block.Slice(lo, min(rows, lo+kernel.ChunkRows))
		if err := f.read(bytesOf(c.X), f.after(at, int64(lo)).x); err != nil {
			return err
		}
		if err := f.verify(int(c.First/kernel.ChunkRows), c); err != nil {
			return err
		}
	}
	return nil
}

// readRows reads consecutive rows into b, as many as it has.
func (f *File) readRows(b *block.Block, at place) error {
	if err := f.read(bytesOf(b.X), at.x); err != nil {
		return err
	}
	return f.readBeside(b, at)
}

// readBeside reads the labels and weights of rows.
func (f *File) readBeside(b *block.Block, at place) error {
	if err := f.read(bytesOf(b.Y), at.y); err != nil || f.weight == 0 {
		return err
	}
	return f.read(bytesOf(b.W), at.w)
}

// ReadChunk reads and verifies the rows of chunk c; see block.Seekable.
func (f *File) ReadChunk(c int, to *block.Block) error {
	if f.sparse {
		to.Clear(to.First)
		return f.appendChunk(c, to)
	}
	to = to.Slice(0, f.chunkRows(c))
	if err := f.readRows(to, f.row(int64(c)*kernel.ChunkRows)); err != nil {
		return err
	}
	return f.verify(c, to)
}

// ReadRows reads single rows; see block.Seekable. A checksum says nothing about one row, so that these are those that
// were verified when the file was opened as long as the file hasn't been written to.
func (f *File) ReadRows(rows []uint32, to *block.Block) error {
	if f.sparse {
		to.Clear(to.First)
	}
	for i, r := range rows {
		var err error
		if f.sparse {
			err = f.appendRow(int64(r), to)
		} else {
			err = f.readRows(to.Slice(i, i+1), f.row(int64(r)))
		}
		if err != nil {
			return err
		}
	}
	info, err := f.file.Stat()
	if err != nil || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
		return fmt.Errorf("%s: it was written to while it was in use: %s", f.name, f.advice)
	}
	return nil
}

// read fills p from the file.
func (f *File) read(p []byte, at int64) error {
	switch _, err := f.file.ReadAt(p, at); {
	case err == io.EOF:
		return fmt.Errorf("%s: it was cut short while it was in use: %s", f.name, f.advice)
	case err != nil:
		return fmt.Errorf("%s: it can't be read (%w): %s", f.name, reason(err), f.advice)
	}
	return nil
}

func (f *File) verify(c int, rows *block.Block) error {
	if sum(rows) == f.sums[c] {
		return nil
	}
	return f.damaged(c)
}

// damaged returns the error of chunk c.
func (f *File) damaged(c int) error {
	first := int64(c) * kernel.ChunkRows
	return fmt.Errorf("%s: rows %d to %d are damaged: %s", f.name, first, first+int64(f.chunkRows(c))-1, f.advice)
}

// asStale makes an error of reading a file's head or table a Stale one.
func asStale(err error) error {
	if stale := Stale(""); err == nil || errors.As(err, &stale) {
		return err
	}
	return errDamaged
}

// reason is an error of the system without the name of the file.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Ensure opens the cache file at path as Open does, and tells note its warnings. Where there is none, or a stale one, it
// is made of what source returns, which tells them itself; note is told in one line why one is made anew. It is an error
// if another run makes it.
func Ensure(ctx context.Context, path string, key Key, source func() (block.Source, error),
	note func(text string), progress func(rows int64)) (*File, error) {
	f, err := openNoted(ctx, path, key, note)
	if f != nil || !remakes(err) {
		return f, err
	}
	held, err := atomicfile.Lock(path)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if f, err = openNoted(ctx, path, key, note); f != nil || !remakes(err) { // another run may have made it meanwhile
		return f, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		note(fmt.Sprintf("%s: %s; the cache is made anew", path, err))
	}
	src, err := source()
	if err != nil {
		return nil, err
	}
	return Write(ctx, path, key, src, progress)
}

// remakes tells whether a cache is to be made after an error of Open.
func remakes(err error) bool {
	stale := Stale("")
	return errors.As(err, &stale) || errors.Is(err, fs.ErrNotExist)
}

func openNoted(ctx context.Context, path string, key Key, note func(text string)) (*File, error) {
	f, err := Open(ctx, path, key)
	if err != nil {
		return nil, err
	}
	for _, w := range f.Warnings() {
		note(w)
	}
	return f, nil
}
