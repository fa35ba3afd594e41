package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// availableMemory returns how much memory the process may use without others having to give some up: what the system
// has available, within the limits of the process's control group and those around it. It is 0 if that isn't known.
func availableMemory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(info), "\nMemAvailable:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return kib << 10
	}
	return min(kib<<10, groupLimit("/sys/fs/cgroup", string(groups), kib<<10))
}

// groupLimit returns the least memory limit of the control groups that a process is in, and of those around them, or
// most if none is below it. groups is its list of them (man 7 cgroups); root is where they are mounted.
func groupLimit(root, groups string, most int64) int64 {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		base, file := root, "memory.max" // version 2
		if fields[1] == "memory" {
			base, file = filepath.Join(root, "memory"), "memory.limit_in_bytes" // version 1
		} else if fields[1] != "" {
			continue
		}
		for dir := filepath.Clean("/" + fields[2]); ; dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(base, dir, file))
			if limit, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil {
				most = min(most, limit)
			}
			if dir == "/" {
				break
			}
		}
	}
	return most
}
