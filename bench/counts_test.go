package bench

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/kernel"
)

const (
	countsFile = "testdata/counts.json"
	// allowance is the relative change of a count that the test accepts. Of loops in pure Go, it accepts compiledAllowance:
	// another version of Go may compile them otherwise.
	allowance, compiledAllowance = 0.02, 0.1
	// runsLoops names the variable that makes this program run each loop once, to be counted.
	runsLoops = "HALFSPACE_TEST_RUN_LOOPS"
)

var update = flag.Bool("update", false, "record the counts of instructions")

// runLoops runs the loops instead of the tests where TestCounts runs this program in callgrind.
func runLoops() {
	all := slices.DeleteFunc(new(loopData).Loops(), func(l loop) bool { return l.InMemory })
	for _, l := range all {
		l.Run() // makes operands
	}
	for _, l := range all {
		mark()
		l.Run()
	}
	mark()
	names := []string{kernel.Active().String()}
	for _, l := range all {
		names = append(names, l.Name)
	}
	fmt.Println(strings.Join(names, "\n"))
}

// mark separates the loops: callgrind writes what it has counted when it meets this function.
//
//go:noinline
func mark() {}

// TestCounts: each kernel executes as many instructions as recorded, up to an allowance. They don't depend on the load of
// the machine. Fewer are an error too, so that the record follows an improvement.
func TestCounts(t *testing.T) {
	if require.Small() {
		t.Skip("runs the kernels in an emulator")
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("SKIPPED: install the package valgrind")
	}
	level, got := count(t, valgrind)
	if level != kernel.AVX2.String() {
		t.Skipf("SKIPPED: the recorded counts are for avx2, not %s", level)
	}
	if *update {
		record(t, got)
	}
	text, err := os.ReadFile(countsFile)
	require.NoError(t, err)
	var want map[string]int
	require.NoError(t, json.Unmarshal(text, &want))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		allowed := allowance
		if strings.Contains(name, "Sparse64/") {
			allowed = compiledAllowance
		}
		if change := float64(got[name])/float64(want[name]) - 1; !(math.Abs(change) <= allowed) {
			t.Errorf("%s: %d instructions, %d recorded (%+.1f %%); if this is meant, run make counts COUNTS=-update",
				name, got[name], want[name], 100*change)
		}
	}
	if len(got) != len(want) || len(got) < 30 {
		t.Errorf("%d loops counted, %d recorded", len(got), len(want))
	}
}

func record(t *testing.T, counts map[string]int) {
	text, err := json.MarshalIndent(counts, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(countsFile, append(text, '\n'), 0o644))
}

// count runs each loop once in callgrind. It returns the level and the instructions of the kernels by loop.
func count(t *testing.T, valgrind string) (level string, counts map[string]int) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "loops"), filepath.Join(dir, "out")
	// go test strips the names of functions from the program that it runs, and leaves them in one that it writes.
	if text, err := exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, text)
	}
	cmd := exec.Command(valgrind, "--tool=callgrind", "--callgrind-out-file="+out, "--compress-strings=no", "--compress-pos=no",
		"--dump-before=*bench.mark", program)
	// Callgrind may crash on a signal, and the runtime preempts loops by signals.
	cmd.Env = append(os.Environ(), runsLoops+"=1", "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	var messages strings.Builder
	cmd.Stderr = &messages
	names, err := cmd.Output()
	if err != nil {
		t.Fatalf("valgrind: %v\n%s", err, messages.String())
	}
	level, loops, _ := strings.Cut(strings.TrimSpace(string(names)), "\n")
	counts = map[string]int{}
	for n, name := range strings.Split(loops, "\n") {
		text, err := os.ReadFile(fmt.Sprintf("%s.%d", out, n+2)) // the first one is what came before the first mark
		require.NoError(t, err)
		counts[name] = instructions(t, string(text))
	}
	return level, counts
}

// kernels are in the names of the functions whose instructions count.
var kernels = []string{"halfspace/asm/", "halfspace/internal/linalg."}

// instructions adds up the instructions of the kernels, themselves and not what they call. The format is that of
// callgrind's manual: lines of costs, each with a place and a number, follow the function's name. After a line calls= the
// next line is the cost of a callee.
func instructions(t *testing.T, text string) int {
	total, counted, call := 0, false, false
	for _, line := range strings.Split(text, "\n") {
		name, isName := strings.CutPrefix(line, "fn=")
		place, cost, isCost := strings.Cut(line, " ")
		switch _, err := strconv.Atoi(place); {
		case isName:
			counted = slices.ContainsFunc(kernels, func(k string) bool { return strings.Contains(name, k) })
		case strings.HasPrefix(line, "calls="):
			call = true
		case err == nil && isCost && !call && counted:
			n, err := strconv.Atoi(cost)
			if err != nil {
				t.Fatalf("callgrind wrote %q: %v", line, err)
			}
			total += n
		default:
			call = false
		}
	}
	return total
}
