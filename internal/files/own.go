package files

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

// take locks an open file for this process. It returns errGone if the file at name is no longer the open file.
func take(f *os.File, name string) error {
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

// createOwned makes a file, open for reading and writing, and owns it: sweepFolder in another process doesn't remove it. name
// returns another random name in each call. End the file with removeOwned, or with release once it has its final name.
func createOwned(name func() string, mode fs.FileMode) (f *os.File, err error) {
	for range mostTries {
		f, err = os.OpenFile(name(), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err = take(f, f.Name()); errors.Is(err, errTaken) || errors.Is(err, errGone) { // swept before it was locked
			discard(f, f.Name())
			continue
		}
		remember(f, f.Name()) // without a lock if the file system has none
		return f, nil
	}
	return nil, err
}

// ownNamed locks f, a file that no other process has yet and that will get the name. End it like a file of createOwned.
func ownNamed(f *os.File, name string) {
	lockFile(f)
	remember(f, name)
}

// ownedFiles are the files that this process must remove, with their names.
var ownedFiles = struct {
	sync.Mutex
	names map[*os.File]string
}{names: map[*os.File]string{}}

func remember(f *os.File, name string) {
	ownedFiles.Lock()
	defer ownedFiles.Unlock()
	ownedFiles.names[f] = name
}

// release ends the ownership of a file: the file stays when the process ends, or is gone already. release returns
// the file's name.
func release(f *os.File) (name string) {
	ownedFiles.Lock()
	defer ownedFiles.Unlock()
	name = ownedFiles.names[f]
	delete(ownedFiles.names, f)
	return name
}

// removeOwned closes a file that this process owns and removes it.
func removeOwned(f *os.File) error { return discard(f, release(f)) }

// RemoveAllOwned removes all files that this process owns. Call it only when the process ends at once: the files may be in
// use.
func RemoveAllOwned() {
	ownedFiles.Lock()
	defer ownedFiles.Unlock()
	for f, name := range ownedFiles.names {
		discard(f, name)
	}
	clear(ownedFiles.names)
}

// mostNames is the largest number of files in a folder that sweepFolder looks at. In a larger folder, some files may remain.
const mostNames = 1 << 16

// sweepFolder removes the files in a folder that killed processes of this computer owned: locks, and files whose names match.
func sweepFolder(dir string, match func(name string) bool) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(mostNames)
	d.Close()
	host, err := os.Hostname()
	for _, name := range names {
		isLock := err == nil && strings.HasPrefix(name, ".") && strings.HasSuffix(name, lockSuffix)
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
		if (!isLock || says && h.Host == host) && take(f, f.Name()) == nil {
			discard(f, f.Name())
		}
		f.Close()
	}
}
