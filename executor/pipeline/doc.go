// Package pipeline passes tokens through stages.
//
// Each token goes through all stages in order. A serial stage takes one token at a time, in the order in which they
// entered the pipeline. A parallel stage takes any tokens that have reached it, or as many at a time as its MaxTokens
// says. A token occupies one of the pipeline's lines until its end, so the number of lines bounds the number of tokens
// in the pipeline.
//
// # Values
//
// A [Flow] is a pipeline whose stages pass typed values on. Its source is a function, with [Source], a sequence, with
// [SourceSeq] or, if it has errors, [SourceSeq2], or a channel, with [SourceChan]. [Map] adds a stage, and [Sink] the
// last one. [Each] adds the last one and runs the Flow. [Collect] runs a Flow and returns what comes out, in order. So a
// parallel map over a sequence is
//
//	words := pipeline.SourceSeq("shout", 0, strings.FieldsSeq(text))
//	loud, err := pipeline.Collect(ctx, ex, pipeline.Map(words, pipeline.Parallel, shout))
//
// where shout is a func(*Token, string) (string, error). [Values] runs a Flow while a loop ranges over what comes out:
//
//	for word, err := range pipeline.Values(ctx, ex, pipeline.Map(words, pipeline.Parallel, shout)) {
//
// What Values returns may itself be the source of a Flow, with [SourceSeq2].
//
// [New] makes a pipeline of stages that pass nothing on. The program then keeps the data of tokens, in slices that are
// indexed by line:
//
//	lines := make([]string, 8)
//	p, err := pipeline.New("lines", len(lines),
//		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
//			if !in.Scan() {
//				t.Stop() // no more tokens
//				return in.Err()
//			}
//			lines[t.Line()] = in.Text()
//			return nil
//		}},
//		pipeline.Stage{Run: func(t *pipeline.Token) error { lines[t.Line()] = shout(lines[t.Line()]); return nil }},
//		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
//			_, err := fmt.Fprintln(out, lines[t.Line()])
//			return err
//		}},
//	)
//	err = ex.Run(ctx, p)
//
// # Order
//
// Tokens enter in the order in which the source makes them, unless a token lets others go first: [Token.Defer].
//
// # Waiting
//
// No worker waits for a token. A stage of a token is an item, which becomes ready when the token has come through the
// stage before and, if the stage is serial, the token before has come through this one. A token that finds a stage full
// or is deferred is put aside. A worker waits where a function of the program does, and where a source waits for a
// channel or a sequence, as in [executor.Blocking].
//
// # Errors
//
// The first failure of a stage ends the run: it cancels the context that [Token.Context] returns, and tokens go no
// further. Functions that run are not interrupted. The failure is a [StageError], which tells the run, the pipeline,
// the stage and the token. If several stages fail at the same time, the run's error has all failures.
//
// The scheme is that of Chiu, Huang, Guo and Lin, "Pipeflow" (2022), and so is the deferral of tokens.
package pipeline
