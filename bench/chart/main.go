// Command chart draws the recorded times in bench/results as SVG files, one for light and one for dark pages:
//
//	go run ./bench/chart bench/results/zen3.json docs/images/speed
package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
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

// pair is the times in milliseconds of a task: one for each recorded run, or the ends of a range.
type pair struct {
	Task      string    `json:"task"`
	Halfspace []float64 `json:"halfspace_ms"`
	Peer      []float64 `json:"peer_ms"`
}

// colours are those of one drawing.
type colours struct{ text, faint, ours, theirs string }

var themes = map[string]colours{
	"light": {text: "#1f2328", faint: "#59636e", ours: "#0969da", theirs: "#afb8c1"},
	"dark":  {text: "#f0f6fc", faint: "#9198a1", ours: "#4493f8", theirs: "#656c76"},
}

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

// run writes PREFIX-light.svg and PREFIX-dark.svg.
func run(path, prefix string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r results
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, c := range themes {
		if err := os.WriteFile(prefix+"-"+name+".svg", []byte(draw(&r, c)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The drawing's sizes in pixels.
const (
	width    = 800
	left     = 245 // where bars begin
	right    = 600 // where the longest bar ends
	top      = 64
	bar      = 18
	pairStep = 54
)

// draw returns the SVG. Of several times a bar shows the longest of halfspace's and the shortest of the peer's.
func draw(r *results, c colours) string {
	longest := 0.0
	for _, p := range r.Times {
		longest = max(longest, slices.Max(p.Halfspace), slices.Min(p.Peer))
	}
	height := top + pairStep*len(r.Times) + 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="14">`+"\n",
		width, height, width, height)
	text := func(x, y int, anchor, colour, extra, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", x, y, anchor, colour, extra, html.EscapeString(s))
	}
	text(16, 26, "start", c.text, ` font-size="17" font-weight="600"`, r.Title)
	text(16, 47, "start", c.faint, ` font-size="13"`, "less is better; halfspace above, "+r.Peer+" below")
	for i, p := range r.Times {
		ours, theirs := slices.Max(p.Halfspace), slices.Min(p.Peer)
		y := top + i*pairStep
		text(left-12, y+bar+5, "end", c.text, "", p.Task)
		for k, ms := range []float64{ours, theirs} {
			colour, label, weight := c.ours, duration(ms), ` font-weight="600"`
			if k == 1 {
				colour, weight = c.theirs, ""
				label += fmt.Sprintf("  (%d times as long)", int(theirs/ours))
			}
			length := max(2, ms/longest*(right-left))
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`+"\n", left, y+k*(bar+2), length, bar, colour)
			text(left+int(length)+8, y+k*(bar+2)+14, "start", c.text, weight, label)
		}
	}
	text(16, height-30, "start", c.faint, ` font-size="12"`, r.Processor+". "+r.Peer+".")
	text(16, height-12, "start", c.faint, ` font-size="12"`, r.Note+" ("+r.Command+")")
	b.WriteString("</svg>\n")
	return b.String()
}

// duration writes milliseconds with two or three digits, and seconds from 1,000 ms on.
func duration(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
