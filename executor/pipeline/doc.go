// Package pipeline passes tokens through stages.
//
// Each token goes through all stages in order. A serial stage takes one token at a time, in the order in which they
// entered the pipeline. A parallel stage takes any tokens that have reached it. A token occupies one of the pipeline's
// lines until its end, so the number of lines bounds the number of tokens in the pipeline, and the data of tokens can
// be in a slice that is indexed by line.
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
//		pipeline.Stage{Serial: true, Run: func(t *pipeline.Token) error {
//			_, err := fmt.Fprintln(out, lines[t.Line()])
//			return err
//		}},
//	)
//	err = ex.Run(ctx, p)
//
// No worker waits for a token. A stage of a token is an item, which becomes ready when the token has come through the
// stage before and, if the stage is serial, the token before has come through this one. The scheme is that of Chiu,
// Huang, Guo and Lin, "Pipeflow" (2022).
package pipeline
