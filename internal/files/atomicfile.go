// Package files opens files or objects of a store, or replaces files so that readers see them whole or not at all.
package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"halfspace/internal/parallel"
)

const (
	perm       = 0o644     // permissions of a new file, less the umask
	bufferSize = 256 << 10 // bytes; a larger Write isn't copied
	maxLinks   = 40        // largest number of symbolic links in a chain, as in Linux
)

// File is a file being written. It has no Close method on purpose: it ends with Commit or with Abort.
type File struct {
	path string // as the user named it
	buf  *bufio.Writer
	out  output
	err  error // the first error; later calls return it too
	done bool
}

// output receives the bytes of a File.
type output interface {
	io.Writer
	commit() error // makes the bytes visible and closes the output
	abort()        // closes the output and discards the bytes, as far as that is possible
}

// Create starts a file that Commit puts at path. If path is a symbolic link, the link stays and the file that it points
// to is replaced. A pipe or a device, /dev/stdout and /dev/stderr are written directly, and so is /dev/fd/7.npy, the
// descriptor 7 with an extension. A new file keeps the
// permissions of the file that it replaces; without one it has 0644 less the umask. Errors name path and give advice.
func Create(path string) (*File, error) { return CreateContext(context.Background(), path) }

// CreateContext is Create with a context: after the end of ctx, nothing waits for the reader of a pipe.
func CreateContext(ctx context.Context, path string) (*File, error) {
	out, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &File{path: path, buf: bufio.NewWriterSize(out, bufferSize), out: out}, nil
}

// Write writes p through a buffer. After a failed Write, every further call and Commit return the same error.
func (f *File) Write(p []byte) (int, error) {
	if f.done {
		return 0, fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.buf.Write(p)
	f.err = explain(f.path, err)
	return n, f.err
}

// Flush writes the buffered bytes to the pipe or device, or to the temporary file.
func (f *File) Flush() error {
	if f.err == nil && !f.done {
		f.err = explain(f.path, f.buf.Flush())
	}
	return f.err
}

// Patch replaces the first bytes of the file by p. A pipe or a device has no first bytes to replace: this is an error.
func (f *File) Patch(p []byte) error {
	if f.Flush() != nil || f.done {
		return f.err
	}
	to, ok := f.out.(io.WriterAt)
	if !ok {
		return fmt.Errorf("%s can't be written: it is a pipe or a device, and the beginning of the file is written "+
			"last: name a file", f.path)
	}
	_, err := to.WriteAt(p, 0)
	f.err = explain(f.path, err)
	return f.err
}

// Err returns the error of the first Write that failed, for callers behind an encoder that drops errors.
func (f *File) Err() error { return f.err }

// Commit puts the file in its place, and syncs the file and its directory entry to the disk. If Commit fails, the
// temporary file is removed and path is unchanged, except if only the sync of the directory entry failed. A second call
// does nothing.
func (f *File) Commit() error {
	if f.done {
		return f.err
	}
	if f.Flush() == nil {
		f.err = explain(f.path, f.out.commit())
	}
	if f.err != nil {
		f.Abort()
	}
	f.done = true
	return f.err
}

// Abort removes the temporary file and leaves path unchanged. After Commit it does nothing, so it can be deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.out.abort()
}

