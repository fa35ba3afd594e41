package forecast

import (
	"strings"

	"halfspace/kernel"
)

// Family returns the name of a CPU in the table, or "" if the table has no such CPU. The names are LLVM's.
func Family(c kernel.CPU) string {
	switch {
	case c.Vendor == "AMD":
		return amd(c.Family, c.Model)
	case c.Vendor == "Intel":
		return intel(c.Family, c.Model)
	case c.Vendor == "ARM":
		return arm[c.Model>>4&0xfff]
	case strings.HasPrefix(c.Brand, "Apple M1"):
		return "apple-m1"
	}
	return ""
}

// amd follows LLVM's lib/TargetParser/Host.cpp.
func amd(family, model int) string {
	switch {
	case family == 0x17 && model >= 0x30:
		return "znver2"
	case family == 0x19 && (model <= 0x0f || model >= 0x20 && model <= 0x5f):
		return "znver3"
	case family == 0x19:
		return "znver4"
	case family == 0x1a:
		return "znver5"
	}
	return ""
}

// intel has the servers with AVX-512. Cascade Lake and Cooper Lake are Skylakes here, Emerald Rapids a Sapphire Rapids.
func intel(family, model int) string {
	if family != 6 {
		return ""
	}
	switch model {
	case 0x55:
		return "skylake-avx512"
	case 0x6a, 0x6c:
		return "icelake-server"
	case 0x8f, 0xcf:
		return "sapphirerapids"
	}
	return ""
}

// arm maps the part number in the register MIDR_EL1.
var arm = map[int]string{0xd0c: "neoverse-n1", 0xd40: "neoverse-v1", 0xd4f: "neoverse-v2"}
