package plan

import (
	"strings"
	"testing"
)

// TestTextDates: texts tell the order of day, month and year, and notes tell what other dates they could be.
func TestTextDates(t *testing.T) {
	short := "years of two digits are 1969 to 2068"
	for _, c := range []struct{ texts, layout, notes string }{
		{"2014-06-16|2014-07-01 12:00", "", ""},
		{"6/16/2014|1/2/2014", "1/2/2006", ""}, {"16/6/2014|1/2/2014", "2/1/2006", ""},
		{"02/11/2011|03/02/2011", "1/2/2006", `"02/11/2011" is read as 2011-02-11; it could be 2011-11-02`},
		{"1/1/2011|02/11/2011", "1/2/2006", `"02/11/2011" is read as 2011-02-11; it could be 2011-11-02`},
		{"1/1/2011|02/02/2011", "1/2/2006", ""},
		{"02-11-2011|03-02-2011", "2-1-2006", `"02-11-2011" is read as 2011-11-02; it could be 2011-02-11`},
		{"02.11.2011|03.02.2011", "2.1.2006", ""},
		{"6/16/14|1/2/99", "1/2/06", short}, {"16/6/14|1/2/99", "2/1/06", short},
		{"14/6/16|99/12/31", "06/1/2", short},
		{"10/11/12|10/11/12 9:00", "1/2/06", `"10/11/12" is read as 2012-10-11; it could be 2012-11-10; it could be 2010-11-12|` + short},
		{"16.06.14|01.02.99", "02.01.06", short}, {"02-11-11|03-02-11", "02-01-06", `"02-11-11" is read as 2011-11-02; it could be 2011-02-11; it could be 2002-11-11|` + short},
		{"01-Jan-15|31-Dec-69", "2-Jan-06", short}, {"01-Jan-2015|31-Dec-1969", "2-Jan-2006", ""},
		{"Mon, 16 Jun 2014 12:00:00 EST|Mon, 16 Jun 2014 12:00:00 -0700", "Mon, 2 Jan 2006 15:04:05 MST", ""},
	} {
		texts := strings.Split(c.texts, "|")
		col := textColumn(20, texts...)
		if got := treatmentOf(col); got != &textDates {
			t.Errorf("%q are no dates", texts)
			continue
		}
		inputs := textDates.inputs(col)
		if got := inputs[0].Layout; got != c.layout {
			t.Errorf("%q: the layout is %q, want %q", texts, got, c.layout)
		}
		if got := strings.Join(textDates.notes(col), "|"); got != c.notes {
			t.Errorf("%q: notes %q, want %q", texts, got, c.notes)
		}
	}
	for _, texts := range []string{"Mon, 16 Jun 2014 12:00:00 CET|x", "1.2.10|1.3.11", "10-5-03|11-5-00", "31/31/14|1/1/14"} {
		if got := treatmentOf(textColumn(20, strings.Split(texts, "|")...)); got == &textDates {
			t.Errorf("%q are dates", texts)
		}
	}
}
