package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// settle repeats the trials while the figure that matters most is loose, see [Stat.IsLoose], until s.Settle has passed.
// All are repeated in turn, as before, so that they stay comparable. It returns all results.
func (s *Session) settle(ctx context.Context, what string, trials []trial[Result], results []Result) ([]Result, error) {
	begin := time.Now()
	for rep := s.Reps + 1; isAnyLoose(results); rep++ {
		left := s.Settle - time.Since(begin)
		if left <= 0 {
			break
		}
		s.step(fmt.Sprintf("%s varies by more than %.0f %%: repetition %d", what, 100*looseAbove, rep), left)
		for _, t := range trials {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r, err := t.repeat(ctx, rep)
			if err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// isAnyLoose reports whether the figure that matters most is loose in some setting.
func isAnyLoose(results []Result) bool {
	var rows []Row
	for _, r := range results {
		rows = append(rows, r.Row())
	}
	return slices.ContainsFunc(GroupBy(rows, nil), func(g *Group) bool { return g.Stat(g.first()).IsLoose() })
}
