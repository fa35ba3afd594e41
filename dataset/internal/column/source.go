package column

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/parallel"
)

// Extension returns the extension of a file name in lower case. If the name ends in .gz, .zst, .xz, .bz2 or .zip, it returns the
// extension before that.
func Extension(path string) string {
	path, _ = uncompressed(path)
	return filepath.Ext(path)
}

func HasPrefix(b []byte, prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) }

// NameOf returns the name of all sources together, for messages.
func NameOf(sources []*Source) string {
	paths := make([]string, len(sources))
	for i, s := range sources {
		paths[i] = s.Path
	}
	return humanize.Files(paths)
}

// A Source is a file that is read from its beginning, or standard input. Both may be compressed.
type Source struct {
	Path   string
	Info   os.FileInfo    // of a file, when it was first examined
	Stdin  *StandardInput // nil for a file
	window int64          // maximum bytes of decompressed text that a decompressor keeps; 0: maxWindow
}

// NewSource returns the source of a path. "-" means standard input, which ends early when end is closed. Standard
// input is buffered in at most 1/8 of the memory limit, and so is the window of a decompressor.
func NewSource(ctx context.Context, path string, end <-chan struct{}, limit int64) (*Source, error) {
	window := int64(0)
	if limit > 0 {
		window = min(maxWindow, max(1<<20, limit/held))
	}
	if path == "-" {
		return &Source{Path: path, window: window, Stdin: &StandardInput{Ctx: ctx, End: end, R: os.Stdin, Most: memory.Limit(limit) / held}}, nil
	}
	// Stat comes before opening the file: opening a named pipe would wait for a writer.
	info, err := files.Stat(path)
	if err != nil {
		return nil, PathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file: name a file, or - for standard input", path)
	}
	return &Source{Path: path, Info: info, window: window}, nil
}

// Live returns true if rows of the source are to be passed on as soon as they arrive.
func (s *Source) Live() bool { return s.Stdin != nil && s.Stdin.Live }

// Ahead returns the memory for jobs that begin before the rows of an earlier job are passed on. It returns 1 for a
// live source, so that no job begins early: looking for the next job would wait for its text.
func (s *Source) Ahead(memory int64) int64 {
	if s.Live() {
		return 1
	}
	return memory
}

// Files are the files of an Input that are read from their beginning, and the columns that are read. They have the methods of an Input
// that the formats share.
type Files struct {
	Sources []*Source
	Sel     *Chosen
	Memory  int64 // maximum bytes of memory of a pass; 0: no limit
}

func (f *Files) Name() string { return NameOf(f.Sources) }

func (f *Files) Chosen() *Chosen { return f.Sel }

func (f *Files) Limit(memory int64) { f.Memory = memory }

func (f *Files) LastPass() {
	for _, s := range f.Sources {
		if s.Stdin != nil {
			s.Stdin.last = true
		}
	}
}

// A StandardInput is a stream. It is read only as far as its readers request. The bytes read are buffered, so that
// the stream can be read from its beginning again, until the last pass.
type StandardInput struct {
	Ctx  context.Context
	End  <-chan struct{} // see Options
	R    io.Reader
	Most int64 // maximum number of bytes that are buffered in memory
	Live bool  // pass on rows as soon as they arrive

	Data    []byte   // the first bytes that were read before the last pass; in the last pass, the bytes read last
	rest    *os.File // temporary file with the bytes after Data; nil: none
	written int64    // number of bytes in rest
	err     error    // the error that ended the stream
	last    bool     // the next reader is the last
}

// An inputError is an error of standard input, with the text for the user.
type inputError struct{ error }

// ErrCutShort is the error if standard input ends because StandardInput.End was closed.
var ErrCutShort = errors.New("-: standard input was cut short")

// held = 8: standard input is buffered in at most 1/8 of the memory. The decoded rows take most of the memory.
const held = 8

// read reads up to most bytes of the stream. It returns early when the context ends; the goroutine that waits for the
// stream then stays, with its buffer.
func (s *StandardInput) read(most int) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	var piece []byte
	var err error
	if !parallel.Detach(s.Ctx, s.End, func() {
		buf := make([]byte, most)
		n := 0
		for n == 0 && err == nil {
			n, err = s.R.Read(buf)
		}
		piece = buf[:n]
	}) {
		s.err = inputError{cmp.Or(s.Ctx.Err(), ErrCutShort)}
		return nil, s.err
	}
	if err != nil && err != io.EOF {
		err = inputError{fmt.Errorf("-: standard input can't be read (%w): check the command before the pipe", err)}
	}
	s.err = err
	if len(piece) > 0 {
		err = nil
	}
	return piece, err
}

// A standardReader reads standard input from its beginning.
type standardReader struct {
	*StandardInput
	at int64 // number of bytes returned
}

func (r *standardReader) Read(p []byte) (n int, err error) {
	if r.at == int64(len(r.Data))+r.written {
		piece, err := r.read(max(len(p), 64<<10))
		if err == nil {
			err = r.hold(piece)
			r.err = cmp.Or(err, r.err)
		}
		if err != nil {
			return 0, err
		}
		if r.last {
			r.at = 0
		}
	}
	if beyond := r.at - int64(len(r.Data)); beyond < 0 {
		n = copy(p, r.Data[r.at:])
	} else if n, err = r.rest.ReadAt(p[:min(int64(len(p)), r.written-beyond)], beyond); err != nil {
		err = unheld(err)
	}
	r.at += int64(n)
	return n, err
}

