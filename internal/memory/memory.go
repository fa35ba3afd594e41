// Package memory says how much memory there is for this process.
package memory

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Available returns how many bytes of memory the process may use without others having to give some up, within the limits of
// the control groups that it is in, and of those around them. It is 0 where that isn't known: the system must be Linux.
func Available() int64 { return available("/") }

// available is Available where the files of the system are in root.
func available(root string) int64 {
	info, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		name, value, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if name == "MemAvailable" && err == nil && kib > 0 && kib <= math.MaxInt64>>10 {
			return limited(root, kib<<10)
		}
	}
	return 0
}

// limited returns the least memory limit of the control groups that the process is in, and of those around them, or most
// if none is below it (man 7 cgroups). In a container the group's own folder may be where all are mounted.
func limited(root string, most int64) int64 {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		base, files := "sys/fs/cgroup", []string{"memory.max", "memory.high"} // version 2
		if slices.Contains(strings.Split(fields[1], ","), "memory") {
			base, files = "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"} // version 1
		} else if fields[1] != "" {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			for _, file := range files {
				text, err := os.ReadFile(filepath.Join(root, base, dir, file))
				limit, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
				if err == nil && bad == nil && limit > 0 { // without a limit the text is "max"
					most = min(most, limit)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return most
}
