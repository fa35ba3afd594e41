package worker

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/files"
)

// PartScheme is the scheme of the URLs of parts.
const PartScheme = "frame"

// A Part is a Parquet file with some of the rows of a table that an engine has. The file is on the disk of one host. Processes on
// other hosts know its ends, which tell the places of its columns. The rows of a part but the last are whole chunks.
type Part struct {
	URL        string // frame://TABLE/NAME.parquet
	Rows, Size int64
	Head, Tail []byte // first and last bytes of the file
	Sum        string // of all bytes
}

// Parts is the store of parts. Its methods may be called at the same time.
type Parts struct {
	// Read reads bytes of a part from an offset, as io.ReaderAt does.
	Read func(p Part, b []byte, offset int64) error

	mu    sync.Mutex
	known map[string]*knownPart // by URL
}

type knownPart struct {
	Part
	uses int // number of calls of Add whose function forget was not called
}

// Add makes parts known until forget is called. A worker learns the parts of many trainings, and nobody tells it when a training ends.
func (s *Parts) Add(parts []Part) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]*knownPart{}
	}
	for _, p := range parts {
		if s.known[p.URL] == nil {
			s.known[p.URL] = &knownPart{Part: p}
		}
		s.known[p.URL].uses++
	}
	return func() { s.forget(parts) }
}

func (s *Parts) forget(parts []Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range parts {
		if s.known[p.URL].uses--; s.known[p.URL].uses == 0 {
			delete(s.known, p.URL)
		}
	}
}

// All returns the known parts, in the order of their URLs.
func (s *Parts) All() (parts []Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, url := range slices.Sorted(maps.Keys(s.known)) {
		parts = append(parts, s.known[url].Part)
	}
	return parts
}

// Local returns the function Read of a process that has the files of parts in a folder, a folder for each table.
func Local(folder string) func(p Part, b []byte, offset int64) error {
	return func(p Part, b []byte, offset int64) error {
		f, err := os.Open(filepath.Join(folder, filepath.FromSlash(strings.TrimPrefix(p.URL, PartScheme+"://"))))
		if errors.Is(err, fs.ErrNotExist) {
			return &files.StoreError{Text: "another host has these rows"}
		}
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.ReadAt(b, offset)
		return err
	}
}

// Open opens a part; see files.Store.
func (s *Parts) Open(url string, _ fs.FileInfo) (files.ReadableFile, error) {
	p, err := s.part(url)
	if err != nil {
		return nil, err
	}
	f := &partFile{part: p, read: s.Read}
	f.SectionReader = io.NewSectionReader(f.bytes(), 0, p.Size)
	return f, nil
}

// Stat describes a part; see files.Store.
func (s *Parts) Stat(url string) (fs.FileInfo, error) {
	p, err := s.part(url)
	if err != nil {
		return nil, err
	}
	return partInfo{p}, nil
}

func (s *Parts) part(url string) (Part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.known[url]
	if p == nil {
		return Part{}, fs.ErrNotExist
	}
	return p.Part, nil
}

// List returns the URLs of the known parts that begin with a prefix; see files.Store.
func (s *Parts) List(prefix string) (urls []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for url := range s.known {
		if strings.HasPrefix(url, prefix) {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls, nil
}

// Put returns an error: an engine makes parts.
func (*Parts) Put(context.Context, string, *os.File) error { return errors.ErrUnsupported }

// A partFile is an open part.
type partFile struct {
	*io.SectionReader
	part Part
	read func(p Part, b []byte, offset int64) error
}

func (f *partFile) Close() error               { return nil }
func (f *partFile) Stat() (fs.FileInfo, error) { return partInfo{f.part}, nil }
func (f *partFile) bytes() io.ReaderAt         { return readerAt(f.readAt) }

// readAt reads from the ends of the part if they have the bytes.
func (f *partFile) readAt(b []byte, offset int64) (int, error) {
	p, end := f.part, offset+int64(len(b))
	switch tail := p.Size - int64(len(p.Tail)); {
	case end > p.Size:
		return 0, io.ErrUnexpectedEOF
	case end <= int64(len(p.Head)):
		return copy(b, p.Head[offset:]), nil
	case offset >= tail:
		return copy(b, p.Tail[offset-tail:]), nil
	}
	if err := f.read(p, b, offset); err != nil {
		return 0, err
	}
	return len(b), nil
}

type readerAt func(b []byte, offset int64) (int, error)

func (r readerAt) ReadAt(b []byte, offset int64) (int, error) { return r(b, offset) }

// partInfo describes a part. It is a fs.FileInfo.
type partInfo struct{ part Part }

func (i partInfo) Name() string       { return filepath.Base(i.part.URL) }
func (i partInfo) Size() int64        { return i.part.Size }
func (i partInfo) Mode() fs.FileMode  { return 0o444 }
func (i partInfo) ModTime() time.Time { return time.Time{} }
func (i partInfo) IsDir() bool        { return false }
func (i partInfo) Sys() any           { return files.Version(i.part.Sum) }

// PartOf returns the number of the part with a chunk. There must be one part or more, in the order of their rows.
func PartOf(parts []Part, chunk int64) int {
	row := chunk * block.ChunkRows
	for k, p := range parts {
		if row -= p.Rows; row < 0 {
			return k
		}
	}
	return len(parts) - 1
}

// windowOf returns the chunks of a window of size chunks around a chunk, without the chunks of other parts.
func windowOf(parts []Part, chunk, size int64) (first, end int64) {
	first = chunk / size * size
	end = first + size
	if len(parts) > 0 {
		k := PartOf(parts, chunk)
		for ; first < chunk && PartOf(parts, first) < k; first++ {
		}
		for ; end > chunk+1 && PartOf(parts, end-1) > k; end-- {
		}
	}
	return first, end
}
