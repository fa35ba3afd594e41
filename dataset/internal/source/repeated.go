package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"halfspace/internal/files"
	"halfspace/internal/humanize"
)

// repeated returns a line for each file that several of the paths name, also by links.
func repeated(paths []string) (lines []string) {
	const most = 3
	for _, same := range sameFiles(paths) {
		if len(lines) == most {
			return append(lines, "further files are named more than once too, and their rows count as often")
		}
		times := "twice"
		if n := len(same); n > 2 {
			times = humanize.Count(int64(n)) + " times"
		}
		var others []string
		for _, p := range same[1:] {
			if p != same[0] && len(others) < most {
				others = append(others, p)
			}
		}
		also := ""
		if len(others) > 0 {
			also = ", also as " + strings.Join(others, ", ")
		}
		lines = append(lines, fmt.Sprintf("%s is named %s%s: its rows count %s", same[0], times, also, times))
	}
	return lines
}

// sameFiles returns the paths of each file that several of the paths name.
func sameFiles(paths []string) (sets [][]string) {
	if len(paths) < 2 {
		return nil
	}
	type state struct { // equal for one file
		size int64
		time time.Time
	}
	type named struct {
		info  fs.FileInfo // nil for an object
		paths []string
	}
	var all []*named
	of, alike := map[string]*named{}, map[state][]*named{}
	for _, p := range paths {
		name := p
		if files.Scheme(p) == "" {
			name = filepath.Clean(p)
		}
		n := of[name]
		if n == nil {
			n = &named{}
			if info, err := os.Stat(p); err == nil && files.Scheme(p) == "" {
				n.info = info
				at := state{info.Size(), info.ModTime()}
				for _, other := range alike[at] {
					if os.SameFile(info, other.info) {
						n = other
						break
					}
				}
				if len(n.paths) == 0 {
					alike[at] = append(alike[at], n)
				}
			}
			if of[name] = n; len(n.paths) == 0 {
				all = append(all, n)
			}
		}
		n.paths = append(n.paths, p)
	}
	for _, n := range all {
		if len(n.paths) > 1 {
			sets = append(sets, n.paths)
		}
	}
	return sets
}
