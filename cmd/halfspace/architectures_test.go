package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/kernel"
)

const emulator = "qemu-aarch64-static"

// trainings returns command lines of train: every learner and order on the largest example, and some on the
// others. Most rates are no power of two, so that a sum which one compiler fuses and another doesn't comes out different;
// that shows in some trainings only, so there are many.
func trainings() []string {
	lines := []string{
		"textbook.parquet --label label --algo perceptron",
		"breast-cancer.parquet --label diagnosis",
		"iris-setosa.parquet --label setosa --algo perceptron --order shuffle",
		"iris-versicolor-virginica.parquet --label species --algo perceptron --order random --eta 0.7 --no-bias",
		"iris-versicolor-virginica.parquet --label species --algo pocket --order shuffle --epochs 20",
	}
	for _, learner := range []string{"perceptron --epochs 20", "pocket --epochs 2"} {
		for _, order := range []string{"cyclic", "shuffle", "fixed-shuffle", "random"} {
			lines = append(lines, fmt.Sprintf("breast-cancer.parquet --label diagnosis --eta 0.3 --algo %s --order %s", learner, order))
		}
	}
	for _, learner := range []string{"averaged --order shuffle", "voted --max-updates 30", "dual --form averaged", "kernel-perceptron --kernel rbf --gamma 0.3",
		"logistic --l2 0.3", "logistic --l2 0.3 --solver lbfgs", "logistic --l2 0.3 --solver sgd --epochs 3", "lda --shrinkage auto --solver eigen", "svm --l2 0.3",
		"svm --loss hinge --class-weight balanced"} {
		lines = append(lines, "breast-cancer.parquet --label diagnosis --standardize --eta 0.3 --algo "+learner)
	}
	for _, learner := range []string{"averaged --multiclass joint", "logistic", "lda --shrinkage auto --solver eigen", "svm"} {
		lines = append(lines, "iris.parquet --label species --l2 0.7 --algo "+learner)
	}
	return lines
}

// A program is the command as built for an architecture, on one level of its kernels.
type program struct {
	command []string
	level   string
}

func (p program) String() string { return strings.Join(p.command, " ") + " on " + p.level }

// TestArchitectures: a training writes the same model file, byte for byte, on every instruction set of this machine and of
// an emulated arm64. It runs only where HALFSPACE_TEST_REQUIRE names the emulator, as in make arm64-command: the cache of test
// results doesn't see what the test builds.
func TestArchitectures(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("HALFSPACE_TEST_REQUIRE"), ","), emulator) {
		t.Skip("needs " + emulator + ": make arm64-command runs this test")
	}
	programs := builds(t)
	for _, line := range trainings() {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var want string
			for i, p := range programs {
				got := p.train(t, strings.Fields(line))
				if i == 0 {
					want = got
				}
				if got != want {
					t.Errorf("the model of %s isn't that of %s: %s", p, programs[0], difference(got, want))
				}
			}
		})
	}
}

// builds returns the command for this architecture and for arm64, on each of their levels.
func builds(t *testing.T) (programs []program) {
	t.Helper()
	qemu, err := exec.LookPath(emulator)
	if err != nil {
		t.Fatal(err)
	}
	native := build(t, "")
	for _, level := range kernel.Levels() {
		programs = append(programs, program{[]string{native}, level.String()})
	}
	arm64 := build(t, "arm64")
	for _, level := range []kernel.Level{kernel.Generic, kernel.NEON} {
		programs = append(programs, program{[]string{qemu, arm64}, level.String()})
	}
	return programs
}

// build returns the command as built for an architecture, "" for this one.
func build(t *testing.T, arch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "halfspace"+arch)
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// train trains on an example and returns the text of the model file.
func (p program) train(t *testing.T, args []string) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "model.json")
	args = append([]string{"train", filepath.Join("..", "..", "examples", args[0]), "--out", model, "--json"}, args[1:]...)
	cmd := exec.Command(p.command[0], append(slices.Clone(p.command[1:]), args...)...)
	cmd.Env = append(os.Environ(), "HALFSPACE_ISA="+p.level)
	var notes strings.Builder
	cmd.Stderr = &notes
	report, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", p, err, &notes)
	}
	var ran struct{ ISA string }
	if err := json.Unmarshal(report, &ran); err != nil || ran.ISA != p.level {
		t.Fatalf("%s ran on %q, error %v", p, ran.ISA, err)
	}
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// difference describes the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, not %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(a), len(b))
}
