package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"halfspace/internal/humanize"
)

const (
	lockSuffix         = ".halfspace-lock"
	mostNameBytes      = 200     // bytes of a file's name in the name of its lock; a name has at most 255
	mostLockBytes      = 1 << 16 // bytes of a lock's file that are read
	mostCommandLetters = 300     // characters of a command that are stored
)

// A Lock is a lock that this process has. It ends with Release or with the process.
type Lock struct{ file *os.File }

// A holder describes the process that has a lock. The lock's file holds it as JSON.
type holder struct {
	Process int       `json:"process"`
	Host    string    `json:"host"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// mostTries bounds the number of attempts to take a lock whose file other processes remove at that moment.
const mostTries = 1000

// TakeLock locks the folder at path. If path isn't a folder, TakeLock locks the file at path. The file need not exist, but its
// folder must.
//
// If another run has the lock, the error says which process has it and since when. A second TakeLock in this process is an
// error too. If the file system has no locks, TakeLock locks nothing. TakeLock doesn't follow symbolic links in path.
func TakeLock(path string) (*Lock, error) {
	name, kind := nameOf(path), "file"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		name, kind = filepath.Join(path, lockSuffix), "folder"
	}
	for range mostTries {
		f, how, err := openLock(name)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = take(f, name)
		switch {
		case err == nil && how != foreignFile:
			return hold(f)
		case err == nil: // a lock that a dead process of another user left
			if err := os.Remove(name); err != nil {
				f.Close()
				return nil, fmt.Errorf("%s: its lock is of a run that ended, and can't be removed: %w: remove %s", path, err, name)
			}
		case errors.Is(err, errGone): // its holder removed the file
		case errors.Is(err, errTaken) || how == foreignFile: // some file systems can't lock a file that is open for reading only
			defer f.Close()
			return nil, inUse(path, kind, f)
		case how == madeFile: // the file system has no locks
			discard(f, name)
			return &Lock{}, nil
		default: // another run may use the lock
			f.Close()
			return &Lock{}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s: its lock was removed %d times while it was taken: try again, or remove %s", path, mostTries, name)
}

// Release ends the lock and removes its file. It does nothing if h is nil or holds no file.
func (h *Lock) Release() {
	if h == nil || h.file == nil {
		return
	}
	removeOwned(h.file)
	h.file = nil
}

// nameOf returns the name of the lock of the file at path.
func nameOf(path string) string {
	dir, base := filepath.Split(path)
	if len(base) > mostNameBytes {
		h := fnv.New64a()
		h.Write([]byte(base))
		base = fmt.Sprintf("%s%016x", base[:mostNameBytes-16], h.Sum64())
	}
	return dir + "." + base + lockSuffix
}

// lockOrigin says how openLock got the file of a lock.
type lockOrigin int

const (
	foundFile   lockOrigin = iota
	madeFile               // this process created the file
	foreignFile            // the file belongs to another user and is open for reading only
)

// openLock opens the file of a lock, or creates it. The error is errGone if another process removed the file meanwhile.
func openLock(name string) (f *os.File, how lockOrigin, err error) {
	f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		return f, madeFile, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, 0, err
	}
	f, err = os.OpenFile(name, os.O_RDWR|noFollow|noWait, 0)
	if errors.Is(err, fs.ErrPermission) {
		how = foreignFile
		f, err = os.OpenFile(name, os.O_RDONLY|noFollow|noWait, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errGone
	}
	if err != nil {
		return nil, 0, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, 0, errors.Join(err, fmt.Errorf("%s is no regular file, and has the name of a lock: remove it", name))
	}
	return f, how, nil
}

// hold writes a description of this process into the file of a lock.
func hold(f *os.File) (*Lock, error) {
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{os.Getpid(), host, humanize.WithoutMiddle(strings.Join(os.Args, " "),
		mostCommandLetters), time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	remember(f, f.Name())
	if err != nil { // such as a full disk: the lock holds, but names no process
		f.Truncate(0)
	}
	return &Lock{f}, nil
}

// inUse returns the error for a file or a folder that another run has locked. It waits up to 100 ms for a holder that
// hasn't written its description yet.
func inUse(path, kind string, f *os.File) error {
	who := ""
	for range 10 {
		h, ok := parse(f)
		if host, _ := os.Hostname(); ok && h.Process == os.Getpid() && h.Host == host {
			return fmt.Errorf("%s is written by this run already: name another %s", path, kind)
		}
		if ok {
			who = fmt.Sprintf(", process %d on %s since %s, %s", h.Process, h.Host,
				h.Since.UTC().Format("2006-01-02 15:04:05 MST"), h.Command)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s is in use by another run%s: wait until it ends, or name another %s", path, who, kind)
}

func parse(f *os.File) (h holder, ok bool) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, mostLockBytes))
	return h, err == nil && json.Unmarshal(text, &h) == nil && h.Process > 0
}
