package console

import (
	"runtime"
	"runtime/debug"
)

// Version returns the versions of the program and of the Go compiler.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel), " + runtime.Version()
	}
	return info.Main.Version + ", " + info.GoVersion
}
