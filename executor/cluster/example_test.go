package cluster_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// Words are counted in some texts, each by a call of its own. The graph runs on an executor of this process; workers of
// a queue with the same functions would give the same results.
func Example() {
	reg := cluster.NewRegistry()
	count := cluster.Register(reg, "count", func(_ context.Context, text string) (int, error) {
		return len(strings.Fields(text)), nil
	})
	sum := cluster.RegisterAll(reg, "sum", func(_ context.Context, counts []int) (sum int, err error) {
		for _, n := range counts {
			sum += n
		}
		return sum, nil
	})

	g := cluster.NewGraph("words")
	var counts []cluster.Arg[int]
	for _, text := range []string{"to be or not to be", "that is the question"} {
		counts = append(counts, count.Call(g, cluster.Value(text)).Cost(2*time.Millisecond))
	}
	total := sum.Call(g, counts...)

	res, err := cluster.Run(context.Background(), nil, reg, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := total.Result(res)
	fmt.Println(n, err)
	// Output: 10 <nil>
}

// A check decides whether a document is translated. What comes after either way takes the one result that there is.
func ExampleChoose() {
	reg := cluster.NewRegistry()
	isForeign := cluster.Register(reg, "isForeign", func(_ context.Context, text string) (int, error) {
		if strings.HasPrefix(text, "Guten") {
			return 0, nil
		}
		return 1, nil
	})
	translate := cluster.Register(reg, "translate", func(_ context.Context, text string) (string, error) {
		return "Good morning", nil
	})
	tidy := cluster.Register(reg, "tidy", func(_ context.Context, text string) (string, error) {
		return strings.TrimSpace(text), nil
	})
	publish := cluster.Register2(reg, "publish", func(_ context.Context, a, b string) (string, error) {
		return a + b + "!", nil // one of them did not run, and is ""
	})

	for _, text := range []string{"Guten Morgen", " Hello "} {
		g := cluster.NewGraph("document")
		document := cluster.Value(text)
		which := isForeign.Call(g, document)
		translated, tidied := translate.Call(g, document), tidy.Call(g, document)
		cluster.Choose(which, translated, tidied) // 0: translated; 1: tidied
		published := publish.Call(g, translated, tidied).AnyOf()

		res, err := cluster.Run(context.Background(), nil, reg, g)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(published.Result(res))
	}
	// Output:
	// Good morning! <nil>
	// Hello! <nil>
}

// How many calls there are is known only when the graph runs: the sum of a long list is that of its halves.
func ExampleRegisterSub() {
	reg := cluster.NewRegistry()
	add := cluster.Register2(reg, "add", func(_ context.Context, a, b int) (int, error) { return a + b, nil })
	var sum cluster.Func[[]int, int]
	sum = cluster.RegisterSub(reg, "sum",
		func(_ context.Context, sub *cluster.Graph, list []int) (cluster.Arg[int], error) {
			if len(list) <= 2 {
				n := 0
				for _, v := range list {
					n += v
				}
				return cluster.Value(n), nil
			}
			half := len(list) / 2
			left, right := sum.Call(sub, cluster.Value(list[:half])), sum.Call(sub, cluster.Value(list[half:]))
			return add.Call(sub, left, right), nil
		})

	g := cluster.NewGraph("sum")
	total := sum.Call(g, cluster.Value([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}))
	res, err := cluster.Run(context.Background(), nil, reg, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total.Result(res))
	// Output: 55 <nil>
}

// Gob is a codec of package encoding/gob.
type Gob struct{}

func (Gob) Name() string { return "gob" }

func (Gob) Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(v)
	return out.Bytes(), err
}

func (Gob) Decode(data []byte, into any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(into)
}

// Large tables of numbers are smaller as gob writes them. All programs that register functions with them say so.
func ExampleUseCodec() {
	type table struct{ Rows [][]float64 }
	reg := cluster.NewRegistry()
	cluster.UseCodec[table](reg, Gob{})
	rows := cluster.Register(reg, "rows", func(_ context.Context, t table) (int, error) { return len(t.Rows), nil })

	g := cluster.NewGraph("table")
	n := rows.Call(g, cluster.Value(table{Rows: [][]float64{{1, 2}, {3, 4}}}))
	res, err := cluster.Run(context.Background(), nil, reg, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.Result(res))
	// Output: 2 <nil>
}

// A payment must not be made twice, though the function may be called twice: the bank is told the key of the call, and
// ignores one that it has seen.
func ExampleKey() {
	paid := map[string]int{}
	tries := 0
	reg := cluster.NewRegistry()
	pay := cluster.Register(reg, "pay", func(ctx context.Context, amount int) (int, error) {
		paid[cluster.Key(ctx)] = amount // as the bank does
		if tries++; tries == 1 {
			return 0, errors.New("the answer of the bank was lost")
		}
		return amount, nil
	})

	g := cluster.NewGraph("payments")
	receipt := pay.Call(g, cluster.Value(70)).Retries(3)
	res, err := cluster.Run(context.Background(), nil, reg, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := receipt.Result(res)
	fmt.Println(n, err, "after", tries, "tries; payments:", len(paid))
	// Output: 70 <nil> after 2 tries; payments: 1
}

// A graph is kept as JSON, and runs in another program, which has functions of the same names and types.
func ExampleGraph_MarshalJSON() {
	reg := cluster.NewRegistry()
	double := cluster.Register(reg, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	g := cluster.NewGraph("kept")
	double.Call(g, double.Call(g, cluster.Value(5))).Named("result")
	data, err := g.MarshalJSON()
	if err != nil {
		fmt.Println(err)
		return
	}

	var read cluster.Graph
	if err := read.UnmarshalJSON(data); err != nil {
		fmt.Println(err)
		return
	}
	res, err := cluster.Run(context.Background(), nil, reg, &read)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cluster.ResultOf[int](res, reg, "result"))
	// Output: 20 <nil>
}

// A test of functions: they give the same results when their inputs come from other machines. This one does not, since
// JSON loses the field that is not exported.
func ExampleRehearse() {
	type point struct {
		X int
		y int
	}
	reg := cluster.NewRegistry()
	origin := cluster.Register0(reg, "origin", func(context.Context) (point, error) { return point{3, 4}, nil })
	norm := cluster.Register(reg, "norm", func(_ context.Context, p point) (int, error) { return p.X*p.X + p.y*p.y, nil })

	g := cluster.NewGraph("points")
	n := norm.Call(g, origin.Call(g))
	for _, run := range []func() (*cluster.Results, error){
		func() (*cluster.Results, error) { return cluster.Run(context.Background(), nil, reg, g) },
		func() (*cluster.Results, error) { return cluster.Rehearse(context.Background(), nil, reg, g) },
	} {
		res, err := run()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n.Result(res))
	}
	// Output:
	// 25 <nil>
	// 9 <nil>
}
