package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

var (
	errTaken = errors.New("another process has the file")
	errGone  = errors.New("the file was removed, or another has its name")
)

// own locks an open file for this process. It fails unless the file is still at name.
func own(f *os.File, name string) error {
	if err := lockFile(f); err != nil {
		return err
	}
	here, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(name); err != nil || !os.SameFile(here, there) || !there.Mode().IsRegular() {
		return errGone
	}
	return nil
}

// Create makes a file with a name that name returns, open for reading and writing, and owns it: Sweep of another process
// leaves it alone. Each call of name returns another random name. The file ends with Remove, or with Keep once it has its place.
func Create(name func() string, mode fs.FileMode) (f *os.File, err error) {
	for range mostTries {
		f, err = os.OpenFile(name(), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err = own(f, f.Name()); errors.Is(err, errTaken) || errors.Is(err, errGone) { // swept before it was locked
			discard(f, f.Name())
			continue
		}
		remember(f, f.Name()) // without a lock, where the file system has none
		return f, nil
	}
	return nil, err
}

// Own locks f, a file that nobody else has yet and that is to get a name. It ends like a file of Create.
func Own(f *os.File, name string) {
	lockFile(f)
	remember(f, name)
}

// owned are the files that this process must not leave, and their names.
var owned struct {
	sync.Mutex
	names map[*os.File]string
}

func remember(f *os.File, name string) {
	owned.Lock()
	defer owned.Unlock()
	if owned.names == nil {
		owned.names = map[*os.File]string{}
	}
	owned.names[f] = name
}

// Keep tells that a file stays when the process ends, or has gone. It returns the file's name.
func Keep(f *os.File) (name string) {
	owned.Lock()
	defer owned.Unlock()
	name = owned.names[f]
	delete(owned.names, f)
	return name
}

// Remove closes a file that this process owns and removes it.
func Remove(f *os.File) error { return discard(f, Keep(f)) }

// RemoveAll removes all files that this process owns. It is for a process that ends at once: the files may be in use.
func RemoveAll() {
	owned.Lock()
	defer owned.Unlock()
	for f, name := range owned.names {
		discard(f, name)
	}
	clear(owned.names)
}

// mostNames is how many files of a folder Sweep looks at: of a folder with more, some may stay.
const mostNames = 1 << 16

// Sweep removes the files in a folder that processes of this computer owned when they were killed: locks, and those whose
// names match.
func Sweep(dir string, match func(name string) bool) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(mostNames)
	d.Close()
	host, err := os.Hostname()
	for _, name := range names {
		isLock := err == nil && strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix)
		if !isLock && !match(name) {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|noFollow|noWait, 0)
		if err != nil {
			continue
		}
		h, says := holder{}, true
		if isLock {
			h, says = parse(f)
		}
		if (!isLock || says && h.Host == host) && own(f, f.Name()) == nil {
			discard(f, f.Name())
		}
		f.Close()
	}
}
