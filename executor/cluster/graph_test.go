package cluster_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/internal/testkit"
)

// newWhole returns a graph with everything that a graph may have, and the call of its end.
func newWhole(f *functions) (*cluster.Graph, cluster.Call[string]) {
	g := cluster.NewGraph("whole <&> ünï\u2028")
	db := g.Semaphore("db", 2)
	five := cluster.Value(5)
	a := f.one.Call(g).Named("a").Keep()
	b := f.double.Call(g, five).Cost(2 * time.Millisecond).Colocate("k").Hold(db)
	c := f.add.Call(g, a, five).Retries(3).Hold(db).Size(1 << 20)
	which := f.double.Call(g, cluster.Value(0)).After(c, a)
	left, right := f.double.Call(g, b), f.double.Call(g, c).Colocate("k")
	cluster.Choose(which, left, right)
	sum := f.sum.Call(g, left, right, a).AnyOf()
	return g, f.text.Call(g, sum)
}

func TestGraphJSON(t *testing.T) {
	f := newFunctions()
	g, _ := newWhole(f)
	data, err := g.MarshalJSON()
	require.NoError(t, err)
	again, _ := newWhole(newFunctions())
	same, err := again.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(data), string(same))
	hash, err := g.Hash()
	require.NoError(t, err)

	var read cluster.Graph
	require.NoError(t, read.UnmarshalJSON(data))
	require.Equal(t, g.Len(), read.Len())
	require.Equal(t, g.Name(), read.Name())
	back, err := read.Hash()
	require.NoError(t, err)
	require.Equal(t, hash, back)

	res := mustRun(t, f.reg, &read)
	_, end := newWhole(f)
	want(t, res, end, "21") // 2·(2·5) and a
	one, err := cluster.ResultOf[int](res, f.reg, "a")
	require.NoError(t, err)
	require.Equal(t, 1, one)
}

// The JSON is kept and sent to programs of other versions.
func TestGraphJSONIsKnown(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.add.Call(g, f.one.Call(g).Named("first"), cluster.Value(5)).Cost(time.Microsecond)
	data, err := g.MarshalJSON()
	require.NoError(t, err)
	hashes := strings.NewReplacer("INT", "fbfecadf63aff0f64d32ae38cb99e2c5")
	require.Equal(t, hashes.Replace(`{"v":1,"name":"g","functions":[{"name":"one","gives":"INT"},`+
		`{"name":"add","takes":["INT","INT"],"gives":"INT"}],"values":[{"type":"INT","json":5}],`+
		`"calls":[{"f":0,"name":"first"},{"f":1,"in":[0,-1],"cost":1000}]}`), string(data))
}

// Reading a graph takes little memory beside what it keeps: each worker reads the whole graph.
func TestGraphIsReadInLittleMemory(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	before, seven := f.one.Call(g), cluster.Value(7)
	for range 100_000 {
		before = f.clamp.Call(g, before, before, seven).Cost(time.Millisecond)
	}
	data, err := g.MarshalJSON()
	require.NoError(t, err)
	testkit.Fits(t, func() (wrong string) { // other goroutines of the process may allocate meanwhile
		var begin, end runtime.MemStats
		runtime.ReadMemStats(&begin)
		require.NoError(t, new(cluster.Graph).UnmarshalJSON(data))
		runtime.ReadMemStats(&end)
		if n := (end.TotalAlloc - begin.TotalAlloc) / uint64(len(data)); n >= 6 {
			return fmt.Sprintf("to read a graph takes %d times as many bytes as it has", n)
		}
		return ""
	})
}

