package source

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
	"halfspace/internal/memory"
)

// Extension returns the extension of a file name in lower case. If the name ends in .gz, .zst, .xz, .bz2 or .zip, it
// returns the extension before that.
func Extension(path string) string {
	path, _ = uncompressed(path)
	return filepath.Ext(path)
}

// A File is a file that is read from its beginning, or standard input. Both may be compressed.
type File struct {
	Path   string
	Info   os.FileInfo    // size, time and version of a file, when it was first examined; nil before
	Stdin  *StandardInput // nil for a file
	Pin    *Pin           // the version of a lake table that the path names; nil: it names none
	Part   *Part          // of a lake table; nil: the file is in none
	window int64          // maximum bytes of decompressed text that a decompressor keeps; 0: maxWindow
	Memory int64          // limit of the memory in bytes; 0: none
}

// Examine finds the size, the time and the version of the file. The path "-" means standard input, which ends early
// when end is closed. Standard input is buffered in at most 1/8 of the memory limit, and so is the window of a
// decompressor.
func (f *File) Examine(ctx context.Context, end <-chan struct{}, limit int64) error {
	if f.Memory = limit; limit > 0 {
		f.window = min(maxWindow, max(1<<20, limit/held))
	}
	if f.Path == "-" {
		f.Stdin = &StandardInput{Ctx: ctx, End: end, R: os.Stdin, Most: memory.Limit(limit) / held}
		return nil
	}
	// Stat comes before opening the file: opening a named pipe would wait for a writer.
	info, err := files.Stat(f.Path)
	if err != nil {
		return column.PathError(f.Path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file: name a file, or - for standard input", f.Path)
	}
	f.Info = info
	return nil
}

// NewFile returns an examined file.
func NewFile(ctx context.Context, path string, end <-chan struct{}, limit int64) (*File, error) {
	f := &File{Path: path}
	return f, f.Examine(ctx, end, limit)
}

// Live returns true if rows of the file are to be passed on as soon as they arrive.
func (f *File) Live() bool { return f.Stdin != nil && f.Stdin.Live }

// MemoryAhead returns the memory for jobs that begin before the rows of an earlier job are passed on. It returns 1 for
// live standard input, so that no job begins early: looking for the next job would wait for its text.
func (f *File) MemoryAhead(memory int64) int64 {
	if f.Live() {
		return 1
	}
	return memory
}

// Open begins reading, and decompresses compressed data. Errors of the reader name the file.
func (f *File) Open() (*Reader, error) {
	r := &Reader{Path: f.Path, Memory: f.Memory}
	var raw io.Reader = &standardReader{StandardInput: f.Stdin}
	if f.Stdin == nil {
		src, err := Reopen(f.Path, f.Info)
		if err != nil {
			return nil, column.PathError(f.Path, err)
		}
		raw, r.file, r.info = src, src, f.Info
		if err := r.Unchanged(); err != nil {
			src.Close()
			return nil, err
		}
	}
	err := r.decompress(bufio.NewReaderSize(raw, 64<<10), f)
	if err == nil {
		err = r.decode()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Compressed returns true if the bytes of the file are compressed.
func (f *File) Compressed() (bool, error) {
	r, err := f.Open()
	if err != nil {
		return false, err
	}
	return r.Compression != "", r.Close()
}
