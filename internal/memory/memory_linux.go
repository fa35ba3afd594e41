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

func available() int64 { return within("/") }

// within is available where the files of the system are in root.
func within(root string) int64 {
	info, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	if kib := field(string(info), "MemAvailable:"); kib > 0 && kib <= math.MaxInt64>>10 {
		return limited(root, kib<<10)
	}
	return 0
}

// field returns the number in the line of a text that begins with a name, 0 if there is none.
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

// A version is the names of a control group's files, and where all groups are mounted.
type version struct {
	base     string
	limits   []string
	used     string
	inactive string // in memory.stat, those around the group included: files in memory that nobody used for long
}

var (
	version1 = version{"sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"}
	version2 = version{"sys/fs/cgroup", []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"}
)

// limited returns what is left of the limits of the control groups that the process is in, and of those around them: the least,
// or most if none is below it (man 7 cgroups). In a container the group's own folder may be where all are mounted.
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
		v := version2
		if slices.Contains(strings.Split(fields[1], ","), "memory") {
			v = version1
		} else if fields[1] != "" {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			most = min(most, v.left(filepath.Join(root, v.base, dir)))
			if dir == "/" {
				break
			}
		}
	}
	return most
}

// left returns what is left of a group's limit, not counting as used what the system would give up: files in memory that
// nobody used for long. It is math.MaxInt64 where there is no limit.
func (v version) left(dir string) int64 {
	limit := int64(math.MaxInt64)
	for _, file := range v.limits {
		if n := number(dir, file); n > 0 { // without a limit the text is "max"
			limit = min(limit, n)
		}
	}
	if limit == math.MaxInt64 {
		return limit
	}
	stat, _ := os.ReadFile(filepath.Join(dir, "memory.stat")) // absent, nothing is given up
	used := number(dir, v.used)
	return max(least, limit-max(0, used-max(0, field(string(stat), v.inactive))))
}

// number returns the number in a file, 0 if there is none.
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
