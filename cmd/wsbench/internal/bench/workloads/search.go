package workloads

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
)

// search is document 001's text search, which ends all tasks when one has found the word. The word is in the text once.
// The priorities are those of a user who knows in which tenth of the text the word is likely.
var search = &Workload{
	Name:    "search",
	About:   "search for a word in a random text of n words, in ranges; the first hit ends all; -hit says where it is",
	Size:    "words",
	Default: 1 << 22,
	Parts:   64,
	Params:  []*Param{hitParam},
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Data: 32 * float64(n)} // letters in a buffer that grows, and a string
	},
	Division: func() Division { return new(searchDivision) },
}

var hitParam = NewParam("hit", "F", "0.75", "where the word of search is: 0, the beginning of the text, to 1",
	func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return 0, errors.New("choose 0, the beginning, to 1, the end")
		}
		return f, nil
	})

// target is the word. It is longer than all others.
const target = "workstealing"

type searchDivision struct {
	words []string
	at    int
	got   atomic.Int64 // where the word was found, or -1
}

// Inputs implements Division. As in the document, the text is divided into words in advance.
func (s *searchDivision) Inputs(n int, seed uint64, v Values) {
	s.at = int(math.Round(value[float64](v, hitParam) * float64(n-1)))
	rng := splitmix64(seed)
	var text strings.Builder
	for i := range n {
		if i == s.at {
			text.WriteString(target + " ")
			continue
		}
		letters := rng.next()
		for range 3 + letters%6 {
			letters /= 26
			text.WriteByte('a' + byte(letters%26))
		}
		text.WriteByte(' ')
	}
	s.words = strings.Fields(text.String())
}

// Tasks implements Division.
func (s *searchDivision) Tasks(count int) []Part {
	parts := cut(len(s.words), count)
	tenth := func(at int) int { return 10 * at / len(s.words) }
	for i := range parts {
		p := &parts[i]
		p.Priority = -abs(tenth((p.From+p.To)/2) - tenth(s.at))
	}
	return parts
}

func abs(i int) int { return max(i, -i) }

// Work implements Division.
func (s *searchDivision) Work(p Part) (found bool) {
	for i := p.From; i < p.To; i++ {
		if s.words[i] == target {
			s.got.Store(int64(i))
			return true
		}
	}
	return false
}

// Reset implements Division.
func (s *searchDivision) Reset() { s.got.Store(-1) }

// Verify implements Division.
func (s *searchDivision) Verify() error {
	if got := s.got.Load(); got != int64(s.at) {
		return fmt.Errorf("the word was found at %d, it is at %d", got, s.at)
	}
	return nil
}
