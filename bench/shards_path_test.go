package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// pathShards is the number of shards whose instructions are counted.
const pathShards = 64

// A path is the instructions of an epoch.
type path struct {
	shards []int // of each shard
	serial int   // of what one core does: dealing rows, making the shards' learners, mixing
}

// longest returns the instructions on the longest path with a number of workers. Each has as many shards as equal numbers allow,
// which follow each other.
func (p path) longest(workers int) int {
	most := 0
	for w := range workers {
		sum := 0
		for _, n := range p.shards[w*len(p.shards)/workers : (w+1)*len(p.shards)/workers] {
			sum += n
		}
		most = max(most, sum)
	}
	return p.serial + most
}

// TestLongestPath compares with sums by hand.
func TestLongestPath(t *testing.T) {
	p := path{[]int{5, 1, 2, 7, 3}, 10}
	for workers, want := range map[int]int{1: 28, 2: 22, 3: 20, 5: 17} {
		if got := p.longest(workers); got != want {
			t.Errorf("%d workers: %d instructions, want %d", workers, got, want)
		}
	}
}

// pathTables counts the instructions of the second epoch in callgrind, and returns the longest paths by workers.
func pathTables(t *testing.T) string {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return "SKIPPED: install the package valgrind.\n"
	}
	program := buildCommand(t, t.TempDir())
	var out strings.Builder
	fmt.Fprint(&out, "Instructions of the second epoch of 64 shards, averaged, in file order, with AVX2: 28 features, 5 % of the labels wrong. One worker\n"+
		"runs them in callgrind. The path of a number of workers is what is serial, and the longest of as many groups of shards. Neither the\n"+
		"bandwidth of memory nor the garbage collector is in it. MiB are what the worker of that group reads.\n\n"+
		"| rows | workers | instructions | of them serial | one worker's path over it | MiB |\n|---|---|---|---|---|---|\n")
	for _, runs := range []int{1, 4} {
		rows := pathShards * runs * 4096
		p := countPath(t, valgrind, program, rows)
		for workers := 1; workers <= pathShards; workers *= 2 {
			n := p.longest(workers)
			fmt.Fprintf(&out, "| %d | %d | %d | %.1f %% | %.1f | %.1f |\n", rows, workers, n, 100*float64(p.serial)/float64(n), float64(p.longest(1))/float64(n),
				float64(rows)*4*33/float64(workers)/(1<<20)) // 28 features, the bias, 3 zeros; the label
		}
	}
	return out.String()
}

// output returns what a command writes.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
	return string(text)
}

// countPath learns rows of 28 features with one worker. Callgrind writes its counts where these functions begin: goOn, once in each
// shard before its visits, and Mix. It misses some calls where goroutines change, so no function near those is named.
func countPath(t *testing.T, valgrind, program string, rows int) path {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "out")
	output(t, exec.Command(program, "gen", "--noise", "0.05", "--rows", strconv.Itoa(rows), "--features", "28", "--compression", "none", "--out", data))
	cmd := exec.Command(valgrind, "--tool=callgrind", "--callgrind-out-file="+out, "--compress-strings=no", "--compress-pos=no",
		"--dump-before=halfspace/train/internal/online.*.goOn", "--dump-before=halfspace/train/internal/online.Mix*",
		program, "train", data, "--label", "label", "--algo", "averaged", "--order", "cyclic", "--standardize=false", "--shards", strconv.Itoa(pathShards),
		"--workers", "1", "--epochs", "3", "--out", filepath.Join(dir, "model.json"))
	// Callgrind may crash on a signal, and the runtime preempts loops by signals.
	cmd.Env = append(os.Environ(), "HALFSPACE_ISA=avx2", "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	output(t, cmd)
	return readPath(t, out)
}

var (
	triggerOf = regexp.MustCompile(`(?m)^desc: Trigger: --dump-before=(\S+)`)
	totalOf   = regexp.MustCompile(`(?m)^totals: (\d+)`)
)

// readPath reads the counts of the second epoch. A file has the instructions up to the function that it names.
func readPath(t *testing.T, out string) path {
	files, err := filepath.Glob(out + ".*")
	require.NoError(t, err)
	var counts []int // up to the first visits, and of each shard
	mixes := 0
	for n := range files {
		text, err := os.ReadFile(fmt.Sprintf("%s.%d", out, n+1))
		require.NoError(t, err)
		trigger, total := triggerOf.FindSubmatch(text), totalOf.FindSubmatch(text)
		if trigger == nil || total == nil {
			break // the end of the program
		}
		count, err := strconv.Atoi(string(total[1]))
		require.NoError(t, err)
		if mixes == 1 {
			counts = append(counts, count)
		}
		if strings.Contains(string(trigger[1]), "online.Mix") {
			mixes++
		}
	}
	if len(counts) != 1+pathShards {
		t.Fatalf("callgrind counted %d parts of an epoch, not %d", len(counts), 1+pathShards)
	}
	return path{shards: counts[1:], serial: counts[0]}
}
