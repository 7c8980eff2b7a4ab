// The driver of OpenMP, as the compiler has it.
#include "driver.h"
#include "works.h"

#include <omp.h>

using namespace driver;

static int fork_fib(int n) {
	if (n < 2) {
		return n;
	}
	int x, y;
#pragma omp task shared(x)
	x = fork_fib(n - 1);
	y = fork_fib(n - 2);
#pragma omp taskwait
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
#pragma omp task shared(x)
	x = fork_places(b, rest);
	y = fork_queens(first);
#pragma omp taskwait
	return x + y;
}

static int fork_queens(board b) { return b.columns == b.all ? 1 : fork_places(b, b.free()); }

static int fork_fat(int depth) {
	if (depth == 0) {
		return 1;
	}
	int counts[fat_children - 1];
	for (int i = 0; i < fat_children - 1; i++) {
#pragma omp task shared(counts)
		counts[i] = fork_fat(depth - 1);
	}
	int n = 1 + fork_fat(depth - 1);
#pragma omp taskwait
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
#pragma omp task shared(x)
	x = fork_thin(depth - 1);
	y = fork_thin(depth - 1);
#pragma omp taskwait
	return 1 + x + y;
}

// from runs task i of a tree and those below.
static void from(btree &w, int i) {
	w.run(i);
	int left = 2 * i + 1, right = left + 1;
	if (left < w.tasks()) {
#pragma omp task shared(w)
		from(w, left);
	}
	if (right < w.tasks()) {
		from(w, right);
	}
}

// answer_team prints the time of f, which a team of threads calls once.
template <class F> static void answer_team(const arguments &a, int64_t want, F f) {
	answer(a, want, [&] {
		int64_t got;
#pragma omp parallel
#pragma omp single
		got = f();
		return got;
	});
}

int main(int argc, char **argv) {
	auto a = parse(argc, argv);
	omp_set_num_threads(a.workers);
	int n = a.n;
	if (a.bench == "fib") {
		answer_team(a, fib(n), [&] { return fork_fib(n); });
	} else if (a.bench == "queens") {
		answer_team(a, queens(empty_board(n)), [&] { return fork_queens(empty_board(n)); });
	} else if (a.bench == "fat") {
		answer_team(a, nodes(fat_children, n), [&] { return fork_fat(n); });
	} else if (a.bench == "thin") {
		answer_team(a, nodes(2, n), [&] { return fork_thin(n); });
	} else if (a.bench == "fan") {
		print(a, [&] {
			std::atomic<int> ran{0};
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				for (int i = 0; i < n; i++) {
#pragma omp task shared(ran)
					ran++;
				}
			});
			expect(ran, n);
			return took;
		});
	} else if (a.bench == "dag") {
		wave w(n);
		std::vector<char> cells((n + 1) * (n + 1)); // cell (i+1, j+1) stands for place (i, j), in dependences
		auto *c = cells.data();
		rerun(a, w, [&] {
#pragma omp parallel
#pragma omp single
			for (int i = 0; i < n; i++) {
				for (int j = 0; j < n; j++) {
					auto *up = c + i * (n + 1) + j + 1, *left = c + (i + 1) * (n + 1) + j, *here = left + 1;
					(void)up, (void)left, (void)here;
#pragma omp task depend(in : *up, *left) depend(out : *here) shared(w)
					w.run(i * n + j);
				}
			}
		});
	} else if (a.bench == "chain") {
		chain w(n);
		rerun(a, w, [&] {
			char last = 0;
			(void)last;
#pragma omp parallel
#pragma omp single
			for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : last) shared(w)
				w.run(i);
			}
		});
	} else if (a.bench == "btree") {
		btree w(n);
		rerun(a, w, [&] {
#pragma omp parallel
#pragma omp single
			from(w, 0);
		});
	} else if (a.bench == "run" || a.bench == "rare") {
		print(a, [&] {
			if (a.bench == "rare") {
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
			int ran = 0;
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				ran++;
			});
			expect(ran, 1);
			return took;
		});
	} else {
		fail("openmp does not do " + a.bench);
	}
}
