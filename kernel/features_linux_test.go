package kernel

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestFeatures: the CPU has the features that Linux lists, and no others but newer ones, which older kernels don't list.
func TestFeatures(t *testing.T) {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	heading := map[string]string{"amd64": "flags", "386": "flags", "arm64": "Features"}[runtime.GOARCH] // another one is the host's of an emulator
	var flags []string
	for line := range strings.Lines(string(text)) {
		if name, list, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == heading {
			flags = strings.Fields(list)
			break
		}
	}
	have := DetectedCPU().Features
	if len(have) == 0 || len(flags) == 0 {
		t.Skipf("no features to compare: %d of cpuid, %d of Linux", len(have), len(flags)) // without assembly, or under emulation
	}
	for _, f := range features {
		newer := slices.Contains([]string{"AVXVNNI", "AVX512BF16", "AVX512FP16"}, f.name)
		if had, listed := slices.Contains(have, f.name), slices.Contains(flags, f.linux); listed && !had || had && !listed && !newer {
			t.Errorf("%s is in %q: %t; %s is in /proc/cpuinfo: %t", f.name, have, slices.Contains(have, f.name), f.linux, slices.Contains(flags, f.linux))
		}
	}
}
