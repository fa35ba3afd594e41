package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const noFollow, noWait = 0, 0

// lockFile locks an open file, or returns errTaken if it is locked already. It locks a byte beyond the end of any file,
// so other processes can read the file.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errTaken
	}
	return err
}

// discard closes a file and removes it: Windows removes no file that is open in this or another process.
func discard(f *os.File, name string) error {
	f.Close()
	return os.Remove(name)
}
