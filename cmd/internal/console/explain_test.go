package console

import "testing"

// TestQuote: words are typed so that a shell makes them of it.
func TestQuote(t *testing.T) {
	if got, want := Quote("a.csv", "my file", "it's", "x*", ""), `a.csv 'my file' 'it'\''s' 'x*' ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Quote("a\nb's\\.csv", "-5%\u0085"), `"$(printf 'a\nb\047s\\.csv')" "$(printf '\0555%%\302\205')"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