// Replace writes a file atomically: readers see all of data, or the file from before.
func Replace(ctx context.Context, path string, data []byte) error {
	f, err := CreateContext(ctx, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

func open(ctx context.Context, path string) (output, error) {
	if path == "" {
		return nil, errors.New("the name of the file to write is empty: give one")
	}
	if std := standardStream(path); std != nil {
		return stream{ctx, std, false}, nil
	}
	if Scheme(path) != "" {
		return newObject(ctx, path)
	}
	if inherited := descriptor(path); inherited != "" {
		return inherit(ctx, inherited)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory: name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		file, err := parallel.DetachValue(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
		if err != nil {
			return nil, explain(path, err)
		}
		return stream{ctx, file, true}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, explain(path, err)
	case err == nil && info.Mode().Perm()&0o222 == 0:
		return nil, fmt.Errorf("%s is read-only: choose another path, or permit writing to it", path)
	}
	target, err := resolve(path)
	if err != nil {
		return nil, explain(path, err)
	}
	if err == nil && info != nil && isStuck(info, filepath.Dir(target)) {
		return nil, fmt.Errorf("%s can't be replaced: it is another user's, in a folder with the sticky bit: choose another path", path)
	}
	temp, err := createTemp(target)
	if err != nil {
		return nil, explain(path, err)
	}
	return temp, nil
}

// LockFor takes the lock of the file that Create would replace at path. No other run can lock the file until the lock is
// released. For a path that Create would write directly, LockFor returns neither a lock nor an error.
func LockFor(path string) (*Lock, error) {
	if Scheme(path) != "" {
		return nil, nil
	}
	if descriptor(path) != "" || standardStream(path) != nil {
		return nil, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	target, err := resolve(path)
	if err != nil {
		return nil, explain(path, err)
	}
	held, err := TakeLock(target)
	if errors.As(err, new(*fs.PathError)) {
		err = explain(path, err)
	}
	return held, err
}

// IsStdout tells whether a File at path would go to standard output.
func IsStdout(path string) bool { return standardStream(path) == os.Stdout }

// standardStream returns the standard stream that path names, or nil. Opening /dev/stdout again would write from the
// start of the file to which the shell redirected the output, over its content.
func standardStream(path string) *os.File {
	switch filepath.ToSlash(filepath.Clean(path)) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr
	}
	return nil
}

// descriptor returns the path of the descriptor in a path such as /dev/fd/7.npy, or "": a descriptor that the process
// inherited, with an extension that tells the format. A program that starts the process can thus read a file without a name.
func descriptor(path string) string {
	number, under := strings.CutPrefix(path, "/dev/fd/")
	number, extension, _ := strings.Cut(number, ".")
	if n, err := strconv.ParseUint(number, 10, 31); !under || err != nil || n <= 2 || extension == "" {
		return ""
	}
	return "/dev/fd/" + number
}

// inherit returns an output to the descriptor at path.
func inherit(ctx context.Context, path string) (output, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: no such descriptor: the program that starts halfspace opens it for writing", path)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return unnamedFile{f}, nil
	}
	return stream{ctx, f, true}, nil
}

// An unnamedFile is a regular file that the program which started this one reads.
type unnamedFile struct{ *os.File }

func (f unnamedFile) commit() error { return f.Close() }
func (f unnamedFile) abort()        { f.Close() }

// resolve follows symbolic links and returns the final path, which need not exist.
func resolve(path string) (string, error) {
	for range maxLinks {
		dir, base := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		link, err := os.Readlink(path)
		if err != nil { // not a link
			return path, nil
		}
		if filepath.IsAbs(link) {
			path = link
		} else {
			path = dir + string(filepath.Separator) + link // not cleaned: ".." is relative to the target of the links before it
		}
	}
	return "", syscall.ELOOP
}

// An object is an object of a store that is being written, in a file without a name until it is whole.
type object struct {
	*os.File
	ctx   context.Context
	store Store
	url   string
}

func newObject(ctx context.Context, url string) (output, error) {
	s, err := StoreOf(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	f, err := CreateUnnamed()
	if err != nil {
		return nil, err
	}
	return object{f, ctx, s, url}, nil
}

func (o object) commit() error {
	defer o.Close()
	return o.store.Put(o.ctx, o.url, o.File)
}

func (o object) abort() { o.Close() }

// A stream is a device, a pipe or a standard stream. Bytes written to it can't be taken back. A write may wait for its
// reader.
type stream struct {
	ctx        context.Context
	file       *os.File
	closesFile bool // opened here, so closed here
}

// Write writes a copy of p. At the end of ctx it returns without waiting for the write.
func (s stream) Write(p []byte) (int, error) {
	p = bytes.Clone(p)
	return parallel.DetachValue(s.ctx, func() (int, error) { return s.file.Write(p) })
}

func (s stream) commit() error {
	if s.closesFile {
		return s.file.Close()
	}
	return nil
}

func (s stream) abort() {
	if s.closesFile {
		s.file.Close()
	}
}

// Cause returns the error of a system call without the names of the call and of the file.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// explain returns err as a sentence about path, the name that the user knows, instead of the temporary file's name.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	err = Cause(err)
	switch dir := filepath.Dir(path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if info, bad := os.Stat(dir); bad == nil && info.IsDir() {
			return fmt.Errorf("%s can't be created: the directory %s takes no new files (%w): choose another path", path, dir, err)
		}
		return fmt.Errorf("%s can't be created: there is no directory %s (%w): create it or choose another path", path, dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s can't be written: %w: choose a directory that you may write to", path, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s can't be written: %w: free some space or choose another disk", path, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s can't be written: its reader didn't read in time (%w): start the reader first, or name a file", path, err)
	case errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%s can't be written: %w: its reader ended early, check the command that reads it", path, err)
	}
	return fmt.Errorf("%s can't be written: %w: choose another path", path, err)
}
