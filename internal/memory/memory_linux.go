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

func available() int64 { return availableIn("/") }

// availableIn returns the available memory. root is the folder that holds the system's folders, such as proc.
func availableIn(root string) int64 {
	info, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	if kib := field(string(info), "MemAvailable:"); kib > 0 && kib <= math.MaxInt64>>10 {
		return leastGroupMemory(root, kib<<10)
	}
	return 0
}

// field returns the number in the line of a text that begins with name, or 0 if there is none.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			if v, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				return v
			}
		}
	}
	return 0
}

// A version is a version of control groups: the names of a group's files, and the folder in which all groups are
// mounted.
type version struct {
	base        string
	limits      []string
	usedFile    string
	inactiveKey string // key in memory.stat for the group and the groups in it: cached files that were not used for long
}

var (
	version1 = version{"sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"}
	version2 = version{"sys/fs/cgroup", []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"}
)

// leastGroupMemory returns the least remaining memory of the control groups that contain the process, or most if that
// is less (man 7 cgroups). In a container, the folder of the process's group may be the folder in which all groups are
// mounted.
func leastGroupMemory(root string, most int64) int64 {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		v := version2
		if slices.Contains(strings.Split(fields[1], ","), "memory") {
			v = version1
		} else if fields[1] != "" {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			most = v.memoryLeft(filepath.Join(root, v.base, dir), most)
			if dir == "/" {
				break
			}
		}
	}
	return most
}

// memoryLeft returns the remaining memory of a group's limit, or most if that is less. It doesn't count as used the memory
// that the system would give up: cached files that were not used for long.
func (v version) memoryLeft(dir string, most int64) int64 {
	limit := int64(math.MaxInt64)
	for _, file := range v.limits {
		if n := number(dir, file); n > 0 { // without a limit the text is "max"
			limit = min(limit, n)
		}
	}
	if limit == math.MaxInt64 {
		return most
	}
	used := number(dir, v.usedFile)
	if limit-max(0, used) >= most { // the system takes a third of a millisecond to make memory.stat
		return most
	}
	stat, _ := os.ReadFile(filepath.Join(dir, "memory.stat")) // if it is absent, the system gives up nothing
	return min(most, max(leastMemory, limit-max(0, used-max(0, field(string(stat), v.inactiveKey)))))
}

// number returns the number in a file, or 0 if there is none.
func number(dir, file string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