// hold appends a piece to the buffered bytes. In the last pass, the piece replaces them.
func (s *StandardInput) hold(piece []byte) (err error) {
	switch {
	case s.last:
		if s.Data = piece; s.rest != nil {
			s.rest.Close()
			s.rest, s.written = nil, 0
		}
		return nil
	case s.rest == nil && int64(len(s.Data)+len(piece)) <= s.Most:
		s.Data = append(s.Data, piece...)
		return nil
	case s.rest == nil:
		if s.rest, err = files.Unnamed(); err != nil {
			return unheld(err)
		}
	}
	if _, err := s.rest.WriteAt(piece, s.written); err != nil {
		return unheld(err)
	}
	s.written += int64(len(piece))
	return nil
}

func unheld(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return inputError{fmt.Errorf("-: standard input can't be held in %s (%w): free some space there, set TMPDIR to another folder, or save it and name the file", files.TempDir(), err)}
}

// Open begins reading, and decompresses compressed data. Errors of the reader name the file.
func (s *Source) Open() (*SourceReader, error) {
	r := &SourceReader{Path: s.Path}
	var raw io.Reader = &standardReader{StandardInput: s.Stdin}
	if s.Stdin == nil {
		f, err := Reopen(s.Path, s.Info)
		if err != nil {
			return nil, PathError(s.Path, err)
		}
		raw, r.file, r.info = f, f, s.Info
		if err := r.Unchanged(); err != nil {
			f.Close()
			return nil, err
		}
	}
	if err := r.decompress(bufio.NewReaderSize(raw, 64<<10), s); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *SourceReader) decompress(raw *bufio.Reader, s *Source) (err error) {
	r.R = raw
	var head []byte
	for n := 1; n <= magicBytes && err == nil && (n == 1 || promising(head)); n++ { // standard input may wait for more bytes
		head, err = raw.Peek(n)
	}
	if err != nil && err != io.EOF {
		return r.explain(err)
	}
	if zipped.begins(head) {
		if r.Compression = zipped.name; r.file == nil {
			return errors.New("-: a zip archive can't come from standard input, since it is read from its end: save it and name the file")
		}
		r.R, err = openZip(r.Path, r.file, r.info.Size())
		return r.explain(err)
	}
	for _, c := range compressions {
		if c.begins(head) {
			r.Compression = c.name
			r.R, err = c.open(raw, cmp.Or(s.window, maxWindow))
			return r.explain(err)
		}
	}
	if _, said := uncompressed(s.Path); said != nil && len(head) > 0 {
		return fmt.Errorf("%s: not compressed by %s, though its name says so: rename it or copy it again", s.Path, said.name)
	}
	return nil
}

// promising returns true if compressed data may begin with head.
func promising(head []byte) bool {
	return slices.ContainsFunc([]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK"}, func(magic string) bool {
		return HasPrefix(head, magic) || strings.HasPrefix(magic, string(head))
	}) || len(head) > 0 && head[0]>>4 == 5 && (len(head) == 1 || head[1] == 0x2a)
}

func (s *Source) Compressed() (bool, error) {
	r, err := s.Open()
	if err != nil {
		return false, err
	}
	return r.Compression != "", r.Close()
}

// A SourceReader reads a source. io.EOF is the only error without the file's name.
type SourceReader struct {
	R           io.Reader
	file        File // nil for standard input
	info        os.FileInfo
	Path        string
	Compression string // its name, or ""
}

// Read reads decompressed bytes. At the end it checks that the file didn't change.
func (r *SourceReader) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	switch {
	case err == io.EOF:
		err = cmp.Or(r.Unchanged(), err)
	case err != nil:
		err = cmp.Or(r.Unchanged(), r.explain(err))
	}
	return n, err
}

// Unchanged returns an error if the file changed since it was first examined, because a pass over it may have missed
// rows.
func (r *SourceReader) Unchanged() error {
	if r.file == nil {
		return nil
	}
	return Unchanged(r.Path, r.file.Stat, r.info)
}

// explain returns an error of the file with its name, or nil for nil.
func (r *SourceReader) explain(err error) error {
	var pe *fs.PathError
	var said inputError
	var of *files.StoreError
	what := r.Compression + " data"
	switch {
	case err == nil:
		return nil
	case errors.As(err, &of):
		return fmt.Errorf("%s: %w", r.Path, of)
	case errors.As(err, &said):
		return said.error
	case errors.As(err, &pe):
		return fmt.Errorf("%s: %w", r.Path, ReadError(pe.Err))
	case err == errBehind, errors.Is(err, zstd.ErrMagicMismatch):
		return Mark(fmt.Errorf("%s: the %s ends, and something else stands behind it: copy it again, or cut that off", r.Path, what), ErrDamaged)
	case err == errWindow, errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%s: decompressing the %s takes more memory than there is for it: give more with --memory, or compress it less (at most %s are used)", r.Path, what, BytesText(maxWindow))
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF, errors.Is(err, zip.ErrFormat):
		return Mark(fmt.Errorf("%s: the %s is truncated: copy or write it again", r.Path, what), ErrDamaged)
	}
	return Mark(fmt.Errorf("%s: the %s is damaged (%s): copy or write it again", r.Path, what, OneLine(err.Error())),
		ErrDamaged)
}

// Close closes the file. Standard input stays open.
func (r *SourceReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
