// The graphs that the drivers in C++ share. A work has tasks, of which the first comes before all others.
#pragma once

#include "driver.h"

#include <bit>

namespace driver {

// A wave puts every place of an n×n grid, each after those above and to the left.
class wave {
	int n;
	std::vector<uint64_t> grid, want;

public:
	explicit wave(int n) : n(n), grid(n * n) {
		for (int i = 0; i < n * n; i++) {
			run(i);
		}
		want = grid;
	}

	int tasks() const { return n * n; }

	template <class F> void predecessors(int i, F f) const {
		if (i >= n) {
			f(i - n);
		}
		if (i % n > 0) {
			f(i - 1);
		}
	}

	// run sets place i to a number that depends on those above and to the left.
	void run(int i) {
		uint64_t x = i;
		if (i >= n) {
			x += 3 * grid[i - n];
		}
		if (i % n > 0) {
			x ^= 5 * grid[i - 1];
		}
		grid[i] = x + 1;
	}

	void reset() { std::fill(grid.begin(), grid.end(), 0); }

	void check() const {
		if (grid != want) {
			fail("wrong answer: the grid differs");
		}
	}
};

// A chain has tasks, each after the one before, that count.
class chain {
	int n, count = 0;

public:
	explicit chain(int n) : n(n) {}

	int tasks() const { return n; }

	template <class F> void predecessors(int i, F f) const {
		if (i > 0) {
			f(i - 1);
		}
	}

	void run(int) { count++; }
	void reset() { count = 0; }
	void check() const { expect(count, n); }
};

// A btree has tasks in a complete binary tree, each after its parent. Each writes its level.
class btree {
	std::vector<uint32_t> levels;

public:
	explicit btree(int n) : levels(n) {}

	int tasks() const { return levels.size(); }

	template <class F> void predecessors(int i, F f) const {
		if (i > 0) {
			f((i - 1) / 2);
		}
	}

	void run(int i) { levels[i] = i == 0 ? 1 : levels[(i - 1) / 2] + 1; }
	void reset() { std::fill(levels.begin(), levels.end(), 0); }

	void check() const {
		for (int i = 0; i < tasks(); i++) {
			expect(levels[i], std::bit_width(uint32_t(i) + 1));
		}
	}
};

// rerun prints the time of run, which runs all tasks of w.
template <class Work, class F> void rerun(const arguments &a, Work &w, F run) {
	print(a, [&] {
		w.reset();
		auto took = timed(run);
		w.check();
		return took;
	});
}

} // namespace driver
