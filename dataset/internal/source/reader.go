package source

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
	"halfspace/internal/message"
)

// A Reader reads the decompressed bytes of a file. io.EOF is the only error without the file's name.
type Reader struct {
	R           io.Reader
	file        files.ReadableFile // nil for standard input
	info        os.FileInfo
	Path        string
	Compression string // its name, or ""
	Memory      int64  // limit of the memory in bytes; 0: none
	wide        bool   // the file is text in UTF-16, which R reads as UTF-8
}

// Read reads decompressed bytes. At the end it checks that the file didn't change.
func (r *Reader) Read(p []byte) (int, error) {
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
func (r *Reader) Unchanged() error {
	if r.file == nil {
		return nil
	}
	return column.Unchanged(r.Path, r.file.Stat, r.info)
}

// explain returns an error of the file with its name, or nil for nil.
func (r *Reader) explain(err error) error {
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
		return fmt.Errorf("%s: %w", r.Path, column.ReadError(pe.Err))
	case err == errBehind, errors.Is(err, zstd.ErrMagicMismatch):
		return column.Mark(fmt.Errorf("%s: the %s ends, and something else stands behind it: copy it again, or "+
			"cut that off", r.Path, what), column.ErrDamaged)
	case err == errWindow, errors.Is(err, zstd.ErrWindowSizeExceeded):
		return message.Errorf("%s: decompressing the %s takes more memory than there is for it: give more with "+
			"--memory, or compress it less (at most %s are used)", r.Path, what, column.BytesText(maxWindow))
	case r.wide && r.Compression == "" && err == io.ErrUnexpectedEOF:
		return column.Mark(fmt.Errorf("%s: the text is UTF-16, and its last character is truncated: copy or "+
			"write it again", r.Path), column.ErrDamaged)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF, errors.Is(err, zip.ErrFormat):
		return column.Mark(fmt.Errorf("%s: the %s is truncated: copy or write it again", r.Path, what), column.ErrDamaged)
	}
	return column.Mark(fmt.Errorf("%s: the %s is damaged (%s): copy or write it again", r.Path, what, column.OneLine(err.Error())),
		column.ErrDamaged)
}

// Most returns an upper bound of the number of decompressed bytes, or -1 if it is unknown.
func (r *Reader) Most() int64 {
	if r.file == nil || r.Compression != "" || r.wide {
		return -1
	}
	return r.info.Size()
}

// Section returns the bytes of a local file that isn't compressed, for a caller that reads only some of them; otherwise
// nil. Each read of an object of a store would be a request.
func (r *Reader) Section() *io.SectionReader {
	if r.Most() < 0 || files.Scheme(r.Path) != "" {
		return nil
	}
	return io.NewSectionReader(r.file, 0, r.Most())
}

// Close closes the file. Standard input stays open.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// decompress sets R to the decompressed bytes of raw.
func (r *Reader) decompress(raw *bufio.Reader, f *File) (err error) {
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
			r.R, err = c.open(raw, cmp.Or(f.window, maxWindow))
			return r.explain(err)
		}
	}
	if _, said := uncompressed(f.Path); said != nil && len(head) > 0 {
		return fmt.Errorf("%s: not compressed by %s, though its name says so: rename it or copy it again", f.Path, said.name)
	}
	return nil
}

// promising returns true if compressed data may begin with head.
func promising(head []byte) bool {
	return slices.ContainsFunc([]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK"}, func(magic string) bool {
		return column.HasPrefix(head, magic) || strings.HasPrefix(magic, string(head))
	}) || len(head) > 0 && head[0]>>4 == 5 && (len(head) == 1 || head[1] == 0x2a)
}
