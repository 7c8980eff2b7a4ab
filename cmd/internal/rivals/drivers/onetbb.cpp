// The driver of oneTBB.
#include "driver.h"
#include "sorts.h"
#include "works.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

using namespace driver;
namespace tbb = oneapi::tbb;

static int fork_fib(int n) {
	if (n < 2) {
		return n;
	}
	int x, y;
	tbb::task_group g;
	g.run([&x, n] { x = fork_fib(n - 1); });
	y = fork_fib(n - 2);
	g.wait();
	return x + y;
}

static int fork_queens(board b);

static int fork_places(board b, uint32_t free) {
	if (free == 0) {
		return 0;
	}
	auto first = b.with(free & -free);
	auto rest = free & (free - 1);
	if (rest == 0) {
		return fork_queens(first);
	}
	int x, y;
	tbb::task_group g;
	g.run([&x, b, rest] { x = fork_places(b, rest); });
	y = fork_queens(first);
	g.wait();
	return x + y;
}

static int fork_queens(board b) { return b.columns == b.all ? 1 : fork_places(b, b.free()); }

static int fork_fat(int depth) {
	if (depth == 0) {
		return 1;
	}
	int counts[fat_children - 1];
	tbb::task_group g;
	for (auto &count : counts) {
		g.run([&count, depth] { count = fork_fat(depth - 1); });
	}
	int n = 1 + fork_fat(depth - 1);
	g.wait();
	for (auto count : counts) {
		n += count;
	}
	return n;
}

static int fork_thin(int depth) {
	if (depth == 0) {
		return 1;
	}
	int x, y;
	tbb::task_group g;
	g.run([&x, depth] { x = fork_thin(depth - 1); });
	y = fork_thin(depth - 1);
	g.wait();
	return 1 + x + y;
}

template <class Work> static void flow(const arguments &a, tbb::task_arena &arena, Work w) {
	using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
	arena.execute([&] {
		tbb::flow::graph g;
		std::vector<std::unique_ptr<node>> nodes;
		for (int i = 0; i < w.tasks(); i++) {
			nodes.push_back(std::make_unique<node>(g, [&w, i](tbb::flow::continue_msg) { w.run(i); }));
			w.predecessors(i, [&](int before) { tbb::flow::make_edge(*nodes[before], *nodes[i]); });
		}
		rerun(a, w, [&] {
			nodes[0]->try_put(tbb::flow::continue_msg());
			g.wait_for_all();
		});
	});
}

int main(int argc, char **argv) {
	auto a = parse(argc, argv);
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, a.workers);
	tbb::task_arena arena(a.workers);
	int n = a.n;
	auto sort = [&](auto &s) { arena.execute([&] { tbb::parallel_sort(s.begin(), s.end()); }); };
	if (a.bench == "fib") {
		answer(a, fib(n), [&] { return arena.execute([&] { return fork_fib(n); }); });
	} else if (a.bench == "queens") {
		answer(a, queens(empty_board(n)), [&] { return arena.execute([&] { return fork_queens(empty_board(n)); }); });
	} else if (a.bench == "fat") {
		answer(a, nodes(fat_children, n), [&] { return arena.execute([&] { return fork_fat(n); }); });
	} else if (a.bench == "thin") {
		answer(a, nodes(2, n), [&] { return arena.execute([&] { return fork_thin(n); }); });
	} else if (a.bench == "fan") {
		print(a, [&] {
			std::atomic<int> ran{0};
			auto took = timed([&] {
				arena.execute([&] {
					tbb::task_group g;
					for (int i = 0; i < n; i++) {
						g.run([&] { ran++; });
					}
					g.wait();
				});
			});
			expect(ran, n);
			return took;
		});
	} else if (a.bench == "dag") {
		flow(a, arena, wave(n));
	} else if (a.bench == "chain") {
		flow(a, arena, chain(n));
	} else if (a.bench == "btree") {
		flow(a, arena, btree(n));
	} else if (a.bench == "run" || a.bench == "rare") {
		// Enqueued, so that another thread calls it: arena.execute would call it here.
		tbb::task_arena other(a.workers, 0);
		print(a, [&] {
			if (a.bench == "rare") {
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
			std::atomic<bool> done{false};
			return timed([&] {
				other.enqueue([&] { done = true; done.notify_one(); });
				done.wait(false);
			});
		});
	} else if (!sorts(a, sort)) {
		fail("onetbb does not do " + a.bench);
	}
}
