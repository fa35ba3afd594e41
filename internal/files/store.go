package files

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A ReadableFile is an open file or object.
type ReadableFile interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// A Part is bytes At to End-1 of a file.
type Part struct{ At, End int64 }

// An Announcer is a ReadableFile that can fetch parts before they are read. Announce begins with that, and returns.
type Announcer interface {
	Announce(parts []Part) // in ascending order
}

// A Store holds objects that are named by URLs, such as gs://bucket/folder/object. Methods return an fs.ErrNotExist if
// the object doesn't exist, a *StoreError if the store fails or denies access, and the context's error if a context ends.
type Store interface {
	// Open opens the current version of an object, or the version that seen, a result of Stat, describes. The file that
	// it returns reads only that version. If the version is gone, Open or reading the file returns an error.
	Open(url string, seen fs.FileInfo) (ReadableFile, error)
	// Stat returns the size and the time of an object. Sys of the result is a Version.
	Stat(url string) (fs.FileInfo, error)
	// List returns the URLs of the objects that begin with a prefix, sorted.
	List(prefix string) ([]string, error)
	// Put writes an object with the content of a file, whole or not at all.
	Put(ctx context.Context, url string, f *os.File) error
}

// A FolderLister is a Store that lists a folder alone. Names returns the names of the objects and folders in a folder, and whether
// these are all.
type FolderLister interface {
	Names(folder string) (names []string, whole bool, err error)
}

// A Version distinguishes objects of the same name, size and time.
type Version string

// A StoreError describes a problem with an object, and gives advice to the user. Its text doesn't name the object.
type StoreError struct {
	Text string
	Err  error // the cause, or nil
}

func (e *StoreError) Error() string { return e.Text }

func (e *StoreError) Unwrap() error { return e.Err }

// ParallelRequests is the number of requests to a store that run at once. A store takes about 50 ms to answer a
// request, much longer than a core takes to read the answer.
const ParallelRequests = 32

var stores = map[string]Store{}

// AnyStore tells whether any store is registered.
func AnyStore() bool { return len(stores) > 0 }

// Register makes s the store for URLs of a scheme, such as "gs"; nil undoes that. Programs call Register at their start,
// before any goroutine opens files: the stores have no lock.
func Register(scheme string, s Store) {
	if s == nil {
		delete(stores, scheme)
		return
	}
	stores[scheme] = s
}

var address = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+)://`)

// Scheme returns the scheme of a URL, or "" for the path of a local file.
func Scheme(path string) string {
	if found := address.FindStringSubmatch(path); found != nil {
		return found[1]
	}
	return ""
}

// StoreOf returns the store of a path, or nil for a local file. If no store has the scheme, it returns an error with advice.
func StoreOf(path string) (Store, error) {
	scheme := Scheme(path)
	switch s := stores[scheme]; {
	case scheme == "" || s != nil:
		return s, nil
	case scheme == "file":
		return nil, &StoreError{Text: "this is an address, not a path: leave out file://"}
	case AnyStore():
		known := strings.Join(slices.Sorted(maps.Keys(stores)), "://, ")
		return nil, &StoreError{Text: fmt.Sprintf("no store is known for %s://, only for %s://: copy it there, or to "+
			"a local folder", scheme, known)}
	}
	return nil, &StoreError{Text: "only local files are read: copy it here first"}
}

func Open(path string) (ReadableFile, error) {
	s, err := StoreOf(path)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.Open(path, nil)
	}
	return os.Open(path)
}

// Stat returns the size and the time of a file or an object.
func Stat(path string) (fs.FileInfo, error) {
	s, err := StoreOf(path)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.Stat(path)
	}
	return os.Stat(path)
}

// CurrentInfo returns a function that describes the file which is now at the path of an open file: another file may
// have replaced it. For an object it describes the open version, since an open object reads a single version.
func CurrentInfo(path string, f ReadableFile) func() (fs.FileInfo, error) {
	if Scheme(path) != "" {
		return f.Stat
	}
	return func() (fs.FileInfo, error) { return os.Stat(path) }
}

// Abs returns the absolute path of a local file. It returns a URL unchanged.
func Abs(path string) (string, error) {
	if Scheme(path) != "" {
		return path, nil
	}
	return filepath.Abs(path)
}

// VersionOf returns the version of an object, or "" for a local file.
func VersionOf(info fs.FileInfo) Version {
	v, _ := info.Sys().(Version)
	return v
}

// SameFile tells whether a and b describe the same file or version, with the same size and time.
func SameFile(a, b fs.FileInfo) bool {
	v := VersionOf(a)
	return v == VersionOf(b) && (v != "" || os.SameFile(a, b)) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
