//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import "os"

// odd makes what no lock is.
var odd = map[string]func(name string) error{"folder": func(name string) error { return os.Mkdir(name, 0o700) }}
