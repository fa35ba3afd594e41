package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const meminfo = "MemTotal:       16000 kB\nMemFree:          100 kB\nMemAvailable:    8000 kB\nSwapTotal: 0 kB\n"

// TestLimits finds what there is within the limits of control groups of both versions, on machines made of files.
func TestLimits(t *testing.T) {
	v2 := map[string]string{"a/memory.max": "7000\n", "a/b/memory.max": "max\n", "a/b/memory.high": "max\n", "a/b/c/memory.max": "9000\n",
		"h/memory.max": "5000\n", "h/memory.high": "4000\n", "z/memory.max": "0\n"}
	v1 := map[string]string{"memory/x/memory.limit_in_bytes": "500\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}
	container := map[string]string{"memory.max": "3000\n"}
	container1 := map[string]string{"memory/memory.limit_in_bytes": "600\n"}
	const all = 8000 << 10
	for _, c := range []struct {
		name, info, groups string
		files              map[string]string
		want               int64
	}{
		{"no limit", meminfo, "0::/\n", v2, all},
		{"of a group", meminfo, "0::/a\n", v2, 7000},
		{"of the one around it", meminfo, "0::/a/b\n", v2, 7000},
		{"of the least", meminfo, "0::/a/b/c\n", v2, 7000},
		{"from where it is throttled", meminfo, "0::/h\n", v2, 4000},
		{"zero", meminfo, "0::/z\n", v2, all},
		{"above the root", meminfo, "0::/../../a\n", v2, 7000},
		{"gone", meminfo, "0::/gone/too\n", v2, all},
		{"version 1", meminfo, "4:cpu:/x\n5:memory:/x/y\n0::/\n", v1, 500},
		{"version 1 without a limit", meminfo, "5:memory:/\n", v1, all},
		{"version 1, mounted together", meminfo, "5:hugetlb,memory:/x\n", v1, 500},
		{"another controller", meminfo, "5:cpu:/x\n", v1, all},
		{"container", meminfo, "0::/\n", container, 3000},
		{"container, groups as outside", meminfo, "0::/docker/1234\n", container, 3000},
		{"container of version 1", meminfo, "9:memory:/docker/1234\n", container1, 600},
		{"nonsense", meminfo, "nonsense\n:\n", v2, all},
		{"no groups", meminfo, "", v2, all},
		{"no fields", "nonsense\nMemTotal: many kB\nMemAvailable:\n", "0::/a\n", v2, 0},
		{"negative", "MemTotal: -5 kB\nMemAvailable: 9223372036854775807 kB\n", "0::/a\n", v2, 0},
		{"another system", "", "", nil, 0},
	} {
		root := t.TempDir()
		put := func(path, text string) {
			if text == "" {
				return
			}
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put("proc/meminfo", c.info)
		put("proc/self/cgroup", c.groups)
		for path, text := range c.files {
			put(filepath.Join("sys/fs/cgroup", path), text)
		}
		if got := available(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestThisMachine: there is some memory.
func TestThisMachine(t *testing.T) {
	if got := Available(); runtime.GOOS == "linux" && got < 16<<20 {
		t.Errorf("%d bytes are available", got)
	}
}
