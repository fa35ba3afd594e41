package export

import (
	"math/rand/v2"
	"strings"
)

// wordColumns are columns of words in several scripts, with marks, emoji and the characters that join or end words.
func wordColumns() []preparedColumn {
	parts := strings.Fields("Free FREE entry don't 1,000.50 3.5.1 a_b __ x: y;z שלום ש\"ל ש' ÉCOLE e\u0301cole Straße ΣΊΣΥΦΟΣ Привет 我爱北京 北京 カタカナ_ " +
		"ひらがな กำไรดี ₪5 ½ Ⅷ 👩\u200d👩\u200d👧 👍🏽 🇩🇪🇫🇷 🇩 ا\u064eب e\u200dz \u200dq İstanbul ǅ ﬀ 한국어 नमस्ते https://a.b/c?d=e " +
		strings.Repeat("verylong", 20) + " " + strings.Repeat("长", 70))
	text := func(most int) func(rng *rand.Rand, known bool) any {
		return func(rng *rand.Rand, known bool) any {
			var b strings.Builder
			for range 1 + rng.IntN(most) {
				b.WriteString(parts[rng.IntN(len(parts))])
				if !known && rng.IntN(9) == 0 {
					b.WriteString("unseen" + string(rune('a'+rng.IntN(26))))
				}
				b.WriteString([]string{" ", " ", "", ", ", "\u00a0", "-", "'"}[rng.IntN(7)])
			}
			if rng.IntN(50) == 0 {
				b.WriteString(strings.Repeat(" yes", rng.IntN(500)))
			}
			return b.String()
		}
	}
	return []preparedColumn{
		{name: "review", missed: 0.05, value: text(20), typ: "words:bits=9"},
		{name: "pairs", value: text(12), typ: "words:2:bits=10"},
		{name: "chars", missed: 0.02, value: text(3), typ: "words:chars:bits=11"},
		{name: "all", value: text(9), typ: "words:bits=8:all"},
		{name: "x", value: func(rng *rand.Rand, _ bool) any { return number0(rng.NormFloat64()) }},
	}
}
