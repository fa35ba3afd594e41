package main

import (
	"debug/buildinfo"
	"encoding/json"
	"slices"
	"strings"

	"halfspace/cmd/internal/console"
)

// A bill is a software bill of materials in the format CycloneDX 1.5.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// billOfMaterials returns the modules that are linked into the programs, with Go's standard library.
func billOfMaterials(programs []string) ([]byte, error) {
	b := bill{Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: metadata{component{Type: "application", Name: "halfspace", Version: console.Number}}}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		version := strings.TrimPrefix(info.GoVersion, "go")
		linked := []component{{"library", "std", version, "pkg:golang/std@" + version}}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			linked = append(linked, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
		}
		for _, c := range linked {
			if !slices.Contains(b.Components, c) {
				b.Components = append(b.Components, c)
			}
		}
	}
	slices.SortFunc(b.Components, func(a, b component) int { return strings.Compare(a.PURL, b.PURL) })
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}