func TestGraphJSONIsChecked(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	sem := g.Semaphore("s", 1)
	a := f.one.Call(g).Hold(sem)
	b := f.add.Call(g, a, cluster.Value(5)).After(a).Named("b")
	c := f.text.Call(g, b)
	cluster.Choose(a, c)
	good, err := g.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, new(cluster.Graph).UnmarshalJSON(good))
	require.NoError(t, new(cluster.Graph).UnmarshalJSON([]byte(" "+strings.ReplaceAll(string(good), ",", " ,\n"))))

	change := func(old, text string) string {
		require.Contains(t, string(good), old)
		return strings.Replace(string(good), old, text, 1)
	}
	for _, bad := range []string{
		"", "null", "[]", "7", "{}", string(good) + "{}", string(good[:len(good)-1]),
		change(`"v":1`, `"v":2`), change(`"v":1`, `"v":0`), change(`"v":1`, `"v":-1`), change(`"v":1`, `"V":1`),
		change(`"v":1`, `"v":1,"v":1`), change(`"v":1`, `"v":1,"x":1`), change(`"name":"g"`, `"name":null`),
		change(`"name":"g"`, `"name":"\ud800"`), change(`"name":"g"`, "\"name\":\"\xff\""),
		change(`"name":"g"`, `"name":"`+strings.Repeat("x", 201)+`"`),
		change(`"name":"one"`, `"name":""`), change(`"name":"one"`, `"name":"add"`),
		change(`"name":"add"`, `"name":"add","all":true`), change(`"json":5`, `"json":5,"bytes":"AA=="`),
		change(`"in":[0,-1]`, `"in":[0]`), change(`"in":[0,-1]`, `"in":[0,1]`), change(`"in":[0,-1]`, `"in":[0,-2]`),
		change(`"in":[0,-1]`, `"in":[0,2]`), change(`"in":[0,-1]`, `"in":[0,-1,0]`), change(`"in":[0,-1]`, `"in":[0,0]`),
		change(`"in":[0,-1]`, `"in":[0,2147483648]`), change(`"in":[0,-1]`, `"in":[0,-2147483648]`),
		change(`{"f":2,"in":[1]}`, `{"f":2,"in":[2]}`),
		change(`"f":2`, `"f":3`), change(`"f":2`, `"f":-1`), change(`"f":0`, `"f":1`), change(`"f":0`, `"f":0.5`),
		change(`"after":[0]`, `"after":[1]`), change(`"after":[0]`, `"after":[-1]`), change(`"after":[0]`, `"after":[0,0]`),
		change(`"after":[0]`, `"after":[]`),
		change(`"choose":[2]`, `"choose":[0]`), change(`"choose":[2]`, `"choose":[3]`),
		change(`"choose":[2]`, `"choose":[2,2]`),
		change(`"hold":[0]`, `"hold":[1]`), change(`"hold":[0]`, `"hold":[-1]`), change(`"hold":[0]`, `"hold":[0,0]`),
		change(`"permits":1`, `"permits":0`), change(`"permits":1`, `"permits":9999999999`),
		change(`"f":2`, `"f":2,"cost":-1`), change(`"f":2`, `"f":2,"size":-1`),
		change(`"f":2`, `"f":2,"retries":-1`), change(`"f":2`, `"f":2,"retries":1001`),
		change(`"f":2`, `"f":2,"name":"b"`), change(`"f":2`, `"f":2,"keep":false`),
		change(`"f":2`, `"f":2,"colocate":"`+strings.Repeat("x", 201)+`"`),
		change(`"json":5`, `"json": 5 ,"bytes":""`),
		change(`"calls":[`, `"calls":[],"calls":[`),
		`{"v":1,"name":"g","functions":[{"name":"f","gives":""}],"calls":[]}`,
		`{"v":1,"name":"g","functions":[],"values":[{"type":""}],"calls":[]}`,
		`{"v":1,"name":"g","functions":null,"calls":[]}`,
		`{"v":1,"name":"g","functions":[]}`,
	} {
		var read cluster.Graph
		err := read.UnmarshalJSON([]byte(bad))
		require.ErrorContains(t, err, "not the JSON of a graph", bad)
		require.Less(t, len(err.Error()), 500)
		require.Zero(t, read.Len())
	}
	require.NoError(t, new(cluster.Graph).UnmarshalJSON([]byte(`{"v":1,"name":"","functions":[],"calls":[]}`)))
	require.ErrorContains(t, g.UnmarshalJSON(good), "not empty")
}

