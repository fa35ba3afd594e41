// Command chart draws the recorded times in bench/results as two SVG files, one for light and one for dark pages:
//
//	go run ./bench/chart bench/results/zen3.json docs/images/speed
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"halfspace/internal/chart"
	"halfspace/internal/drawing"
)

// results are the times of several tasks on one computer.
type results struct {
	Title     string `json:"title"`
	Processor string `json:"processor"`
	Peer      string `json:"peer"`
	Note      string `json:"note"`
	Command   string `json:"command"`
	Times     []pair `json:"times"`
}

// pair is the times of a task in milliseconds: one for each recorded run, or the ends of a range.
type pair struct {
	Task      string    `json:"task"`
	Halfspace []float64 `json:"halfspace_ms"`
	Peer      []float64 `json:"peer_ms"`
}

var themes = map[string]drawing.Theme{"light": drawing.Light, "dark": drawing.Dark}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: chart RESULTS.json PREFIX")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads the results at path, and writes PREFIX-light.svg and PREFIX-dark.svg.
func run(path, prefix string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r results
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, theme := range themes {
		if err := os.WriteFile(prefix+"-"+name+".svg", []byte(r.bars().Picture().SVG(theme)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bars returns the picture. If a task has several times, its bars show the longest time of halfspace and the shortest
// time of the peer.
func (r *results) bars() *chart.Bars {
	longest := 0.0
	for _, p := range r.Times {
		longest = max(longest, slices.Max(p.Halfspace), slices.Min(p.Peer))
	}
	b := &chart.Bars{Title: r.Title, Subtitle: "less is better; halfspace above, " + r.Peer + " below",
		Notes: []string{r.Processor + ". " + r.Peer + ".", r.Note + " (" + r.Command + ")"}}
	for _, p := range r.Times {
		ours, theirs := slices.Max(p.Halfspace), slices.Min(p.Peer)
		b.Groups = append(b.Groups, chart.Group{Name: p.Task, Bars: []chart.Bar{
			{Length: ours / longest, Label: duration(ours), Strong: true},
			{Length: theirs / longest, Label: fmt.Sprintf("%s  (%d times as long)", duration(theirs), int(theirs/ours)), Colour: drawing.Faint},
		}})
	}
	return b
}

// duration writes a time below 1,000 ms in whole ms, and a longer time in s with two decimals.
func duration(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
