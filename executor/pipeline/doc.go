// Package pipeline passes tokens through stages.
//
// Each token goes through all stages in their order. A serial stage takes one token at a time, in the order in which they
// entered the pipeline; a parallel stage takes any that have come there. At most as many tokens as the pipeline has lines
// are on their way at once: a token keeps its line to the end, so data for a token can lie in a slice by line.
//
//	lines := make([]string, 8)
//	p, err := pipeline.New("lines", len(lines),
//		pipeline.Stage{Serial: true, Run: func(t *pipeline.Token) error {
//			if !in.Scan() {
//				t.Stop() // no more tokens
//				return in.Err()
//			}
//			lines[t.Line()] = in.Text()
//			return nil
//		}},
//		pipeline.Stage{Run: func(t *pipeline.Token) error { lines[t.Line()] = shout(lines[t.Line()]); return nil }},
//		pipeline.Stage{Serial: true, Run: func(t *pipeline.Token) error { _, err := fmt.Fprintln(out, lines[t.Line()]); return err }},
//	)
//	err = ex.Run(ctx, p)
//
// No worker waits for a token: a stage is an item that becomes ready when the token and, if it is serial, the one before it
// have come that far. The scheme is that of Chiu, Huang, Guo and Lin, "Pipeflow" (2022).
package pipeline
