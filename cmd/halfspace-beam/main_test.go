package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfspace/cmd/internal/cli"
)

var kills = flag.Int("kills", 2, "how often TestKilled kills workers")

// asProgram has the test binary run as halfspace-beam.
const asProgram = "HALFSPACE_BEAM_TEST_PROGRAM=1"

func TestMain(m *testing.M) {
	if os.Getenv(strings.TrimSuffix(asProgram, "=1")) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// beamCommand returns a run of halfspace-beam.
func beamCommand(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram)
	return cmd
}

// runBeam runs halfspace-beam and returns what it says.
func runBeam(args ...string) ([]byte, error) { return beamCommand(args...).CombinedOutput() }

// startVerb starts a verb that listens at a port, and returns its address.
func startVerb(t *testing.T, verb string) (address string, cmd *exec.Cmd) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd = beamCommand(verb, "--port", fmt.Sprint(port))
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address = fmt.Sprintf("localhost:%d", port)
	for range 600 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address, cmd
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s doesn't listen at %s", verb, address)
	return "", nil
}

// runHalfspace runs a verb of halfspace in this process, and returns its output.
func runHalfspace(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if status := cli.Main(args, &out, &said); status != 0 {
		t.Fatalf("halfspace %v: status %d: %s", args, status, &said)
	}
	return out.String()
}

// makeFiles makes three files of rows.
func makeFiles(t *testing.T) string {
	dir := t.TempDir()
	for i := range 3 {
		runHalfspace(t, "gen", "--rows", fmt.Sprint(9000+i), "--features", "6", "--noise", "0.1", "--seed", fmt.Sprint(i), "--out", filepath.Join(dir, fmt.Sprint(i, ".parquet")))
	}
	return dir
}

// makeMixedFiles makes files of three classes with missing numbers and a column of text.
func makeMixedFiles(t *testing.T) string {
	dir, to := t.TempDir(), t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 2 {
		text := "x,y,color,label\n"
		for range 7000 + i {
			x, y, color := rng.NormFloat64()+5, rng.NormFloat64(), rng.IntN(4)
			label := []string{"low", "middle", "high"}[max(0, min(2, int(x-4+y+float64(color)/4)))]
			number := fmt.Sprint(y)
			if rng.IntN(9) == 0 {
				number = ""
			}
			text += fmt.Sprintf("%v,%s,color %d,%s\n", x, number, color, label)
		}
		from := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := os.WriteFile(from, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		runHalfspace(t, "convert", from, "--out", filepath.Join(to, fmt.Sprint(i, ".parquet")))
	}
	return to
}

// trainings are options of train. Their passes are those of every learner that a cluster makes passes for.
var trainings = []string{
	"--algo lda --standardize",
	"--algo logistic --l2 1 --class-weight balanced",
	"--algo svm",
	"--algo svm --loss hinge --epochs 5",
	"--algo logistic --solver truncated --l2 1 --epochs 5",
	"--algo averaged --shards 3 --order shuffle --epochs 3",
	"--algo pocket --shards 2 --epochs 3 --mix mistakes",
}

// mixedTrainings are those of the files of makeMixedFiles.
var mixedTrainings = []string{
	"--algo logistic --nulls mean --standardize --categorical onehot",
	"--algo averaged --shards 2 --epochs 3 --nulls zero --standardize --categorical hash:20",
}

// TestSame: a training on Beam writes the model file of a single process, byte for byte: on Prism in the same process, and on
// Prism in another one with 1, 2 and 4 workers.
func TestSame(t *testing.T) {
	var pools []string
	endpoint, _ := startVerb(t, "prism")
	for range 4 {
		address, _ := startVerb(t, "worker")
		pools = append(pools, address)
	}
	ways := map[string][]string{"embedded": {"--runner=prism"}}
	for _, workers := range []int{1, 2, 4} {
		ways[fmt.Sprint(workers, " workers")] = []string{"--endpoint", endpoint, "--pools", strings.Join(pools[:workers], ",")}
	}
	checkTrainings(t, makeFiles(t), trainings, ways)
	checkTrainings(t, makeMixedFiles(t), mixedTrainings, ways)
}

// checkTrainings compares the models of trainings, each made in every way.
func checkTrainings(t *testing.T, dir string, trainings []string, ways map[string][]string) {
	for _, options := range trainings {
		args := append([]string{"train", dir, "--label", "label", "--json"}, strings.Fields(options)...)
		want := filepath.Join(t.TempDir(), "want.json")
		runHalfspace(t, append(args, "--out", want)...)
		for name, way := range ways {
			got := filepath.Join(t.TempDir(), "got.json")
			if out, err := runBeam(append(append(args, "--out", got, "--staging", t.TempDir()), way...)...); err != nil {
				t.Errorf("%s, %s: %v: %s", options, name, err, out)
				continue
			}
			checkEqual(t, options+", "+name, got, want)
		}
	}
}

// TestChanged: a worker that has rows of a training before reads files again that changed since then.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	endpoint, _ := startVerb(t, "prism")
	pool, _ := startVerb(t, "worker")
	ways := map[string][]string{"one worker": {"--endpoint", endpoint, "--pools", pool}}
	for seed := range 2 {
		runHalfspace(t, "gen", "--rows", "9000", "--features", "6", "--noise", "0.1", "--seed", fmt.Sprint(seed), "--out", filepath.Join(dir, "a.parquet"))
		checkTrainings(t, dir, []string{"--algo lda"}, ways)
	}
}

