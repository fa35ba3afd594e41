//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"os"
	"syscall"
)

// odd makes what no lock is.
var odd = map[string]func(name string) error{
	"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
	"folder": func(name string) error { return os.Mkdir(name, 0o700) },
	"link":   func(name string) error { return os.Symlink("elsewhere", name) },
	"cycle":  func(name string) error { return os.Symlink(name, name) },
}