func TestGraphRefuses(t *testing.T) {
	f := newFunctions()
	other := cluster.NewGraph("other")
	foreign := f.one.Call(other)
	cases := map[string]func(g *cluster.Graph){
		"the input of a call is a call of another graph": func(g *cluster.Graph) { f.double.Call(g, foreign) },
		"After is a call of another graph":               func(g *cluster.Graph) { f.one.Call(g).After(foreign) },
		"After of a call that was added later": func(g *cluster.Graph) {
			a, b := f.one.Call(g), f.one.Call(g)
			a.After(b)
		},
		"Choose of a call that was added before": func(g *cluster.Graph) {
			a, b := f.one.Call(g), f.one.Call(g)
			cluster.Choose(b, a)
		},
		"Choose names a call twice": func(g *cluster.Graph) {
			a, b := f.one.Call(g), f.one.Call(g)
			cluster.Choose(a, b, b)
		},
		"a call of Choose is a call of another graph":  func(g *cluster.Graph) { cluster.Choose(f.one.Call(g), foreign) },
		"semaphore of Hold is a call of another graph": func(g *cluster.Graph) { f.one.Call(g).Hold(other.Semaphore("", 1)) },
		"has no permit":                                func(g *cluster.Graph) { g.Semaphore("", 0) },
		"a negative cost":                              func(g *cluster.Graph) { f.one.Call(g).Cost(-1) },
		"a negative size":                              func(g *cluster.Graph) { f.one.Call(g).Size(-1) },
		"a negative number of retries":                 func(g *cluster.Graph) { f.one.Call(g).Retries(-1) },
		`input 0 of a call of "double" is nil`:         func(g *cluster.Graph) { f.double.Call(g, nil) },
		"a call of a function that was not registered": func(g *cluster.Graph) { new(cluster.Func0[int]).Call(g) },
		"a call needs a graph, and got nil":            func(*cluster.Graph) { f.one.Call(nil) },
		"the zero Call belongs to no graph":            func(*cluster.Graph) { new(cluster.Call[int]).Keep() },
	}
	for text, build := range cases {
		t.Run(text, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), text) }()
			build(cluster.NewGraph("g"))
		})
	}
}

// Mistakes in data are errors of the run, and of the JSON.
func TestGraphErrors(t *testing.T) {
	f := newFunctions()
	cases := map[string]func() *cluster.Graph{
		"name of a graph": func() *cluster.Graph { return cluster.NewGraph(strings.Repeat("x", 201)) },
		"name of a call": func() *cluster.Graph {
			g := cluster.NewGraph("g")
			f.one.Call(g).Named("\xff")
			return g
		},
		"key of Colocate": func() *cluster.Graph {
			g := cluster.NewGraph("g")
			f.one.Call(g).Colocate("\xff")
			return g
		},
		"name of a semaphore": func() *cluster.Graph {
			g := cluster.NewGraph("g")
			g.Semaphore("\xff", 1)
			return g
		},
		`two calls have the name "x"`: func() *cluster.Graph {
			g := cluster.NewGraph("g")
			f.one.Call(g).Named("x")
			f.one.Call(g).Named("x")
			return g
		},
		`calls two functions of the name "one"`: func() *cluster.Graph {
			g := cluster.NewGraph("g")
			f.one.Call(g)
			other := cluster.NewRegistry()
			registerNamed[string](other, "one").Call(g)
			return g
		},
	}
	for text, build := range cases {
		g := build()
		_, err := g.MarshalJSON()
		require.ErrorContains(t, err, text)
		_, err = cluster.Run(t.Context(), newExecutor(t), f.reg, g)
		require.ErrorContains(t, err, text)
	}
}

func TestResults(t *testing.T) {
	f := newFunctions()
	build := func() (*cluster.Graph, cluster.Call[int]) {
		g := cluster.NewGraph("g")
		return g, f.one.Call(g).Named("one")
	}
	g, one := build()
	res := mustRun(t, f.reg, g)
	_, same := build()
	want(t, res, one, 1)
	want(t, res, same, 1)
	want(t, res, same, 1)

	otherGraph := cluster.NewGraph("g")
	other := f.one.Call(otherGraph)
	_, err := other.Result(res)
	require.ErrorContains(t, err, `the results are those of graph "g"`)
	_, err = new(cluster.Call[int]).Result(res)
	require.ErrorContains(t, err, "belongs to no graph")

	n, err := cluster.ResultOf[int](res, f.reg, "one")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = cluster.ResultOf[string](res, f.reg, "one")
	require.ErrorContains(t, err, "not encoded like a string")
	_, err = cluster.ResultOf[int](res, f.reg, "two")
	require.ErrorContains(t, err, `no call is named "two"`)
	_, err = cluster.ResultOf[int](res, f.reg, "")
	require.ErrorContains(t, err, `no call is named ""`)
}

func TestValueInTwoGraphs(t *testing.T) {
	f := newFunctions()
	five := cluster.Value(5)
	first, second := cluster.NewGraph("first"), cluster.NewGraph("second")
	a := f.double.Call(first, five)
	f.double.Call(second, cluster.Value(6))
	b := f.double.Call(second, five)
	c := f.add.Call(first, five, five)
	res := mustRun(t, f.reg, first)
	want(t, res, a, 10)
	want(t, res, c, 10)
	want(t, mustRun(t, f.reg, second), b, 10)
}
