package plot

import (
	_ "embed" // pageCSS
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"halfspace/internal/humanize"
)

// A Page describes a training or an evaluation. HTML makes an HTML page of it: one file that loads no other file, without
// a script. The HTML page suits phones, paper, dark mode and screen readers. Text makes plain text of it.
type Page struct {
	Title    string
	Lead     string // one sentence below the title
	Sections []Section
}

// A Section is a part of a page under a heading. Empty parts of it are left out.
type Section struct {
	Heading string
	Text    []string    // paragraphs
	Code    string      // a command line; it follows the last paragraph
	Facts   [][2]string // names and values
	Tables  []Table
	Figures []*Figure
}

// A Table has a head with the names of its columns, and rows. The first cell of a row names the row.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// pageCSS has the style of a page, a rule a line.
//
//go:embed page.css
var pageCSS string

// pageStyle is the style of a page, in one line.
var pageStyle = strings.ReplaceAll(pageCSS, "\n", "")

// HTML returns the page.
func (p *Page) HTML() string {
	var s strings.Builder
	fmt.Fprintf(&s, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "+
		"content=\"width=device-width,initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "+
		"content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" "+
		"href=\"data:,\">\n<title>%s</title>\n<style>%s%s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>%s</h1>\n",
		escape(p.Title), pageStyle, AutoTheme.style(), escape(p.Title))
	paragraph(&s, ` class="lead"`, p.Lead)
	s.WriteString("<nav aria-label=\"Sections\">\n")
	for i, section := range p.Sections {
		fmt.Fprintf(&s, "<a href=\"#s%d\">%s</a>\n", i+1, escape(section.Heading))
	}
	s.WriteString("</nav>\n</header>\n")
	for i := range p.Sections {
		p.Sections[i].write(&s, i+1)
	}
	s.WriteString("</main>\n</body>\n</html>\n")
	return s.String()
}

func paragraph(s *strings.Builder, attribute, t string) {
	if t != "" {
		fmt.Fprintf(s, "<p%s>%s</p>\n", attribute, escape(t))
	}
}

func (section *Section) write(s *strings.Builder, number int) {
	beside := ""
	if len(section.Figures) == 1 && len(section.Tables) == 1 {
		beside = ` class="beside"`
	}
	fmt.Fprintf(s, "<section%s aria-labelledby=\"s%d\">\n<h2 id=\"s%d\">%s</h2>\n", beside, number, number, escape(section.Heading))
	for _, t := range section.Text {
		paragraph(s, "", t)
	}
	if section.Code != "" {
		fmt.Fprintf(s, "<pre><code>%s</code></pre>\n", escape(section.Code))
	}
	if len(section.Facts) > 0 {
		fmt.Fprintf(s, "<table class=\"facts\" aria-labelledby=\"s%d\">\n", number)
		for _, f := range section.Facts {
			fmt.Fprintf(s, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", escape(f[0]), escape(f[1]))
		}
		s.WriteString("</table>\n")
	}
	for i := range section.Tables {
		section.Tables[i].write(s, fmt.Sprintf("s%d-t%d", number, i+1))
	}
	if len(section.Figures) > 0 {
		fmt.Fprintf(s, "<div class=\"figures %s\">\n", section.columns())
		for i, f := range section.Figures {
			writeFigure(s, f, fmt.Sprintf("f%dx%d", number, i+1))
		}
		s.WriteString("</div>\n")
	}
	s.WriteString("</section>\n")
}

// columns returns the class of the section's figures, whose columns fill a row of a wide window.
func (section *Section) columns() string {
	switch n := len(section.Figures); {
	case n == 1 && len(section.Tables) != 1:
		return "alone"
	case n == 1:
		return "one"
	case n%2 == 0 && n%3 != 0:
		return "two"
	}
	return "three"
}

// writeFigure writes a picture in the size in which a phone shows it, so that its letters stay legible. The subtitle
// becomes a caption, which takes as many lines as it needs.
func writeFigure(s *strings.Builder, f *Figure, id string) {
	const width, height, square = 400, 320, 440
	small := *f
	small.Subtitle, small.Width = "", width
	switch {
	case f.IsSquare:
		small.Height = square
	case f.Height == 0:
		small.Height = height
	}
	fmt.Fprintf(s, "<figure>\n%s", small.picture().svg(id, ""))
	if f.Subtitle != "" {
		fmt.Fprintf(s, "<figcaption>%s</figcaption>\n", escape(f.Subtitle))
	}
	s.WriteString("</figure>\n")
}

func (t *Table) write(s *strings.Builder, id string) {
	if len(t.Rows) == 0 {
		return
	}
	if t.Caption != "" {
		fmt.Fprintf(s, "<h3 id=\"%s\">%s</h3>\n", id, escape(t.Caption))
	}
	fmt.Fprintf(s, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s\">\n<table class=\"n\" "+
		"aria-labelledby=\"%s\">\n<thead><tr>", id, id)
	for _, name := range t.Head {
		fmt.Fprintf(s, "<th scope=\"col\">%s</th>", escape(name))
	}
	s.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		for i, cell := range row {
			format := "<td>%s</td>"
			if i == 0 {
				format = "<tr><th scope=\"row\">%s</th>"
			}
			fmt.Fprintf(s, format, escape(cell))
		}
		s.WriteString("</tr>\n")
	}
	s.WriteString("</tbody>\n</table>\n</div>\n")
}

// Text returns the page as plain text, with the descriptions of the figures.
func (p *Page) Text() string {
	var s strings.Builder
	line := func(format string, args ...any) {
		for i, arg := range args {
			args[i] = humanize.EscapeControls(arg.(string))
		}
		fmt.Fprintf(&s, format+"\n", args...)
	}
	heading := func(text, under string) {
		line("%s\n%s", text, strings.Repeat(under, len([]rune(text))))
	}
	heading(p.Title, "=")
	line("\n%s", p.Lead)
	for _, section := range p.Sections {
		s.WriteString("\n")
		heading(section.Heading, "-")
		for _, t := range section.Text {
			line("\n%s", t)
		}
		if section.Code != "" {
			line("\n    %s", section.Code)
		}
		if len(section.Facts) > 0 {
			s.WriteString("\n")
		}
		for _, f := range section.Facts {
			line("%s: %s", f[0], f[1])
		}
		for _, t := range section.Tables {
			if len(t.Rows) > 0 {
				rows := [][]string{t.Head}
				for _, row := range t.Rows {
					rows = append(rows, slices.Clone(row))
				}
				for _, row := range rows {
					for i := range row {
						row[i] = humanize.Line(row[i])
					}
				}
				line("\n%s\n", t.Caption)
				s.WriteString(strings.Join(AlignedLines(rows), "\n") + "\n")
			}
		}
		for _, f := range section.Figures {
			line("\n%s (%s). %s", f.Title, f.Subtitle, f.Text)
		}
	}
	return s.String()
}

// AlignedLines returns the lines of a table whose cells are single lines. The first column is aligned to the left, the
// others to the right.
func AlignedLines(rows [][]string) (lines []string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		text := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			text += fmt.Sprintf("  %*s", widths[i+1], cell)
		}
		lines = append(lines, strings.TrimRight(text, " "))
	}
	return lines
}
