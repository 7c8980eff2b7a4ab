package input

import (
	"fmt"
	"strings"
)

// Unknown returns an *Error about a name that is not among the known ones. It names the one that may have been meant.
func Unknown(what, name string, known []string) error {
	return Errorf("no %s %q: %sthere are %s", what, name, Meant(name, known), strings.Join(known, ", "))
}

// Meant returns the question whether one of the known names was meant, and a space, or "" if none is close.
func Meant(name string, known []string) string {
	if k := closest(name, known); k != "" {
		return fmt.Sprintf("did you mean %s? ", k)
	}
	return ""
}

// closest returns the known name that differs the least from name, if a third of the letters at most differ. If none is
// as close, it returns the first that begins with name, which then has three letters at least, or "".
func closest(name string, known []string) (found string) {
	least := len(name)/3 + 1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			least, found = d, k
		}
	}
	const enough = 3 // letters of a beginning
	for _, k := range known {
		if found == "" && len(name) >= enough && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) {
			found = k
		}
	}
	return found
}

// distance returns the least number of letters to insert, to leave out, to replace, or to exchange with the next one,
// that makes b of a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(t); j++ {
			replaced := last[j-1]
			if s[i-1] != t[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(t)]
}