// checkEqual compares two files.
func checkEqual(t *testing.T, what, got, want string) {
	t.Helper()
	a, err := os.ReadFile(got)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	b, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s: the file differs from that of a single process", what)
	}
}

// TestApplied: eval prints what a single process prints. predict writes for each file what it writes.
func TestApplied(t *testing.T) {
	dir, to := makeFiles(t), t.TempDir()
	m := filepath.Join(to, "m.json")
	runHalfspace(t, "train", dir, "--label", "label", "--algo", "logistic", "--out", m)
	for _, args := range [][]string{{"eval", "--model", m, dir, "--json"}, {"eval", "--model", m, dir, "--calibration"}} {
		want := runHalfspace(t, args...)
		cmd := beamCommand(append(args, "--staging", to)...)
		got, err := cmd.Output()
		if err != nil || string(got) != want {
			t.Errorf("%v: error %v:\n%s\nwant:\n%s", args, err, got, want)
		}
	}
	out, err := runBeam("predict", "--model", m, dir, "--score", "--keep=x1,x2", "--out", filepath.Join(to, "p-*.csv"), "--staging", to)
	if err != nil {
		t.Fatalf("predict: %v: %s", err, out)
	}
	for i := range 3 {
		want := filepath.Join(to, fmt.Sprint("want", i, ".csv"))
		runHalfspace(t, "predict", "--model", m, filepath.Join(dir, fmt.Sprint(i, ".parquet")), "--score", "--keep=x1,x2", "--out", want)
		checkEqual(t, "predict", filepath.Join(to, fmt.Sprint("p-", i, ".csv")), want)
	}
	out, err = runBeam("predict", "--model", filepath.Join(to, "none.json"), dir, "--out", to, "--staging", to)
	if err == nil || !strings.Contains(string(out), "none.json") {
		t.Errorf("a model that is not there: error %v: %s", err, out)
	}
}

// TestKilled: workers that are killed in the middle leave the right model, or an error and no model.
func TestKilled(t *testing.T) {
	dir := makeFiles(t)
	want := filepath.Join(t.TempDir(), "want.json")
	args := []string{"train", dir, "--label", "label", "--algo", "averaged", "--shards", "4", "--epochs", "20", "--json"}
	runHalfspace(t, append(args, "--out", want)...)
	rng := rand.New(rand.NewPCG(1, uint64(*kills)))
	for try := range *kills {
		endpoint, _ := startVerb(t, "prism")
		first, one := startVerb(t, "worker")
		second, two := startVerb(t, "worker")
		got := filepath.Join(t.TempDir(), "got.json")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := beamCommand(append(args, "--out", got, "--staging", t.TempDir(), "--endpoint", endpoint, "--pools", first+","+second)...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		one.Process.Kill()
		if try%4 == 3 { // nobody is left
			two.Process.Kill()
		}
		err := cmd.Wait()
		stop()
		cancel()
		if _, missing := os.Stat(got); missing == nil {
			checkEqual(t, fmt.Sprint("try ", try), got, want)
			t.Logf("try %d: the right model, %v", try, err)
		} else if err == nil || ctx.Err() == context.DeadlineExceeded || said.Len() == 0 {
			t.Errorf("try %d: no model, error %v: %s", try, err, &said)
		} else {
			t.Logf("try %d: %v: %s", try, err, &said)
		}
	}
}
