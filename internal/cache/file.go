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

	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
)

// StaleError is the error of a cache file that can't be used and must be made again. Its text is the reason.
type StaleError string

func (s StaleError) Error() string { return string(s) }

const errDamaged = StaleError("it is damaged")

// A File is an open cache file: a block.Seekable source. Several goroutines may call its methods at the same time.
type File struct {
	file   storage
	info   os.FileInfo
	name   string // file name for messages
	advice string // the remedy in errors about the file
	spec   *schema.Spec
	layout
	sums         []uint64 // checksum of each group
	warnings     []string
	spareBuffers sync.Pool // *[]*buffer, with a buffer for each block in flight
}

// A buffer holds the block that was read last into it.
type buffer struct {
	wholeBlock *block.Block
	block      *block.Block // the current block, in the memory of whole
}

// Open opens the cache file at path for the key, and reads all of it to verify it. The error is fs.ErrNotExist if
// there is no file or an empty file, and a StaleError if the file can't be used and may be replaced. For every other
// error the file must not be replaced.
func Open(ctx context.Context, path string, key Key) (*File, error) {
	f, err := open(path, key)
	if err != nil {
		return nil, err
	}
	for b, err := range f.Blocks(ctx) {
		if err == nil && f.isSparse {
			err = b.CheckShape(f.spec.Cols()) // kernels panic at wrong columns
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
	info, err := os.Stat(path) // before the file is opened: opening a named pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, fmt.Errorf("%s: %w: name another file for the cache", path, files.Cause(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, errForeign)
	}
	file, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: name another file for the cache", path, files.Cause(err))
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
	if why := h.mismatch(newHeader(h.Spec, h.Rows, h.IsSparse, key)); why != "" {
		return nil, StaleError(why)
	}
	f.spec, f.layout = h.Spec, newLayout(h, first)
	if h.Rows <= 0 || h.Rows > info.Size()/f.leastRow() || !f.isSparse && info.Size() < f.tail() {
		return nil, errDamaged
	}
	return f, asStale(f.begin())
}

// begin reads the table and the warnings, which are required before any block is read.
func (f *File) begin() (err error) {
	if f.info, err = f.file.Stat(); err != nil {
		return err
	}
	end := f.info.Size()
	if f.isSparse {
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
	if size != int64(table[f.words()]) || size > maxHeaderBytes {
		return errDamaged
	}
	warnings := make([]byte, size)
	if err := f.read(warnings, f.tail()); err != nil {
		return err
	}
	f.sums = table[:f.groups():f.groups()]
	if words := f.words(); !slices.Equal(endTable(table[:words:words], warnings), table) || len(warnings) > 0 &&
		json.Unmarshal(warnings, &f.warnings) != nil {
		return errDamaged
	}
	if f.isSparse && !f.place(table[f.groups():f.words()]) {
		return errDamaged
	}
	f.spareBuffers.New = func() any {
		rows, _ := f.block(0)
		buffers := make([]*buffer, min(block.BlocksInFlight, f.blocks()))
		for i := range buffers {
			if buffers[i] = new(buffer); f.isSparse {
				buffers[i].wholeBlock = block.NewSparseFor(f.spec, 0, rows, int(f.mostElements()))
			} else {
				buffers[i].wholeBlock = block.NewFor(f.spec, 0, rows)
			}
		}
		return &buffers
	}
	return nil
}

// A storage is an open file.
type storage interface {
	io.ReaderAt
	io.Closer
	Stat() (os.FileInfo, error)
}

// openFile opens a file. Tests replace it by a function that returns a file whose reads fail.
var openFile = func(path string) (storage, error) { return os.Open(path) }

// Close closes the file. A temporary file no longer exists after Close.
func (f *File) Close() error { return f.file.Close() }

func (f *File) Spec() *schema.Spec { return f.spec }

// Warnings returns the warnings about the data that the source of the blocks gave when the file was written.
func (f *File) Warnings() []string { return f.warnings }

func (f *File) Rows() int64 { return f.rows }

// Blocks yields the blocks in row order. The next blocks are read while the caller uses a block.
func (f *File) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(f.Lend(ctx))
}

// Lend is Blocks for callers that use several blocks at the same time; see block.Leaser.
func (f *File) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return func(yield func(block.Lease, error) bool) {
		buffers := f.spareBuffers.Get().(*[]*buffer)
		defer f.spareBuffers.Put(buffers)
		for b, err := range parallel.PrefetchLeased(ctx, f.blocks(), *buffers, f.readBlock) {
			if err != nil {
				yield(block.Lease{}, err)
				return
			}
			if !yield(block.Lease{Block: b.Buffer.block, Release: b.Release}, nil) {
				return
			}
		}
	}
}

