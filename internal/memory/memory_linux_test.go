package memory

import (
	"os"
	"path/filepath"
	"testing"

	"halfspace/internal/require"
)

const meminfo = "MemTotal:       16000000 kB\nMemFree:          100 kB\nMemAvailable:    8000000 kB\nSwapTotal: 0 kB\n"

// TestLimits finds what there is within the limits of control groups of both versions, on machines made of files.
func TestLimits(t *testing.T) {
	v2 := map[string]string{"a/memory.max": "7000000000\n", "a/b/memory.max": "max\n", "a/b/memory.high": "max\n", "a/b/c/memory.max": "9000000000\n",
		"h/memory.max": "5000000000\n", "h/memory.high": "4000000000\n", "z/memory.max": "0\n"}
	v1 := map[string]string{"memory/x/memory.limit_in_bytes": "500000000\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}
	container := map[string]string{"memory.max": "3000000000\n"}
	container1 := map[string]string{"memory/memory.limit_in_bytes": "600000000\n"}
	used := map[string]string{"u/memory.max": "7000000000\n", "u/memory.current": "5000000000\n", "u/memory.stat": "anon 5000000000\nactive_file 9\ninactive_file 1000000000\n",
		"u/f/memory.high": "4000000000\n", "u/f/memory.current": "2500000000\n",
		"u/f/memory.stat": "anon 1500000000\nfile 1000000000\ninactive_anon 7\ninactive_file 1000000000\n",
		"u/g/memory.max":  "max\n", "u/g/memory.current": "4000000000\n",
		"full/memory.max": "1000000000\n", "full/memory.current": "1000000000\n",
		"odd/memory.max": "3000000000\n", "odd/memory.current": "1000\n", "odd/memory.stat": "inactive_file 5000\n"}
	used1 := map[string]string{"memory/x/memory.limit_in_bytes": "500000000\n", "memory/x/memory.usage_in_bytes": "90000000\n",
		"memory/x/memory.stat":             "inactive_file 1\ntotal_inactive_file 40000000\n",
		"memory/x/y/memory.limit_in_bytes": "400000000\n", "memory/x/y/memory.usage_in_bytes": "100000000\n"}
	const all = 8000000 << 10
	for _, c := range []struct {
		name, info, groups string
		files              map[string]string
		want               int64
	}{
		{"no limit", meminfo, "0::/\n", v2, all},
		{"of a group", meminfo, "0::/a\n", v2, 7000000000},
		{"of the one around it", meminfo, "0::/a/b\n", v2, 7000000000},
		{"of the least", meminfo, "0::/a/b/c\n", v2, 7000000000},
		{"from where it is throttled", meminfo, "0::/h\n", v2, 4000000000},
		{"zero", meminfo, "0::/z\n", v2, all},
		{"above the root", meminfo, "0::/../../a\n", v2, 7000000000},
		{"gone", meminfo, "0::/gone/too\n", v2, all},
		{"version 1", meminfo, "4:cpu:/x\n5:memory:/x/y\n0::/\n", v1, 500000000},
		{"version 1 without a limit", meminfo, "5:memory:/\n", v1, all},
		{"version 1, mounted together", meminfo, "5:hugetlb,memory:/x\n", v1, 500000000},
		{"another controller", meminfo, "5:cpu:/x\n", v1, all},
		{"container", meminfo, "0::/\n", container, 3000000000},
		{"container, groups as outside", meminfo, "0::/docker/1234\n", container, 3000000000},
		{"container of version 1", meminfo, "9:memory:/docker/1234\n", container1, 600000000},
		{"in use", meminfo, "0::/u\n", used, 3000000000},
		{"in use, files among it", meminfo, "0::/u/f\n", used, 2500000000},
		{"in use around it", meminfo, "0::/u/g\n", used, 3000000000},
		{"used up", meminfo, "0::/full\n", used, leastMemory},
		{"more files than used", meminfo, "0::/odd\n", used, 3000000000},
		{"in use of version 1", meminfo, "5:memory:/x/y\n", used1, 300000000},
		{"in use of version 1 around it", meminfo, "5:memory:/x\n", used1, 450000000},
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
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		put("proc/meminfo", c.info)
		put("proc/self/cgroup", c.groups)
		for path, text := range c.files {
			put(filepath.Join("sys/fs/cgroup", path), text)
		}
		if got := availableIn(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
