// Package store opens files of data: local files, and objects of stores whose URL schemes a program has registered.
//
// The program halfspace registers none, so it links no store. halfspace-beam registers gs and s3.
package store

import (
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

// A File is a file or an object that is open.
type File interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// A Store has objects that are named by URLs, such as gs://bucket/folder/object. The error is an
// fs.ErrNotExist if there is no such object, an *Error if the store fails or denies access, and that of a context that ends.
type Store interface {
	// Open opens the current version of an object, or the one that Stat has described. The file that it returns reads no other
	// version. It is an error to read what is gone, from here or from the file.
	Open(url string, seen fs.FileInfo) (File, error)
	// Stat returns the size and the time of an object. Its Sys is a Version.
	Stat(url string) (fs.FileInfo, error)
	// List returns the URLs of the objects that begin with a prefix, sorted.
	List(prefix string) ([]string, error)
}

// A Version tells an object from another one of the same name, size and time.
type Version string

// An Error says what is wrong with an object and what to do. Its text doesn't name the object.
type Error struct {
	Text string
	Err  error // or nil
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Requests is how many requests to a store are made at once. It takes some 50 ms to answer one, much longer than a core to read that.
const Requests = 32

var stores = map[string]Store{}

// Any tells whether any store is registered.
func Any() bool { return len(stores) > 0 }

// Register makes s the store of URLs with a scheme, such as "gs". Programs call it as they start.
func Register(scheme string, s Store) { stores[scheme] = s }

var address = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+)://`)

// Scheme returns the scheme of a URL, or "" for the path of a local file.
func Scheme(path string) string {
	if found := address.FindStringSubmatch(path); found != nil {
		return found[1]
	}
	return ""
}

// Of returns the store of a path. It is nil for a local file. The error says what to do if no store has the scheme.
func Of(path string) (Store, error) {
	scheme := Scheme(path)
	switch s := stores[scheme]; {
	case scheme == "" || s != nil:
		return s, nil
	case scheme == "file":
		return nil, &Error{Text: "this is an address, not a path: leave out file://"}
	case Any():
		known := strings.Join(slices.Sorted(maps.Keys(stores)), ":// and ")
		return nil, &Error{Text: fmt.Sprintf("no store is known for %s://, only for %s://: copy it there, or to a local folder", scheme, known)}
	case scheme == "gs" || scheme == "s3":
		return nil, &Error{Text: "halfspace reads local files: use halfspace-beam, mount the bucket, or copy it here first"}
	}
	return nil, &Error{Text: "only local files are read: copy it here first"}
}

// Open opens a file or an object.
func Open(path string) (File, error) {
	s, err := Of(path)
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
	s, err := Of(path)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.Stat(path)
	}
	return os.Stat(path)
}

// Current returns a function for what is at the path of a file that is open: another file may have taken its place. An object
// needs no look, since an open one reads a single version.
func Current(path string, f File) func() (fs.FileInfo, error) {
	if Scheme(path) != "" {
		return f.Stat
	}
	return func() (fs.FileInfo, error) { return os.Stat(path) }
}

// Abs returns the absolute path of a local file. It returns a URL as it is.
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

// Same tells whether two looks at a path saw the same: the same file or version, size and time.
func Same(a, b fs.FileInfo) bool {
	v := VersionOf(a)
	return v == VersionOf(b) && (v != "" || os.SameFile(a, b)) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