// readBlock reads block i, a group at a time. It verifies each group right after reading it, while the group is in
// the processor's cache.
func (f *File) readBlock(i int, b *buffer) error {
	if f.isSparse {
		return f.readSparse(i, b)
	}
	rows, at := f.block(i)
	b.block = b.wholeBlock.Slice(0, rows)
	b.block.First = int64(i) * int64(f.blockRows)
	if err := f.readLabels(b.block, at); err != nil {
		return err
	}
	for lo := 0; lo < rows; lo += kernel.GroupRows {
		c := b.block.Slice(lo, min(rows, lo+kernel.GroupRows))
		if err := f.read(bytesOf(c.X), f.placeAfter(at, int64(lo)).x); err != nil {
			return err
		}
		if err := f.verify(int(c.First/kernel.GroupRows), c); err != nil {
			return err
		}
	}
	return nil
}

// readRows fills b with consecutive rows, which begin at place at.
func (f *File) readRows(b *block.Block, at place) error {
	if err := f.read(bytesOf(b.X), at.x); err != nil {
		return err
	}
	return f.readLabels(b, at)
}

// readLabels reads the labels and weights of consecutive rows.
func (f *File) readLabels(b *block.Block, at place) error {
	if err := f.read(bytesOf(b.Y), at.y); err != nil || f.weight == 0 {
		return err
	}
	return f.read(bytesOf(b.W), at.w)
}

// ReadGroup reads the rows of group c and verifies their checksum; see block.Seekable.
func (f *File) ReadGroup(c int, to *block.Block) error {
	if f.isSparse {
		to.Clear(to.First)
		return f.appendGroup(c, to)
	}
	to = to.Slice(0, f.groupRows(c))
	if err := f.readRows(to, f.row(int64(c)*kernel.GroupRows)); err != nil {
		return err
	}
	return f.verify(c, to)
}

// ReadRows reads single rows; see block.Seekable. There is no checksum of a single row. Therefore ReadRows returns an
// error if the size or modification time of the file changed since it was opened and verified.
func (f *File) ReadRows(rows []uint32, to *block.Block) error {
	if f.isSparse {
		to.Clear(to.First)
	}
	for i, r := range rows {
		var err error
		if f.isSparse {
			err = f.appendRow(int64(r), to)
		} else {
			err = f.readRows(to.Slice(i, i+1), f.row(int64(r)))
		}
		if err != nil {
			return err
		}
	}
	info, err := f.file.Stat()
	if err == nil && info.Size() < f.info.Size() {
		return f.cutError()
	}
	if err != nil || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
		return message.Located(fmt.Errorf("%s: it was written to while it was in use: %s", f.name, f.advice))
	}
	return nil
}

// read fills p with the bytes of the file at offset at.
func (f *File) read(p []byte, at int64) error {
	switch _, err := f.file.ReadAt(p, at); {
	case err == io.EOF:
		return f.cutError()
	case err != nil:
		return message.Located(fmt.Errorf("%s: it can't be read (%w): %s", f.name, files.Cause(err), f.advice))
	}
	return nil
}

func (f *File) cutError() error {
	return message.Located(fmt.Errorf("%s: it was cut short while it was in use: %s", f.name, f.advice))
}

func (f *File) verify(c int, rows *block.Block) error {
	if sum(rows) == f.sums[c] {
		return nil
	}
	return f.damageError(c)
}

// damageError returns the error of group c, whose checksum is wrong.
func (f *File) damageError(c int) error {
	first := int64(c) * kernel.GroupRows
	return message.Located(fmt.Errorf("%s: rows %d to %d are damaged: %s", f.name, first, first+int64(f.groupRows(c))-1, f.advice))
}

// asStale turns an error of reading a file's header or table into a StaleError.
func asStale(err error) error {
	if stale := StaleError(""); err == nil || errors.As(err, &stale) {
		return err
	}
	return errDamaged
}

// Ensure opens the cache file at path as Open does, and passes the file's warnings to note. If there is no file, or a
// stale file, Ensure writes a new file from the blocks of the source that source returns, and tells note in one line
// why a stale file is written again. A new source reports its warnings itself. It is an error if another process is
// writing the file.
func Ensure(ctx context.Context, path string, key Key, source func() (block.Source, error),
	note func(text string), progress func(rows int64)) (*File, error) {
	f, err := openAndNote(ctx, path, key, note)
	if f != nil || !mustRewrite(err) {
		return f, err
	}
	held, err := files.LockFor(path)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if f, err = openAndNote(ctx, path, key, note); f != nil || !mustRewrite(err) { // another process may have written it meanwhile
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

// mustRewrite returns true if the cache is to be written after err, an error of Open.
func mustRewrite(err error) bool {
	stale := StaleError("")
	return errors.As(err, &stale) || errors.Is(err, fs.ErrNotExist)
}

func openAndNote(ctx context.Context, path string, key Key, note func(text string)) (*File, error) {
	f, err := Open(ctx, path, key)
	if err != nil {
		return nil, err
	}
	for _, w := range f.Warnings() {
		note(w)
	}
	return f, nil
}
