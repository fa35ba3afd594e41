package main

import (
	"fmt"
	"maps"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A prediction is the difference between so many turns and so few, so that the start doesn't count.
const few, many = 50, 150

// mcaVersion returns the tool's name and version.
func mcaVersion() (string, error) {
	out, err := exec.Command(mca, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w (install the package llvm-22)", mca, err)
	}
	m := regexp.MustCompile(`LLVM version (\S+)`).FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version: no version in %q", mca, out)
	}
	return "llvm-mca " + string(m[1]), nil
}

// cycles returns the predicted cycles of a unit of work of each kernel.
func cycles(c cpu, turns map[string]turn) (map[string]float64, error) {
	names := slices.Sorted(maps.Keys(turns))
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "# LLVM-MCA-BEGIN\n")
		for _, i := range turns[name].instructions {
			fmt.Fprintln(&text, i.text)
		}
		fmt.Fprintf(&text, "# LLVM-MCA-END\n")
	}
	short, err := total(c, text.String(), few)
	if err != nil {
		return nil, err
	}
	long, err := total(c, text.String(), many)
	if err != nil {
		return nil, err
	}
	if len(short) != len(names) || len(long) != len(names) {
		return nil, fmt.Errorf("llvm-mca predicted %d and %d of %d loops", len(short), len(long), len(names))
	}
	predicted := map[string]float64{}
	for n, name := range names {
		predicted[name] = round(float64(long[n]-short[n]) / (many - few) / turns[name].units)
	}
	return predicted, nil
}

// round keeps four digits.
func round(v float64) float64 {
	scale := math.Pow(10, 3-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

var totalCycles = regexp.MustCompile(`(?m)^Total Cycles: +(\d+)$`)

// total returns llvm-mca's cycles of that many turns of each region of the text.
func total(c cpu, text string, turns int) ([]int, error) {
	cmd := exec.Command(mca, "-mtriple="+c.triple, "-mcpu="+c.name, "-iterations="+strconv.Itoa(turns), "-instruction-info=0", "-resource-pressure=0")
	cmd.Stdin = strings.NewReader(text)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", mca, err, messages.String()[:min(1000, messages.Len())])
	}
	var all []int
	for _, m := range totalCycles.FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
