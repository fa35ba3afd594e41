package source

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// A compression is a form of compressed data.
type compression struct {
	name, extension string
	begins          func(head []byte) bool // tells whether data with the first bytes head, magicBytes or all, have the form
	open            func(raw *bufio.Reader, window int64) (io.Reader, error)
}

// magicBytes is the number of first bytes that determine the compression of a file.
const magicBytes = 10

// compressions are the forms of compressed data except zip, which is read at any place.
var compressions = []compression{
	{"gzip", ".gz", func(head []byte) bool { return column.HasPrefix(head, "\x1f\x8b") },
		func(raw *bufio.Reader, _ int64) (io.Reader, error) { return newMembers(raw) }},
	{"Zstandard", ".zst", isZstd, openZstd},
	{"xz", ".xz", func(head []byte) bool { return column.HasPrefix(head, "\xfd7zXZ\x00") }, openXZ},
	{"bzip2", ".bz2", isBzip2, func(raw *bufio.Reader, _ int64) (io.Reader, error) { return bzip2.NewReader(raw), nil }},
}

var zipped = compression{name: "zip", extension: ".zip", begins: func(head []byte) bool {
	return column.HasPrefix(head, "PK\x03\x04") || column.HasPrefix(head, "PK\x05\x06") || column.HasPrefix(head, "PK\x07\x08")
}}

// uncompressed returns a file name without the extension of a compression, in lower case.
func uncompressed(path string) (rest string, of *compression) {
	if path = strings.ToLower(path); strings.HasPrefix(path, "http") && files.Scheme(path) != "" {
		path, _, _ = strings.Cut(path, "?")
	}
	for _, c := range append(compressions, zipped) {
		if rest, is := strings.CutSuffix(path, c.extension); is {
			return rest, &c
		}
	}
	return path, nil
}

// Errors of compressed data.
var (
	errBehind = errors.New("something else stands behind it")
	errWindow = errors.New("the window is too large")
)

// maxWindow is the largest number of bytes of decompressed text that a decompressor keeps: xz -9 takes 64 MiB, and zstd
// --long 128 MiB.
const maxWindow = 128 << 20

func isZstd(head []byte) bool {
	skipped := len(head) >= 4 && head[0]>>4 == 5 && string(head[1:4]) == "\x2a\x4d\x18"
	return skipped || column.HasPrefix(head, "\x28\xb5\x2f\xfd")
}

func openZstd(raw *bufio.Reader, window int64) (io.Reader, error) {
	return zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
}

func isBzip2(head []byte) bool {
	return len(head) >= magicBytes && column.HasPrefix(head, "BZh") && (string(head[4:10]) == "1AY&SY" ||
		string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// openXZ begins reading xz data. The library allocates the dictionary that the header of a block names.
func openXZ(raw *bufio.Reader, window int64) (io.Reader, error) {
	const streamHeader = 12
	head, _ := raw.Peek(streamHeader + 1024)
	if dictionary := xzDictionary(head[min(len(head), streamHeader):]); dictionary > window {
		return nil, errWindow
	}
	return xz.NewReader(&xzStreams{raw: raw})
}

// xzDictionary returns the size of the dictionary that a block's header names, or 0 if it isn't a whole header.
func xzDictionary(header []byte) int64 {
	if len(header) < 2 || header[0] == 0 {
		return 0
	}
	size, at := 4*(int(header[0])+1), 2
	if len(header) < size {
		return 0
	}
	for _, flag := range []byte{0x40, 0x80} { // the compressed size, and the size of the text
		for there := header[1]&flag != 0; there && at < size; at++ {
			there = header[at]&0x80 != 0
		}
	}
	for ; at+2 < size; at += 2 + int(header[at+1]) {
		if filter := header[at]; filter == 0x21 { // LZMA2
			bits := header[at+2] & 0x3f
			return int64(2|bits&1) << (bits/2 + 11)
		}
	}
	return 0
}

// xzStreams is xz data. Its end is an error unless the footer of a stream stands before it, because the library takes
// data that are cut between two blocks for complete.
type xzStreams struct {
	raw  *bufio.Reader
	last [2]byte // the last two bytes that aren't padding
}

func (x *xzStreams) Read(p []byte) (int, error) {
	n, err := x.raw.Read(p)
	for _, b := range p[:n] {
		if b != 0 {
			x.last[0], x.last[1] = x.last[1], b
		}
	}
	if err == io.EOF && string(x.last[:]) != "YZ" {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// openZip returns the text of the only file of a zip archive.
func openZip(name string, f files.ReadableFile, size int64) (io.Reader, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	var members []*zip.File
	var names []string
	for _, e := range z.File {
		switch base := path.Base(e.Name); {
		case e.Name == "[Content_Types].xml":
			return nil, inputError{Workbook(name)}
		case e.Mode().IsRegular() && !strings.HasPrefix(base, ".") && !strings.HasPrefix(e.Name, "__MACOSX/"):
			members, names = append(members, e), append(names, e.Name)
		}
	}
	if len(members) != 1 {
		say := "the zip archive has no file: write it again"
		if len(members) > 1 {
			say = fmt.Sprintf("the zip archive has %d files (%s), and one is read: unpack it and name the files",
				len(members), humanize.WithoutMiddle(strings.Join(names, ", "), 80))
		}
		return nil, inputError{column.Mark(column.ErrorIn(name, "%s", say), column.ErrFormat)}
	}
	if members[0].Flags&1 != 0 {
		return nil, inputError{column.Mark(column.ErrorIn(name,
			"the file in the zip archive is encrypted: unpack it and name the file"), column.ErrFormat)}
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	r, err := members[0].Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		err = inputError{column.Mark(column.ErrorIn(name,
			"the file in the zip archive isn't compressed by deflate: unpack it and name the file"), column.ErrFormat)}
	}
	return r, err
}

// Workbook returns the error that a file is a workbook of Excel.
func Workbook(name string) error {
	return column.Mark(message.Errorf("%s: a workbook of Excel: save its sheet as CSV, or type: libreoffice "+
		"--headless --convert-to csv %s", name, column.ShellWord(name)), column.ErrFormat)
}

// A members reads the members of gzip data one after the other. Zeros after the last member are padding, as for the
// gzip command.
type members struct {
	raw *bufio.Reader
	z   *gzip.Reader
}

func newMembers(raw *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{raw, z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		switch {
		case n > 0 && err == io.EOF:
			return n, nil
		case n > 0 || err != io.EOF:
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. It returns io.EOF after the last member.
func (m *members) next() error {
	magic, err := m.raw.Peek(1)
	if err == nil && magic[0] != 0 {
		magic, err = m.raw.Peek(2)
		switch {
		case err != nil && err != io.EOF:
			return err
		case string(magic) != "\x1f\x8b":
			return errBehind
		}
		if err := m.z.Reset(m.raw); err != nil {
			return err
		}
		m.z.Multistream(false)
		return nil
	}
	for err == nil && magic[0] == 0 {
		there, _ := m.raw.Peek(m.raw.Buffered())
		m.raw.Discard(len(there) - len(bytes.TrimLeft(there, "\x00")))
		magic, err = m.raw.Peek(1)
	}
	if err == nil {
		return errBehind
	}
	return err
}
